"""Run by a Python without extras: every name, result, form and chart that needs none; prints what was asked for."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.specimens import EXPERIMENTS, RESULTS

import epsilens as el

CHARTS = ["roc", "tradeoff", "precision_recall", "profile", "success", "posterior", "renyi"]
LONG = ("audit", "above", "choice among records")
FORMS = ("to_text", "to_html")


def main() -> None:
    """Whatever asks for an extra, with the extra, a line each."""
    asked = {}
    for space, name in ((part, name) for part in (el, el.mechanisms, el.attacks) for name in part.__all__):
        try:
            getattr(space, name)
        except el.MissingExtra as error:
            asked[name] = error.extra
    for name, make in RESULTS.items():
        if name in LONG:
            continue
        try:
            made = make()
        except el.MissingExtra as error:
            asked[name] = error.extra
            continue
        for form in FORMS:
            if hasattr(made, form):
                getattr(made, form)()
    for name in ("laplace", "composed"):
        for chart in CHARTS:
            EXPERIMENTS[name]().chart(chart).svg()
    EXPERIMENTS["claim"]().chart("roc").svg()
    one = EXPERIMENTS["laplace"]()
    RESULTS["choice"]().chart().svg()
    RESULTS["sweep"]().chart("success").svg()
    for name in ("never.png", "never.pdf"):
        try:
            one.chart("roc", against=[EXPERIMENTS["gaussian"]()]).save(name)
        except el.MissingExtra as error:
            asked[name[-3:]] = error.extra
    print("\n".join(f"{name}: {extra}" for name, extra in sorted(asked.items())))


if __name__ == "__main__":
    main()
