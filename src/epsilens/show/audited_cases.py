"""The catalogue of audits as it is shown: each broken case beside its correct twin."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..numerics.formatting import floor_digits, thousands
from .audit import event
from .document import Document, Lead, Notes, Paragraph, Section, Status, Tone, plain_table, said

if TYPE_CHECKING:
    from ..auditing.case_catalogue import CaseResult, CaseResults


def sentence(found: CaseResults) -> str:
    """How many broken cases were found, how many correct ones raised an alarm, how many could not be run."""
    run = found.run
    broken, correct = [e for e in run if e.case.broken], [e for e in run if not e.case.broken]
    caught, alarms = sum(e.as_known for e in broken), sum(not e.as_known for e in correct)
    told = f"Broken cases found out: {caught} of {len(broken)}; correct ones that raised an alarm: {alarms} of "
    missing = len(found.found) - len(run)
    return f"{told}{len(correct)}" + (f"; not run here: {missing}." if missing else ".")


def present(found: CaseResults) -> Document:
    """A table of broken cases with their twins, the events, and what could not be run."""
    status = "As known: every broken case is found, no correct one" if found.as_known else "Not as known"
    opening = (Lead((said(sentence(found)),)), Status(status, over=not found.as_known))
    sections: list[Section] = []
    broken = [e for e in found.run if e.case.broken]
    if broken:
        head = ["Case and its claim", "ε at least", "Refuted after"]
        rows = [_row(each) for each in broken]
        sections.append(Section("Cases that break their claim", (plain_table(head, rows, wraps=True),)))
        each_one = tuple(Paragraph(said(_told(found, each)), Tone.NOTE) for each in broken)
        sections.append(Section("What gives them away", each_one))
    correct = [e for e in found.run if not e.case.broken]
    if correct:
        head = ["Case and its claim", "ε at least", "Runs", "Verdict"]
        sections.append(Section("Correct cases", (plain_table(head, [_correct(e) for e in correct], wraps=True),)))
    skipped = [e for e in found.found if e.audit is None]
    if skipped:
        sections.append(Section("Not run here", (Notes(_skipped(skipped)),)))
    note = "A bound from below is no guarantee, and a verdict is on these versions and these pairs of inputs alone."
    sections.append(Section("To know", (Notes((_confidence(found), note) if found.run else (note,)),)))
    return Document("Audited cases", "Known cases", opening, tuple(sections))


def _confidence(found: CaseResults) -> str:
    first = found.run[0].audit
    assert first is not None
    return (
        f"Each verdict and each bound holds with confidence {100 * first.confidence:.5g}%. A verdict is reached by "
        "betting, which may stop at any time; ε of a broken case is bounded on fresh runs, where these were asked."
    )


def _of(each: CaseResult) -> str:
    return f"{each.case.library.name} {each.version}".strip()


def _case(each: CaseResult) -> str:
    return f"{each.case.name} ({_of(each)}): {each.case.claimed}"


def _bound(each: CaseResult) -> str:
    return "–" if each.epsilon_lo is None else floor_digits(each.epsilon_lo)


def _row(each: CaseResult) -> list[str]:
    after = f"{thousands(each.refuted_after)} runs" if each.refuted_after is not None else "not refuted"
    return [_case(each), _bound(each), after]


def _correct(each: CaseResult) -> list[str]:
    assert each.audit is not None
    return [_case(each), _bound(each), thousands(each.audit.runs), str(each.audit.verdict)]


def _told(found: CaseResults, each: CaseResult) -> str:
    shown = each.bound or each.audit
    assert shown is not None
    case = each.case
    inputs = f"the first input is {case.pair[0]}, the second {case.pair[1]}"
    twin = found.twin_of(each)
    beside = "" if twin is None or twin.audit is None else f" Its twin {twin.case.name}: {twin.audit.verdict}."
    if shown.event is None:
        return f"{case.name}: {case.about} No event was learnt; {inputs}.{beside}"
    return f"{case.name}: {case.about} The attacker names {event(shown.event)}; {inputs}.{beside}"


def _skipped(skipped: list[CaseResult]) -> tuple[str, ...]:
    ways = dict.fromkeys(each.why for each in skipped)
    return tuple(f"{', '.join(e.case.name for e in skipped if e.why == why)}: {why}." for why in ways)
