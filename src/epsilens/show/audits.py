"""Audits of several pairs as they are shown: a row for each pair, then the worst of them in full."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ..auditing.result import AuditVerdict
from ..numerics.formatting import ceil_digits, floor_digits, thousands
from .audit import breaking, why_not
from .audit import present as present_one
from .document import Document, Lead, Notes, Section, Status, plain_table, said
from .words import beside

if TYPE_CHECKING:
    from ..auditing.result import Audits, PairAudit


def sentence(found: Audits) -> str:
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


def present(found: Audits) -> Document:
    """The verdict, the pairs, and the worst of them."""
    one = present_one(found.worst.audit)
    status = next(block for block in one.opening if isinstance(block, Status))
    opening = (Lead((said(sentence(found)),)), replace(status, over=found.refuted))
    claimed = found.worst.audit.claimed.get("epsilon", float("inf"))
    head = ["Pair", "Verdict", "ε at least", "Runs"]
    notes = [
        f"The claim is {found.worst.audit.claim.name}"
        + (f", ε = {ceil_digits(claimed)}." if claimed < float("inf") else "."),
        "Each pair is audited at a share of the level, so that the confidence is that of all of them together.",
        *_entire(found.each),
    ]  # fmt: skip
    if found.left:
        notes.append(
            f"On these pairs {thousands(found.left)} of the listed groups are left out: each number is drawn "
            f"alike, and "
            "the person is in a group that is there."
        )
    if found.skipped:
        notes.append(f"{thousands(found.skipped)} more pairs were not reached.")
    pairs = plain_table(head, [_row(n) for n in found.each], wraps=True)
    sections = [Section("The pairs", (pairs, Notes(tuple(notes))))]
    sections += [replace(s, heading=f"{s.heading}: {found.worst.pair}") for s in one.sections]
    return Document("Audit", f"An audit of {found.title}", opening, tuple(sections))


def _row(one: PairAudit) -> list[str]:
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
