"""Compare: several experiments side by side, as text, a table and a chart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .. import checks
from ..errors import InputError
from ..experiment import Experiment
from ..numerics.values import FrozenMapping, ValueSemantics
from ..results import ChartLike, ChartsLike, Result, presenter

#: Lines that can be told apart in one chart.
MOST = 8


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(ValueSemantics, Result):
    """Experiments by their names, and the arguments every reading of them is taken at."""

    shown_as = "comparison"

    names: tuple[str, ...]
    experiments: tuple[Experiment, ...]
    arguments: Mapping[str, float]

    def __post_init__(self) -> None:
        object.__setattr__(self, "arguments", FrozenMapping(self.arguments))

    def frame(self) -> Any:
        """Every reading as a pandas DataFrame: a row each, a column for each experiment and what no release reads."""
        return presenter().frame(self)

    def chart(self, name: str | Sequence[str] = "roc") -> ChartLike | ChartsLike:
        """Their curves over each other; the names are those of :meth:`Experiment.chart`."""
        first, *rest = self.experiments
        asked = {key: self.arguments[key] for key in ("prior", "fpr") if key in self.arguments}
        others = dict(zip(self.names[1:], rest, strict=True))
        made = [
            presenter().chart(first, one, against=others, called=self.names[0], **asked)
            for one in ([name] if isinstance(name, str) else name)
        ]
        return made[0] if isinstance(name, str) else presenter().charts(made)

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready record with every reading of each."""
        return presenter().data(self)


def compare(experiments: Any, *more: Any, **arguments: float) -> Comparison:
    """Several experiments side by side, one after the other, as a list, or as a mapping from names.

    A choice stands for what was chosen.

    The arguments are those of ``explain``: prior, fpr, delta, ….

    >>> import epsilens as el
    >>> both = compare([el.laplace(epsilon=1.0), el.gaussian(psi=1.0)])
    >>> both.names
    ('laplace(epsilon=1)', 'gaussian(sigma=1)')
    >>> compare(el.laplace(epsilon=1.0), el.gaussian(psi=1.0)) == both
    True
    >>> print(both)
    An adversary who knows every other record guesses correctly 697 times of 1,000
    (A, laplace(epsilon=1)) and 692 times of 1,000 (B, gaussian(sigma=1)) whether
    the worst-placed person is in the data. Without the release they would be right
    500 times of 1,000.
    ...
    """
    names, given = named_experiments("experiments", [experiments, *more] if more else experiments)
    if len(given) < 2:
        raise InputError("experiments has fewer than two: give several to compare", parameter="experiments")
    if len(given) > MOST:
        raise InputError(
            f"experiments has {len(given)}: give at most {MOST} to compare, or use sweep", parameter="experiments"
        )
    return Comparison(names, given, {name: checks.scalar(name, value) for name, value in arguments.items()})


def named_experiments(parameter: str, given: Any) -> tuple[tuple[str, ...], tuple[Experiment, ...]]:
    """Experiments with names of their own, which tell them apart: those given, or what each of them is."""
    if isinstance(given, Mapping):
        names, listed = [str(name) for name in given], list(given.values())
    else:
        listed = list(given) if isinstance(given, list | tuple) else [given]
        names = []
    made = []
    for value in listed:
        one = value if isinstance(value, Experiment) else getattr(value, "experiment", None)
        if not isinstance(one, Experiment):
            raise InputError(
                f"{parameter} has a {type(value).__name__}: give experiments, such as laplace(epsilon=1)",
                parameter=parameter,
            )
        if one.many:
            raise InputError(
                f"{parameter} has one of many numbers: give single ones, or use sweep", parameter=parameter
            )
        made.append(one)
    names = names or [one.label or repr(one) for one in made]
    twice = {name for name in names if names.count(name) > 1}
    told = [f"{name} ({names[: i + 1].count(name)})" if name in twice else name for i, name in enumerate(names)]
    return tuple(told), tuple(made)
