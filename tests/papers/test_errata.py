"""Every erratum's one line, run."""

from __future__ import annotations

import pytest

from epsilens.papers import PAPERS
from epsilens.papers.items import ERRATA, Erratum, holds


@pytest.mark.parametrize(
    "erratum", [e for each in ERRATA.values() for e in each], ids=lambda e: e.where if isinstance(e, Erratum) else ""
)
def test_its_check_holds(erratum: Erratum) -> None:
    assert holds(erratum)


def test_every_paper_has_its_errata_and_none_is_said_twice() -> None:
    assert list(ERRATA) == list(PAPERS)
    said = [(paper, e.where) for paper, each in ERRATA.items() for e in each]
    assert len(said) == len(set(said))
