"""What several answers share that the adversary does not know: records of other people, the value behind a range.

It is drawn once, not anew for each answer, so such answers do not compose as independent ones: together they are one
release of a vector, whose law is a mixture over what is unknown of products of the noise.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

from ..errors import InputError
from ..numerics.values import ValueSemantics
from ..readings.law import Law


class Latent(ValueSemantics, ABC):
    """How one answer depends on something unknown that other answers depend on too."""

    __slots__ = ()

    #: What is unknown, in a sentence: "records that the adversary does not know".
    unknown: ClassVar[str]

    @abstractmethod
    def reverse(self) -> Latent:
        """The same with H0 and H1 exchanged."""

    @abstractmethod
    def joint(self, answers: Sequence[tuple[Latent, int]]) -> tuple[Law, str]:
        """The law of these answers seen together, each so often, and a note on how it is known.

        Refused where they do not share what is unknown, or where nothing is known of them together.
        """

    def sampled(self, rate: float) -> tuple[Law, Latent, str]:
        """The law of the answer on a Poisson sample of the records, how it depends on the unknown, and a note."""
        raise InputError(
            f"sampling is not known of an answer that depends on {self.unknown}: who is drawn changes what they hide, "
            "so build the experiment of the sampled answer itself"
        )

    def group(self, people: int) -> Any:
        """What is learned about a group: refused, because who is in it decides what the rest of them hide."""
        raise InputError(
            f"k is {people}, and the answer depends on {self.unknown}: a group of people is not one of them k times as "
            "far, so ask the model about each of them, or group the noise alone, as el.laplace or el.gaussian build it",
            parameter="k",
        )
