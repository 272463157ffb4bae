"""Every fault still fits the code and has its judges, so that ``make mutants`` can put it back."""

from __future__ import annotations

from pathlib import Path

import pytest
from scripts.mutants import SOURCE, mutants
from tests.mutants.faults import FAULTS, Fault
from tests.mutants.harmless import HARMLESS

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_fault_can_be_put_back(fault: Fault) -> None:
    text = (SOURCE / fault.path).read_text("utf-8")
    assert text.count(fault.mended) == 1
    compile(text.replace(fault.mended, fault.broken), fault.path, "exec")
    assert fault.judges
    for judge in fault.judges:
        file, _, function = judge.partition("[")[0].partition("::")
        assert f"def {function}" in (ROOT / file).read_text("utf-8")


def test_what_was_read_is_there() -> None:
    paths = {key.partition(":")[0] for key in HARMLESS}
    assert {*HARMLESS} <= {mutant.key for path in paths for mutant in mutants(path)}
