"""``python -m epsilens.cli.demo FOLDER``: the main job on bundled data, from a planned release to a report to open."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

from ..assessment.assessment import Assessment, assess
from ..errors import EpsilensError
from ..show.assessment.tables import risk_table
from ..show.assessment.words import headline, sentence
from ..show.render.text import table_lines

__all__ = ["main", "run"]

RELEASE = """\
title: Mental-health visits by site
data:
  table: epsilens:rand-hie        # bundled; or CSV, Parquet, any Ibis URL
  person: person                  # a person's rows; omit if one row is one person
  max_rows: 5
  quasi_identifiers: [site, age, female, black, education]
  secret:                         # what the attacker wants to learn
    name: a mental-health visit   # what a sentence calls it
    where: mental_visits > 0
    columns: [mental_cost]        # other columns that give it away
queries:
  - name: Count of people with a visit
    count: mental_visits > 0
    by: site
    groups: [1, 2, 3, 4, 5, 6]    # published whether anyone is in them or not; or threshold: auto
  - sum: visits
    bounds: [0, 77]
  - average: income
    bounds: [0, 30000]
mechanism: {noise: laplace, epsilon: 1.0}     # or gaussian with delta; per-query epsilon allowed
adversary:
  prior: 0.5
  belief: 0.07                    # how likely they think the secret is beforehand
  knows: one answer               # nothing | one answer
limits:                           # any reading, and error
  success: 0.55
  posterior: 0.12
  attack_success: 0.02
  error: 0.15
"""


def run(folder: Path) -> Assessment:
    """Write the release, assess it, and write the report and its numbers beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    release = folder / "release.yaml"
    release.write_text(RELEASE, encoding="utf-8")
    found = assess(release)
    found = replace(found, command="epsilens assess release.yaml")
    (folder / "report.html").write_text(found.to_html(), encoding="utf-8")
    text = json.dumps(found.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)
    (folder / "assessment.json").write_text(text + "\n", encoding="utf-8")
    return found


def main(arguments: list[str] | None = None) -> int:
    """The demo; 2 where the folder cannot be written."""
    given = sys.argv[1:] if arguments is None else arguments
    folder = Path(given[0] if given else "demo")
    try:
        found = run(folder)
    except (OSError, EpsilensError) as error:
        sys.stderr.write(f"epsilens: the demo in {str(folder)!r} failed: {error}\n")
        return 2
    report = (folder / "report.html").resolve()
    lines = [
        headline(found),
        "",
        sentence(found),
        "",
        *_table(found),
        "",
        f"report   {report.as_uri()}",
        f"numbers  {folder / 'assessment.json'}",
        f"release  {folder / 'release.yaml'}    .venv/bin/epsilens assess {folder / 'release.yaml'}",
        "page     .venv/bin/epsilens serve",
    ]
    sys.stdout.write("\n".join(lines) + "\n")
    return 0


def _table(found: Assessment) -> list[str]:
    return table_lines(risk_table(found), 80)


if __name__ == "__main__":
    sys.exit(main())
