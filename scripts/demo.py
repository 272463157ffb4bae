"""``python -m scripts.demo FOLDER``: the main job on bundled data, from a planned release to a report to open.

It goes on to publish: the plan as the report advises it, released into a ledger. Run again, it gives the same answers
and spends nothing.
"""

from __future__ import annotations

import json
import sys
import textwrap
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from epsilens.assessment.assess import Assessment, assess
from epsilens.cli.console import emit
from epsilens.errors import EpsilensError, LimitError, MissingExtra
from epsilens.show.assessment.phrases import headline, sentence
from epsilens.show.assessment.tables import risk_table
from epsilens.show.document import Document, plain_table
from epsilens.show.render.text import to_text

if TYPE_CHECKING:
    from epsilens.publish.answers import Published


#: The account of the release, and how often an adversary may guess right after all that is ever released about them.
PEOPLE = "participants"
SUCCESS = 0.65
_WIDTH = 80

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


def recommended_plan(epsilon: float) -> str:
    """The plan as it is published: at the ε that is advised, and by no site, as that leaves the count too rough."""
    changes = {
        "title: Mental-health visits by site": "title: Mental-health visits",
        "    by: site\n": "",
        "    groups: [1, 2, 3, 4, 5, 6]    # published whether anyone is in them or not; or threshold: auto\n": "",
        "  - sum: visits": "  - name: Visits to a physician\n    sum: visits",
        "  - average: income": "  - name: Average family income in dollars\n    average: income",
        "epsilon: 1.0": f"epsilon: {epsilon:g}",
    }
    text = RELEASE
    for before, after in changes.items():
        text = text.replace(before, after)
    return text


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
    if found.certificate is not None:
        found.certificate.save(folder / "certificate.json")
    return found


def publish(folder: Path, epsilon: float) -> Published:
    """Write the plan that is advised, and release it into the ledger beside it."""
    from epsilens.ledger.ledger import Ledger
    from epsilens.publish.release import release

    plan = folder / "publish.yaml"
    plan.write_text(recommended_plan(epsilon), encoding="utf-8")
    ledger = Ledger(folder / "ledger.db")
    if ledger.account(PEOPLE).limits is None:
        ledger.limit(PEOPLE, success=SUCCESS)
    return release(plan, output=folder / "answers.csv", ledger=ledger, account=PEOPLE)


def main(arguments: list[str] | None = None) -> int:
    """The demo; 2 where the folder cannot be written."""
    given = sys.argv[1:] if arguments is None else arguments
    folder = Path(given[0] if given else "demo")
    try:
        found = run(folder)
        lines = [headline(found), "", sentence(found), "", to_text(Document("", "", (risk_table(found),)), _WIDTH), ""]
        emit("\n".join(lines) + "\n", None)
        sys.stdout.flush()
        told = _release_lines(folder, found)
    except (OSError, ValueError, EpsilensError) as error:
        why = getattr(error, "strerror", None) or error
        sys.stderr.write(f"epsilens: the demo in {ascii(str(folder))[:80]} failed: {why}\n")
        return 2
    lines = [
        *told,
        "",
        f"report   {(folder / 'report.html').resolve().as_uri()}",
        f"numbers  {folder / 'assessment.json'}",
        f"release  {folder / 'release.yaml'}    .venv/bin/epsilens assess {folder / 'release.yaml'}",
        f"proof    {folder / 'certificate.json'}    pip install ./checker; python -m epsilens_checker FILE",
        f"page     .venv/bin/epsilens serve --ledger {folder / 'ledger.db'}",
    ]
    emit("\n".join(lines) + "\n", None)
    return 0


def _release_lines(folder: Path, found: Assessment) -> list[str]:
    """What was released, what it promises, and where it is; or why nothing was."""
    try:
        made = publish(folder, found.recommended or 0.1)
    except (MissingExtra, LimitError) as error:
        return _wrap(f"Nothing is released: {error}.")
    rows = [[a.name, *(f"{number:,.12g}" for number in (a.answer, a.low, a.high))] for a in made.answers]
    spent = (
        "These answers were published by a run before this one: nothing was spent now."
        if made.kind == "saved"
        else f"ε = {made.spent['epsilon']:g} is spent. Running this again gives the same answers and spends nothing."
    )
    return [
        *_wrap(f"Released at ε = {made.plan.epsilon:g}, for all sites together: by site this noise is too much."),
        *_wrap(made.guarantee),
        "",
        to_text(Document("", "", (plain_table(["95 times of 100 within", "Answer", "from", "to"], rows),)), _WIDTH),
        "",
        *_wrap(spent),
        "",
        f"answers  {folder / 'answers.csv'}    of the plan {folder / 'publish.yaml'}",
        f"ledger   {folder / 'ledger.db'}    .venv/bin/epsilens ledger show --ledger {folder / 'ledger.db'}",
    ]


def _wrap(text: str) -> list[str]:
    return textwrap.wrap(text, _WIDTH)


if __name__ == "__main__":
    sys.exit(main())
