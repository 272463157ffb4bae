"""Draw, build, judge: case number n of a seed is always the same."""

from __future__ import annotations

import random
import time
import warnings
from collections.abc import Iterator

import epsilens as el

from . import products, protocols  # noqa: F401  (they register their kinds)
from .draws import readings
from .judge import Case, Outcome, judge
from .kinds import KINDS, WEIGHTS

__all__ = ["outcomes"]


def outcomes(seed: str, number: int, names: list[str]) -> Iterator[Outcome]:
    """All readings of experiment ``number`` of a seed, of one of the kinds."""
    rng = random.Random(f"{seed}:{number}")
    (name,) = rng.choices(names, [WEIGHTS[n] for n in names])
    drawn = KINDS[name](rng)
    start = time.process_time()
    reverse = rng.random() < 0.3
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            experiment = eval(drawn.code, {"el": el})
            if reverse:
                experiment = experiment.reverse()
    except el.InputError:
        yield Outcome(Case(name, drawn.code, "advantage", {}), judged=False, refused=True)
        return
    except Exception as error:
        wrong = f"building it raised {type(error).__name__}: {error}"
        yield Outcome(Case(name, drawn.code, "advantage", {}), wrong, seconds=time.process_time() - start)
        return
    truth = drawn.truth.reverse() if reverse else drawn.truth
    for reading, arguments in readings(rng, drawn.readings, drawn.losses, drawn.only, drawn.heavy):
        yield judge(Case(name, drawn.code, reading, arguments, reverse), experiment, truth, width=drawn.width)
