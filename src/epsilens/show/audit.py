"""An audit as it is shown: the verdict, the bounds beside the claim, and the event that proves it.

A bound from runs is from below: it can refute a claim and never becomes a guarantee.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from ..auditing.result import AuditVerdict, Finding, FindingKind, StopReason
from ..numerics.formatting import ceil_digits, floor_digits, thousands
from ..results import join_words
from .charts.findings import band_chart
from .document import Document, Figure, Forms, Lead, Notes, Paragraph, Section, Status, Tone, plain_table, said
from .sentences import beside, small

if TYPE_CHECKING:
    from ..auditing.case_catalogue import CaseResult, CaseResults
    from ..auditing.result import AttackEvent, Audit, Audits, PairAudit


_STATUS = {
    AuditVerdict.VIOLATION: "VIOLATION: the runs refute the claim",
    AuditVerdict.CONSISTENT: "CONSISTENT: the runs do not refute the claim, which proves nothing for it",
    AuditVerdict.INCONCLUSIVE: "INCONCLUSIVE: the runs say nothing about the claim",
}


def sentence(found: Audit) -> str:
    """The verdict with its bound, beside the claim's own."""
    runs = _how_many(found)
    at = "" if found.delta == 0 else f" at δ = {small(found.delta)}"
    own = found.claimed["epsilon"]
    shown = beside(found.epsilon_lo, own)
    bound = f"ε is at least {shown[0]}{at}"
    claimed = "no finite ε is claimed" if math.isinf(own) else f"{shown[1]} is claimed"
    level = f"{100 * found.confidence:.6g}%"
    match found.verdict:
        case AuditVerdict.VIOLATION:
            return f"The claim is broken: {breaking(found)} ({level} confidence, {runs})."
        case AuditVerdict.CONSISTENT:
            return f"No violation was found in {runs}: {bound} at {level} confidence, {claimed}."
    return f"Nothing can be said of the claim from {runs}, {why_not(found)}: {bound}, {claimed}."


def breaking(found: Audit) -> str:
    """The reading whose bound is above what is claimed: ε at the claim's δ, μ, a guess, δ at some ε, or ε at some δ.

    A claim of a whole curve can be broken where ε at one δ is far from it.
    """
    at = "" if found.delta == 0 else f" at δ = {small(found.delta)}"
    readings = [
        ("ε is at least {}" + at, found.epsilon_lo, "epsilon", 1.0),
        ("μ is at least {}", found.mu_lo, "mu", 1.0),
        ("at least {} of 100 guesses are right", found.success_lo, "success", 100.0),
    ]
    for words, low, key, times in readings:
        own = found.claimed.get(key, math.inf)
        if low is not None and low > own:
            bound, claimed = beside(times * low, times * own)
            return f"{words.format(bound)}, {claimed} is claimed"
    eps, own, low = max(found.band, key=lambda row: row[2] - row[1], default=(0.0, 0.0, 0.0))
    if low > own:
        bound, claimed = beside(low, own)
        return f"δ at ε = {eps:.4g} is at least {bound}, {claimed} is claimed"
    return f"at some δ ε is above what is claimed, by at least {floor_digits(found.excess_lo, 2)}"


def why_not(found: Audit) -> str:
    """Why runs say nothing of the claim."""
    if found.stopped is StopReason.INTERRUPTED:
        return "which were interrupted"
    if found.stopped is StopReason.SILENT:
        return "since too often there was no answer in time"
    if found.has(FindingKind.SAME):
        return "which all gave the same answer"
    return "which could not have refuted it"


def _how_many(found: Audit) -> str:
    if found.canaries:
        return f"one run with {thousands(found.guesses_a_call)} canaries"
    return f"{thousands(found.runs)} run{'s' if found.runs != 1 else ''}"


def event(seen: AttackEvent) -> str:
    """When the attacker names which world, in words."""
    cell = f" of {seen.cells[0]}" if seen.cells and seen.cells[0] else ""
    match seen.looks:
        case "value":
            return _tails(f"the answer{cell}", seen)
        case "distance":
            return _tails(f"the distance of the answer{cell} from its middle", seen)
        case "grain":
            return _grain(f"the answer{cell}", seen)
        case "missing":
            return _named(
                f"the answer{cell} is no number (missing, NaN or a failure)", f"the answer{cell} is a number", seen
            )
        case "entries":
            return _tails("the number of cells", seen)
        case "difference" | "ratio":
            between = join_words([name or "the answer" for name in seen.cells])
            return _tails(f"the {seen.looks} of {between}", seen)
        case "kind" | "text" | "atom":
            return _words(seen, cell)
        case "score":
            return f"in the canaries that score at least {seen.high:.6g}, out those that score at most {seen.low:.6g}"
        case "likelihood":
            return _nearer(seen)
    return _tails("a weighted sum of the cells, learnt from earlier runs", seen)


