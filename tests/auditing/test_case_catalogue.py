"""The catalogue: broken cases are found, their twins are not, missing libraries are told. Figures are the sheets'."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from epsilens.auditing.case_catalogue import (
    CASES,
    AuditCase,
    CaseLibrary,
    audit_case,
    audit_cases,
    select_cases,
    sparse_vector,
)
from epsilens.auditing.result import AuditVerdict
from epsilens.errors import InputError

_BY_NAME = {case.name: case for case in CASES}
_QUICK = ["numpy-laplace", "numpy-normal", "sparse-no-query-noise", "sparse-no-limit", "sparse-little-noise"]


def test_every_broken_case_has_a_correct_twin() -> None:
    assert len(_BY_NAME) == len(CASES)
    for case in CASES:
        assert bool(case.twin) == case.broken
        assert not case.twin or not _BY_NAME[case.twin].broken


@pytest.mark.parametrize("name", _QUICK)
def test_a_broken_case_is_found_and_its_twin_is_not(name: str) -> None:
    found = audit_cases([name], seed=3, runs=6000, bound=False)
    assert [each.case.name for each in found.run] == [each.case.name for each in found.found]
    assert found.as_known, repr(found)
    assert found[name].refuted_after is not None


def test_noise_in_doubles_is_found_by_its_last_bits_as_in_the_sheet() -> None:
    each = audit_case(_BY_NAME["numpy-laplace"], seed=1)  # sheet: ε at least 6.5 at 99.9%, from a fixed event
    assert each.bound is not None
    assert each.bound.event is not None
    assert each.bound.event.looks == "grain"
    assert each.bound.event.low == -54  # not a multiple of 2⁻⁵³
    assert 5 < each.bound.epsilon_lo < 8


def test_integer_noise_is_not_laplace_noise() -> None:
    pytest.importorskip("opendp")
    found = audit_cases(["opendp-integer-as-laplace"], seed=1, bound=False)
    assert found.as_known
    broken = found["opendp-integer-as-laplace"].audit
    assert broken is not None
    assert broken.epsilon_lo < 1  # the map's own ε holds; it is the trade-off that does not
    assert broken.success_lo is not None
    assert broken.success_lo < 1 / (1 + math.exp(-1))  # the geometric law at ε = 1


def test_a_threshold_on_integers_lets_more_pass_than_its_map_says() -> None:
    pytest.importorskip("opendp")
    case = _BY_NAME["opendp-integer-threshold"]
    epsilon, delta = case.claim()
    assert (epsilon, delta) == pytest.approx((0.5, 0.0511), abs=1e-4)
    assert audit_case(case, seed=1, runs=8000, bound=False).audit.verdict is AuditVerdict.VIOLATION  # type: ignore[union-attr]


def test_the_batch_size_of_opacus_tells_the_number_of_records() -> None:
    pytest.importorskip("opacus")
    each = audit_case(_BY_NAME["opacus-batch-size"], seed=1, bound=False)
    assert each.audit is not None
    assert each.audit.refuted


@pytest.mark.parametrize("name", [c.name for c in CASES if c.library.name == "diffprivlib" and c.broken])
def test_diffprivlib_breaks_its_claims_where_it_is_installed(name: str) -> None:
    pytest.importorskip("diffprivlib", exc_type=ImportError)
    assert audit_cases([name], bound=False).as_known


@pytest.mark.parametrize("case", [c for c in CASES if c.name.startswith(("pydp-", "tumult-"))], ids=lambda c: c.name)
def test_correct_noise_of_other_libraries_is_not_flagged_where_it_is_installed(case: AuditCase) -> None:
    pytest.importorskip(case.library.module, exc_type=ImportError)
    found = audit_case(case, bound=False, confidence=1 - 1e-6, runs=5000)
    assert found.audit is not None
    assert found.audit.verdict is AuditVerdict.CONSISTENT


def test_a_case_without_its_library_says_how_to_install_it() -> None:
    case = replace(CASES[0], library=CaseLibrary("no-such-thing", "no_such_thing", ("no-such-thing==1.0",)))
    each = audit_case(case)
    assert (each.audit, each.as_known) == (None, True)
    assert each.why == 'no-such-thing is not installed: pip install "no-such-thing==1.0"'


def test_a_library_that_does_not_load_is_skipped_as_well() -> None:
    def make(_seed: int | None) -> None:
        raise ImportError("made for another scikit-learn")

    each = audit_case(replace(CASES[0], make=make))  # type: ignore[arg-type]
    assert each.audit is None
    assert "does not load here: pip install" in each.why


def test_names_choose_cases_libraries_and_twins() -> None:
    assert select_cases() == CASES
    assert {case.name for case in select_cases(["sparse-values"])} == {"sparse-values", "sparse-last"}
    assert all(case.name.startswith("opendp-") for case in select_cases(["opendp"]))
    with pytest.raises(InputError, match="there is no case 'tmlt'"):
        select_cases(["tmlt"])


def test_the_catalogue_tells_and_writes_itself() -> None:
    found = audit_cases(["numpy-laplace"], seed=1, runs=3000)
    told = found.to_dict()
    assert [each["name"] for each in told["cases"]] == ["numpy-laplace", "numpy-geometric"]
    assert told["cases"][0]["verdict"] == "VIOLATION"
    assert found.sentence == "Broken cases found out: 1 of 1; correct ones that raised an alarm: 0 of 1."
    page = " ".join(str(found).split())
    assert "not a multiple of 2" in page
    assert "numpy-geometric: CONSISTENT" in page


def test_sparse_vector_without_query_noise_never_gives_what_the_other_input_gives() -> None:
    """Lyu et al.: with answers (0, 1) the outcome (below, above) has positive probability, with (1, 0) it has none."""
    rng = np.random.default_rng(5)
    how = {"threshold_scale": 2.0, "query_scale": 0.0, "most": math.inf}
    seen = [(sparse_vector(d, 4000, rng, **how) == [0.0, 1.0]).all(axis=1).mean() for d in ([0.0, 1.0], [1.0, 0.0])]  # type: ignore[arg-type]
    chance = 0.5 * -math.expm1(-0.5)  # P[0 < ρ ≤ 1] of Laplace noise of scale 2
    assert seen[0] == pytest.approx(chance, abs=4 * math.sqrt(chance / 4000))
    assert seen[1] == 0


def test_sparse_vector_stops_after_as_many_above_as_allowed() -> None:
    rng = np.random.default_rng(6)
    told = sparse_vector([0.0] * 9, 2000, rng, threshold_scale=1.0, query_scale=1.0, most=2, fresh_scale=1.0)
    above = np.nansum(told, axis=1)
    assert above.max() == 2
    ended = np.isnan(told).any(axis=1)
    assert (above[ended] == 2).all()
