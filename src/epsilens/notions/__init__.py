"""Other definitions of privacy: what each one's ε is for a small mechanism, what implies what, and conversions.

>>> from epsilens import notions
>>> xor = notions.randomized_response(1.0, of=lambda d: d[0] ^ d[1], records=2)
>>> notions.dp(xor), notions.inferential(xor, notions.uniform(xor))
(1.0, 0.0)
>>> notions.convert("ip", 1.0, by="dp", dependent=4).given_epsilon
0.25
"""

from __future__ import annotations

from ..namespaces import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