def _world(which: int) -> str:
    return "the second input" if which else "the first input"


def _tails(what: str, seen: AttackEvent) -> str:
    parts = []
    if seen.above is not None:
        parts.append(f"{_world(seen.above)} where {what} is at least {seen.high:.6g}")
    if seen.below is not None:
        parts.append(f"{_world(seen.below)} where {what} is at most {seen.low:.6g}")
    return join_words(parts)


def _nearer(seen: AttackEvent) -> str:
    """Tails of by how much the cells lie nearer to the second input's usual answers than to the first's."""
    parts = []
    for world, cut, way in ((seen.above, seen.high, 1), (seen.below, seen.low, 0)):
        if world is None:
            continue
        if (cut > 0) if way else (cut < 0):
            told = f"the cells lie nearer to {_world(way)}'s usual answers, by {abs(cut):.6g} or more"
        else:
            told = f"the cells lie nearer to {_world(1 - way)}'s usual answers by {abs(cut):.6g} at most"
        parts.append(f"{_world(world)} where {told}")
    return join_words(parts)


def _power(k: float) -> str:
    digits = str(int(k)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"2{digits}"


def _grain(what: str, seen: AttackEvent) -> str:
    parts = []
    if seen.below is not None:
        parts.append(f"{_world(seen.below)} where {what} is not a multiple of {_power(seen.low + 1)}")
    if seen.above is not None:
        exact = f"{what} is 0" if seen.high >= 2000 else f"{what} is a multiple of {_power(seen.high)}"
        parts.append(f"{_world(seen.above)} where {exact}")
    return join_words(parts)


def _named(high: str, low: str, seen: AttackEvent) -> str:
    parts = [] if seen.above is None else [f"{_world(seen.above)} where {high}"]
    parts += [] if seen.below is None else [f"{_world(seen.below)} where {low}"]
    return join_words(parts)


def _words(seen: AttackEvent, cell: str) -> str:
    what = {"kind": "the outcome is", "text": f"the text{cell} is", "atom": f"the answer{cell} is"}[seen.looks]
    parts = [f"{_world(which)} where {what} {' or '.join(words)}" for which, words in enumerate(seen.words) if words]
    return join_words(parts) or "no outcome"


def present(found: Audit) -> Document:
    """The verdict, the bounds, the event, what to know."""
    opening = (Lead((said(sentence(found)),)), Status(_STATUS[found.verdict], over=found.refuted))
    sections = [Section("Bounds from below", (plain_table(["", "At least", "Claimed"], _bounds(found)),))]
    if found.band:
        legend = "Thick line: what the runs show δ to be at least, at all ε at once. Thin line: what is claimed."
        if found.refuted and not any(low > delta for _, delta, low in found.band):
            legend += (
                " The event below refutes the claim. The thick line holds at all ε at once, which asks for more runs, "
                "so that it may still lie below what is claimed."
            )
        blocks = (Figure(partial(band_chart, found)), Paragraph(said(legend), Tone.NOTE, Forms.PAGE))
        sections.append(Section("Claimed and found", blocks, forms=Forms.PAGE))
    if found.event is not None:
        sections.append(Section("The event", (Notes(_event(found)),)))
    sections.append(Section("The runs", (Notes(_runs(found)),)))
    return Document("Audit", "An audit", opening, tuple(sections))


def _bounds(found: Audit) -> list[list[str]]:
    names = [
        (f"ε at δ = {small(found.delta)}", found.epsilon_lo, "epsilon", 1.0),
        ("μ (GDP)", found.mu_lo, "mu", 1.0),
        ("Right guesses of 100", found.success_lo, "success", 100.0),
        ("Advantage", found.advantage_lo, "advantage", 1.0),
    ]
    shown = [(name, low * times, key, times) for name, low, key, times in names if low is not None]
    rows = [[name, *_beside(low, found.claimed.get(key), times)] for name, low, key, times in shown]
    return [*rows, ["ε above the claim, at some δ", floor_digits(found.excess_lo, 2), "0"]] if found.refuted else rows


def _beside(low: float, own: float | None, times: float) -> tuple[str, str]:
    if own is None or math.isinf(own):
        return floor_digits(low), "–" if own is None else "unbounded"
    return beside(low, own * times)


def _event(found: Audit) -> tuple[str, ...]:
    assert found.event is not None
    seen = found.event
    pair = f" The first input is {found.pair[0]}, the second {found.pair[1]}." if found.pair[0] else ""
    if found.canaries:
        return (
            f"The attacker calls {event(seen)}.",
            f"Of {thousands(seen.runs)} canaries {thousands(seen.guesses)} were guessed, "
            f"{thousands(seen.right)} rightly.",
        )
    return (
        f"The attacker names {event(seen)}.{pair}",
        f"{_learnt(found, seen)} spoke {_times(seen.guesses)} and was right {_times(seen.right)}.",
    )


def _learnt(found: Audit, seen: AttackEvent) -> str:
    if found.sequential:
        return f"On {thousands(seen.runs)} runs the attacker, who had learnt from earlier ones,"
    return f"On {thousands(seen.runs)} runs that did not choose the event, the attacker"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{thousands(count)} times"


def _runs(found: Audit) -> tuple[str, ...]:
    made = [
        f"Had every guess been right, {_how_many(found)} would have shown ε to be at least "
        f"{floor_digits(found.largest_epsilon)}, and no more."
    ]
    if found.canaries:
        made.append("How many canaries were guessed was fixed beforehand; their noise may depend on each other.")
    elif found.sequential:
        made.append("One may stop such an audit at any time: the confidence holds.")
    else:
        made.append("The number of runs was fixed beforehand; three of ten chose the event.")
    if found.exact is not None:
        made.append(
            f"The claim allows so many right guesses with probability {ceil_digits(found.exact, 2)} at most, by linear "
            f"programming; the bound used says {ceil_digits(found.evidence, 2)}."
        )
    if found.guesses_a_call > 1 and not found.canaries:
        made.append(f"Each call was {thousands(found.guesses_a_call)} guesses, which bounds ε alone.")
    if found.stopped is StopReason.INTERRUPTED:
        made.append("The audit was interrupted: this is what was there.")
    if found.stopped is StopReason.SILENT:
        made.append("The mechanism gave no answer too often, and the audit ended early.")
    made += _findings(found.findings)
    made.append("A bound from below is no guarantee: another pair of inputs, or another event, may show more.")
    return tuple(made)


def _findings(found: Sequence[Finding]) -> list[str]:
    made = []
    for one in found:
        times = f"{_times(one.zero)} on the first input and {_times(one.one)} on the second"
        match one.finding:
            case FindingKind.RAISED:
                made.append(f"It failed with {one.of} {times}.")
            case FindingKind.LATE:
                made.append(f"It gave no answer in time {times}.")
            case FindingKind.SAME:
                made.append(
                    "Every run gave the same answer, whatever the input: nothing was tested, so give inputs that it "
                    "answers differently."
                )
            case FindingKind.FIXED:
                made.append("Each input always has its one answer: there is no noise, or its seed is fixed.")
            case FindingKind.UNREADABLE:
                made.append(
                    f"Answers of the type {one.of} cannot be read ({times}) and are known by their type alone: return "
                    "numbers, arrays or tables."
                )
            case FindingKind.CUT:
                made.append(f"Answers have more entries than were looked at: {one.of} of them were.")
            case FindingKind.KINDS:
                made.append(f"Answers came in {one.of} types, shapes or sets of keys.")
            case FindingKind.BARE:
                made.append(
                    "A bare (ε, δ) can hardly be tested: what it allows with probability δ hides almost any violation, "
                    "so claim the mechanism itself where it is known."
                )
            case FindingKind.FEW:
                made.append("No result of so few runs could have refuted the claim: give more.")
    return made


# Audits of several pairs as they are shown: a row for each pair, then the worst of them in full.


def audits_sentence(found: Audits) -> str:
    """The verdict over all pairs."""
    runs, pairs = thousands(found.runs), len(found.each)
    over = f"{pairs} pairs of tables" if pairs != 1 else "one pair of tables"
    worst = found.worst
    bound = floor_digits(worst.audit.epsilon_lo)
    level = f"{100 * found.confidence:.6g}% confidence"
    match found.verdict:
        case AuditVerdict.VIOLATION:
            return f"The claim is broken on the pair “{worst.pair}”: {breaking(worst.audit)} ({level}, {runs} runs)."
        case AuditVerdict.CONSISTENT:
            return f"No violation was found on {over} in {runs} runs: the largest bound on ε is {bound} ({level})."
    return f"Nothing can be said of the claim from {runs} runs on {over}, {why_not(worst.audit)}."


def of_audits(found: Audits) -> Document:
    """The verdict, the pairs, and the worst of them."""
    one = present(found.worst.audit)
    status = next(block for block in one.opening if isinstance(block, Status))
    opening = (Lead((said(audits_sentence(found)),)), replace(status, over=found.refuted))
    claimed = found.worst.audit.claimed.get("epsilon", float("inf"))
    head = ["Pair", "Verdict", "ε at least", "Runs"]
    notes = [
        f"The claim is {found.worst.audit.claim.name}"
        + (f", ε = {ceil_digits(claimed)}." if claimed < float("inf") else "."),
        "Each pair is audited at a share of the level, so that the confidence is that of all of them together.",
        *_entire(found.each),
    ]
    if found.left:
        notes.append(
            f"On these pairs {thousands(found.left)} of the listed groups are left out: each number is drawn "
            f"alike, and "
            "the person is in a group that is there."
        )
    if found.skipped:
        notes.append(f"{thousands(found.skipped)} more pairs were not reached.")
    pairs = plain_table(head, [_pair_row(n) for n in found.each], wraps=True)
    sections = [Section("The pairs", (pairs, Notes(tuple(notes))))]
    sections += [replace(s, heading=f"{s.heading}: {found.worst.pair}") for s in one.sections]
    return Document("Audit", f"An audit of {found.title}", opening, tuple(sections))


def _pair_row(one: PairAudit) -> list[str]:
    bound, _ = beside(one.audit.epsilon_lo, one.audit.claimed["epsilon"])
    return [one.pair, str(one.audit.verdict), bound, thousands(one.audit.runs)]


def _entire(each: tuple[PairAudit, ...]) -> list[str]:
    told = [one for one in each if one.entire is not None]
    if not told:
        return []
    made = [
        f"{thousands(sum(one.entire or 0 for one in told))} releases were entire, from the table on. The others start "
        "from the exact numbers of the same table, which every entire release gave again; nothing random goes into "
        "them."
    ]
    differ = [one.pair for one in told if not one.repeatable]
    if differ:
        made = [f"The exact numbers of one table differed between releases ({', '.join(differ)}): all were entire."]
    made.append("The rows are made up; no value of the plan's table was looked at, and nothing entered a ledger.")
    return made


# The catalogue of audits as it is shown: each broken case beside its correct twin.


def cases_sentence(found: CaseResults) -> str:
    """How many broken cases were found, how many correct ones raised an alarm, how many could not be run."""
    run = found.run
    broken, correct = [e for e in run if e.case.broken], [e for e in run if not e.case.broken]
    caught, alarms = sum(e.as_known for e in broken), sum(not e.as_known for e in correct)
    told = f"Broken cases found out: {caught} of {len(broken)}; correct ones that raised an alarm: {alarms} of "
    missing = len(found.found) - len(run)
    return f"{told}{len(correct)}" + (f"; not run here: {missing}." if missing else ".")


def of_cases(found: CaseResults) -> Document:
    """A table of broken cases with their twins, the events, and what could not be run."""
    status = "As known: every broken case is found, no correct one" if found.as_known else "Not as known"
    opening = (Lead((said(cases_sentence(found)),)), Status(status, over=not found.as_known))
    sections: list[Section] = []
    broken = [e for e in found.run if e.case.broken]
    if broken:
        head = ["Case and its claim", "ε at least", "Refuted after"]
        rows = [_case_row(each) for each in broken]
        sections.append(Section("Cases that break their claim", (plain_table(head, rows, wraps=True),)))
        each_one = tuple(Paragraph(said(_case_event(found, each)), Tone.NOTE) for each in broken)
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


def _case_row(each: CaseResult) -> list[str]:
    after = f"{thousands(each.refuted_after)} runs" if each.refuted_after is not None else "not refuted"
    return [_case(each), _bound(each), after]


def _correct(each: CaseResult) -> list[str]:
    assert each.audit is not None
    return [_case(each), _bound(each), thousands(each.audit.runs), str(each.audit.verdict)]


def _case_event(found: CaseResults, each: CaseResult) -> str:
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
