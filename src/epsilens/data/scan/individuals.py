"""The values of isolated people, for whoever asked to see them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..tables.dialect import md5
from ..tables.engines import Engine
from .classes import ClassTable
from .request import ScanRequest
from .rollup import Isolated

MOST_SHOWN = 1000


@dataclass(frozen=True)
class Texts:
    """The texts behind digests, looked up for the few that are shown."""

    engine: Engine
    base: Any
    columns: tuple[int, ...]

    def behind(self, j: int, digests: Sequence[Any]) -> Mapping[Any, Any]:
        """The text of each digest of column j; the values themselves where it has none."""
        if j not in self.columns:
            return {value: value for value in digests}
        rows = self.base.select(text=self.base[f"q{j}"], digest=md5(self.base[f"q{j}"]))
        wanted = rows.filter(rows["digest"].isin([d for d in digests if d is not None])).distinct()
        return {row["digest"]: row["text"] for row in self.engine.fetch(wanted).to_pylist()} | {None: None}


def shown_people(
    classes: ClassTable, isolated: Isolated, request: ScanRequest, texts: Texts
) -> tuple[dict[str, Any], ...]:
    """The values of isolated people, those isolated by the fewest columns first; engines give them in any order."""
    assert isolated.fewest is not None
    quasi = request.quasi_identifiers
    owned = np.flatnonzero(classes.owner >= 0)
    fewest = isolated.fewest[classes.owner[owned]]
    owned, fewest = owned[fewest > 0], fewest[fewest > 0]
    ranks: list[NDArray[np.int64]] = [
        _ranked(classes.values[j])[classes.codes[j][owned]] for j in reversed(range(len(quasi)))
    ]
    rows = owned[np.lexsort((*ranks, fewest.astype(np.int64)))][:MOST_SHOWN]
    columns = []
    for j in range(len(quasi)):
        digests = [classes.values[j][int(code)].as_py() for code in classes.codes[j][rows]]
        behind = texts.behind(j, digests)
        columns.append([behind[digest] for digest in digests])
    made = []
    for place, row in enumerate(rows):
        values = {name: columns[j][place] for j, name in enumerate(quasi)}
        names, person = classes.people_values, request.person
        who = {} if person is None or names is None else {person: names[int(classes.owner[row])].as_py()}
        made.append({**who, **values, "fewest_columns": int(isolated.fewest[classes.owner[row]])})
    return tuple(made)


def _ranked(values: Any) -> NDArray[np.int64]:
    """The place of each distinct value of a column among the sorted ones."""
    import pyarrow.compute as pc

    made = np.empty(len(values), np.int64)
    made[pc.sort_indices(values).to_numpy()] = np.arange(len(values))
    return made
