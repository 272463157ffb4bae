"""Draw, build, judge: case number n of a seed is always the same."""

from __future__ import annotations

import random
import time
import warnings
from collections.abc import Iterator
from dataclasses import replace

import epsilens as el

from . import loops, products, protocols, trainings, twos  # noqa: F401  (they register their kinds)
from .contour import Contour
from .draws import readings
from .judge import Case, Outcome, judge
from .kinds import KINDS, WEIGHTS


def outcomes(seed: str, number: int, names: list[str]) -> Iterator[Outcome]:
    """All readings of experiment ``number`` of a seed, of one of the kinds."""
    rng = random.Random(f"{seed}:{number}")
    (name,) = rng.choices(names, [WEIGHTS[n] for n in names])
    drawn = KINDS[name](rng)
    start = time.process_time()
    reverse = rng.random() < 0.3 and not drawn.ordered
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
        case = Case(name, drawn.code, reading, arguments, reverse)
        found = judge(case, experiment, truth, width=drawn.width)
        if found.wrong and isinstance(truth, Contour):  # a second opinion, on other lines
            second = judge(case, experiment, truth.again(), width=drawn.width)
            found = found if second.wrong else replace(found, wrong="", error=0.0, judged=False)
        yield found
