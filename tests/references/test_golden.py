"""What was read before the house was rebuilt is read still: some 800 readings, brackets and directions.

The values of ``golden.json`` were recorded from the code of November 2026. They are no proof of being right (the
sheets, the oracles and the enumerations beside them are), but of having stayed the same. Where a value is known to
have been wrong, mend it here with the reason in the commit.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import epsilens as el

GOLDEN: dict[str, dict[str, Any]] = json.loads(Path(__file__).with_name("golden.json").read_text("utf-8"))
EXACT, BRACKET = 1e-12, 1e-9  # relative: libraries of special functions differ in the last digits


def _asked(reading: str) -> tuple[str, dict[str, float]]:
    name, said = re.fullmatch(r"(\w+)\((.*)\)", reading).groups()  # type: ignore[union-attr]
    return name, {k: float(v) for k, v in (pair.split("=") for pair in said.split(", ") if pair)}


@pytest.mark.parametrize("built", GOLDEN, ids=lambda text: text.removeprefix("el.")[:60])
def test_readings_stay(built: str) -> None:
    experiment = eval(built, {"el": el})
    expected = dict(GOLDEN[built])
    assert experiment.direction == expected.pop("direction")
    for reading, value in expected.items():
        name, arguments = _asked(reading)
        seen = getattr(experiment, name)(**arguments)
        if isinstance(value, list):
            seen, (low, high) = [seen], experiment.bracket(name, **arguments)
            assert [*seen, low, high] == pytest.approx([float(v) for v in value], rel=BRACKET, abs=0), reading
        else:
            assert seen == pytest.approx(float(value), rel=EXACT, abs=0), reading
