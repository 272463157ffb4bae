"""How ε is shared among the queries: the planned division beside the equal one and the one with the least error, and
what any other division does to errors and risks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ...assessment.accuracy import Cause
from ...assessment.split import Division, basis_of, division, resplit
from ...numerics.formatting import frequencies
from ..document import Block, Cell, Column, Group, Kind, Paragraph, Said, Section, Span, Table, Tone, said
from .labels import FREQUENCIES, given, limit, risk, share, title

if TYPE_CHECKING:
    from ...assessment.assess import Assessment
    from ...assessment.risks import AdversaryRisk
    from ...assessment.split import Resplit, SplitBasis


HEADING = "How ε is shared"
_NEAR = 1e-9  # relative: shares that differ by rounding are the same
_GAIN = 0.005  # relative: a smaller gain is not worth a sentence


def split_section(a: Assessment) -> Section | None:
    """The ways to divide ε with the error each leaves; None for one query, which has all of it."""
    if a.split is None:
        return None
    found = " It was found by looking at the data." if _gains(a) else ""
    blocks: list[Block] = [Paragraph((Span(_compared(a) + found), *_cost(a))), _table(a)]
    if Cause.BIAS in a.split.judged:
        note = "Where bounds or limits lose more than any noise, the best division goes by the noise alone."
        blocks.append(Paragraph(said(note), Tone.NOTE))
    side = (
        "A query with a larger share of ε has less noise. The error is that of the least accurate published group, as "
        "a share of its answer; 95 of 100 releases keep within it."
    )
    return Section(HEADING, tuple(blocks), side, "error as a share of the answer")


def _gains(a: Assessment) -> bool:
    return a.split is not None and a.split.best.worst < (1 - _GAIN) * a.split.equal.worst


def _same(one: Sequence[float], other: Sequence[float]) -> bool:
    return all(math.isclose(x, y, rel_tol=_NEAR) for x, y in zip(one, other, strict=True))


class _Way(NamedTuple):
    """A division to show; ``own`` is one that the plan's author chose, neither equal nor the best."""

    name: str
    short: str
    division: Division
    own: bool = False


def _ways(a: Assessment) -> list[_Way]:
    """The divisions to show, the plan's own first; one that is the plan's is not shown twice."""
    assert a.split is not None
    shares, known = a.release.shares, (("Equal", "equal", a.split.equal), ("Least error", "best", a.split.best))
    made, own = [], True
    for name, short, way in known:
        planned = _same(way.shares, shares)
        own = own and not planned
        made.append(_Way(f"{name}, as assessed", f"{short}, planned", way) if planned else _Way(name, short, way))
    if not own:
        return made
    assessed = division(a.release, [q.answers for q in a.queries], a.epsilon, shares)
    return [_Way("As assessed", "planned", assessed, own=True), *made]


def _table(a: Assessment) -> Table:
    ways, allowed = _ways(a), a.release.error_limit
    columns = [Column("Query", Kind.NAME)]
    for way in ways:
        head, label = f"{way.name}: share of ε", way.short.partition(",")[0].capitalize()
        columns += [Column(head, plain=way.short, label=label)]
        columns += [Column("Error", Kind.VALUE, plain="error", label="Error")]
    rows = []
    for i, q in enumerate(a.queries):
        cells = [Cell(title(a, q))]
        for way in ways:
            cells += [Cell(f"{100 * way.division.shares[i]:.1f}%"), _error(way.division.errors[i], allowed)]
        rows.append(tuple(cells))
    return Table(tuple(columns), (Group(tuple(rows)),), HEADING)


def _error(relative: float, allowed: float | None) -> Cell:
    if not math.isfinite(relative):
        return Cell("–", state="no answer to compare with")
    over = allowed is not None and relative > allowed
    return Cell(share(relative, allowed), state="over" if over else "", over=over)


def _compared(a: Assessment) -> str:
    """The worst error of each division."""
    assert a.split is not None
    equal, best = (share(way.worst, spoken=True) for way in (a.split.equal, a.split.best))
    if not a.split.equal.worst:
        return "Every answer is 0 or without noise: no division of ε is better than another."
    first = f"Shared equally, the least accurate published answer is off by up to {equal} of itself"
    own = next((way.division for way in _ways(a) if way.own), None)
    planned = "" if own is None else f"; shared as planned, by {share(own.worst, spoken=True)}"
    if not _gains(a) and Cause.BIAS in a.split.judged:
        return f"{first}{planned}: that is what bounds and limits lose, which no division of ε mends."
    if not _gains(a):
        return f"{first}{planned}; no other division makes that less."
    taken = ", and is the one assessed here" if _same(a.split.best.shares, a.release.shares) else ""
    return f"{first}{planned}; the best division brings it to {best}{taken}."


