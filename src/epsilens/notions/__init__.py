"""Other definitions of privacy: what each one's ε is for a small mechanism, what implies what, and conversions.

>>> from epsilens import notions
>>> xor = notions.randomized_response(1.0, of=lambda d: d[0] ^ d[1], records=2)
>>> notions.dp(xor), notions.inferential(xor, notions.uniform(xor))
(1.0, 0.0)
>>> notions.convert("ip", 1.0, by="dp", dependent=4).given_epsilon
0.25
"""

from . import examples
from .catalogue import NOTIONS, Notion, find
from .conversion import Conversion, Step, convert, promise, promises, sure
from .definitions import (
    blowfish,
    dependent,
    dependent_groups,
    diameter,
    dp,
    inferential,
    membership,
    mutual_information,
    pufferfish,
)
from .implications import IMPLICATIONS, REFUTED, Conditions, Implication, Refuted
from .mechanism import Mechanism, laplace_sum, noisy_sum, product, randomized_response, uniform

__all__ = [
    "IMPLICATIONS", "NOTIONS", "REFUTED", "Conditions", "Conversion", "Implication", "Mechanism", "Notion",
    "Refuted", "Step", "blowfish", "convert", "dependent", "dependent_groups", "diameter", "dp", "examples", "find",
    "inferential", "laplace_sum", "membership", "mutual_information", "noisy_sum", "product", "promise", "promises",
    "pufferfish", "randomized_response", "sure", "uniform",
]  # fmt: skip
