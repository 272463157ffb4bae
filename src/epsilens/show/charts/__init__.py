"""Charts: one definition each (a plain Vega-Lite dict), one renderer (SVG), and an object to take along.

``curves`` (ROC, precision–recall, trade-off), ``several`` (every curve of one experiment or more, sweeps, choices),
``assessment`` (a planned release, with its ``panel``), ``findings`` (one chart a result) and ``lines`` (any named
lines) define charts out of ``marks`` and ``scales``; ``placement`` finds where labels go; ``svg`` draws in a palette's
colours, ``axes`` with matplotlib; ``chart`` is what a reader gets, ``drawn`` by its name. ``icons`` draws people.
"""

from .chart import Chart, Charts
from .curves import cases_roc, compared_roc, marked

__all__ = ["Chart", "Charts", "cases_roc", "compared_roc", "marked"]