def _cost(a: Assessment) -> Said:
    """What the best division does to the risk that the report speaks of first."""
    basis = basis_of(a)
    if basis is None or not _gains(a) or _same(basis.split.best.shares, a.release.shares):
        return ()
    at = next(i for i, r in enumerate(a.risks) if r.key == a.leading.key)
    now, then = a.risks[at], resplit(a.release, basis, basis.split.best.shares).risks[at]
    before, after, without = (Span(text, "number") for text in _spoken(now, then))
    end = (Span("; without the release "), without, Span("."))
    if before == after:
        return (Span(f" The risk stays ({now.name.lower()}): "), after, *end)
    return (Span(f" The risk moves with it ({now.name.lower()}): "), after, Span(" instead of "), before, *end)


# -- another division ---------------------------------------------------------------------------------------------


def _told(r: AdversaryRisk) -> float:
    """The risk as it is told: what double precision rounds to certainty is not, unless some answer is conclusive."""
    certain = r.planned == 1 and r.reading in FREQUENCIES and not r.conclusive
    return math.nextafter(1, 0) if certain else r.planned


def _spoken(*risks: AdversaryRisk) -> list[str]:
    """The risks, then what the first would be without the release."""
    first = risks[0]
    if first.reading in FREQUENCIES:
        return list(frequencies(*map(_told, risks), given=[first.baseline]))
    return [*(risk(r.reading, r.planned, limit=r.limit) for r in risks), given(first.reading, first.baseline)]


def resplit_sentence(basis: SplitBasis, assessed: Division, found: Resplit) -> tuple[Span, ...]:
    """The worst error with other shares and how many risks break their limit, beside what was assessed."""
    allowed = found.release.error_limit
    error, before = (share(way.worst, allowed, spoken=True) for way in (found.division, assessed))
    spans = [
        Span("With these shares the least accurate published answer is off by up to "),
        Span(error, "risk" if allowed is not None and found.division.worst > allowed else "strong"),
        Span(f" of itself; as assessed it is {before}."),
    ]
    limited = [r for r in found.risks if r.limit is not None]
    if limited:
        over, once = (sum(r.over for r in risks) for risks in (found.risks, basis.risks))
        spans += [Span(" "), Span(f"{over} of {len(limited)}", "risk" if over else "strong")]
        spans.append(Span(f" risks {'is' if over == 1 else 'are'} over their limit, {once} as assessed."))
    return tuple(spans)


def resplit_table(basis: SplitBasis, found: Resplit) -> Table:
    """The adversaries with other shares, beside what was assessed, what they know anyway, and the limit."""
    columns = (
        Column("Adversary", Kind.NAME),
        Column("These shares", Kind.VALUE, label="Now"),
        Column("As assessed", label="Assessed"),
        Column("Limit", label="Limit"),
        Column("Without release", label="Without"),
    )
    rows = []
    for before, now in zip(basis.risks, found.risks, strict=True):
        state = "" if now.limit is None else "over" if now.over else "within"
        rows.append((
            Cell(now.name),
            Cell(_risk(now), state=state, over=now.over),
            Cell(_risk(before)),
            Cell("–" if now.limit is None else limit(now.reading, now.limit)),
            Cell(given(now.reading, now.baseline)),
        ))  # fmt: skip
    return Table(columns, (Group(tuple(rows)),), "Risks with these shares, out of 100")


def _risk(r: AdversaryRisk) -> str:
    return risk(r.reading, _told(r), limit=r.limit, baseline=r.baseline)


def resplit_data(basis: SplitBasis, found: Resplit, names: Sequence[str]) -> dict[str, Any]:
    """Other shares with their errors and risks, and the divisions to compare with, as plain values."""
    ways = {"equal": basis.split.equal, "least_error": basis.split.best}
    return {
        "schema": 1,
        "epsilon": found.release.epsilon,
        "queries": list(names),
        **_division(found.division),
        "risks": [
            {
                "key": r.key, "name": r.name, "reading": r.reading, "baseline": r.baseline, "planned": r.planned,
                "limit": r.limit, "over": r.over, "assessed": before.planned,
            }
            for before, r in zip(basis.risks, found.risks, strict=True)
        ],
        **{name: _division(way) for name, way in ways.items()},
        "looks_at_data": basis.split.looks_at_data,
    }  # fmt: skip


def _division(way: Division) -> dict[str, Any]:
    return {"shares": list(way.shares), "errors": [e if math.isfinite(e) else None for e in way.errors]}
