"""Charts: one definition each (a plain Vega-Lite dict), one renderer (SVG), and an object to take along.

``curves`` (ROC, precision–recall, trade-off), ``assessment`` and ``strips`` (a planned release), ``certainty``,
``known`` and ``tampering`` define charts out of ``marks``; ``placement`` finds where labels go by the widths in
``letters``; ``svg`` draws with the colours of a ``palette``; ``chart`` is what a reader gets. ``icons`` draws people.
"""

from .chart import Chart
from .curves import compared_roc, precision_recall, roc, tradeoff

__all__ = ["Chart", "compared_roc", "precision_recall", "roc", "tradeoff"]
