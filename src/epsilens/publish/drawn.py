"""Noise on the exact numbers of a plan: the answers that are published.

Nothing here looks at a table, so the same exact numbers may be drawn on as often as a test wants.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..plan.cells import Cells
from ..plan.contribution import Noisy
from ..plan.plan import Release
from .noise import Drawing
from .published import Noised, PublishedAnswer, answers_of


def drawn_answers(plan: Release, drawings: Sequence[Drawing], exact: Sequence[Cells]) -> tuple[PublishedAnswer, ...]:
    """The answers of a plan, each under noise of its own."""
    made: list[PublishedAnswer] = []
    for one in exact:
        own = {d.noisy: d for d in drawings if d.query == one.query}
        made += answers_of(plan, _noised(one, own), own)
    return tuple(made)


def _noised(one: Cells, drawings: Mapping[Noisy, Drawing]) -> Noised:
    """Noise on every number of a query; where a threshold names the groups, on those that it names."""
    places = list(range(len(one.labels)))
    numbers: dict[Noisy, list[float]] = {}
    namer = next((d for d in drawings.values() if d.names is not None), None)
    if namer is not None:
        named = namer.draw_names(one.labels, one.numbers[namer.noisy])
        places = sorted(named)
        numbers[namer.noisy] = [named[place] for place in places]
    for noisy, drawing in drawings.items():
        if noisy is Noisy.TOUCHED:
            numbers[noisy] = drawing.draw(one.numbers[noisy])
        elif drawing is not namer:
            numbers[noisy] = drawing.draw([one.numbers[noisy][place] for place in places])
    sizes = [one.sizes[place] for place in places] if one.sizes else ()
    return Noised(one.query, tuple(one.labels[place] for place in places), numbers, sizes)
