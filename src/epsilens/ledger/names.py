r"""Names that people give to accounts and parts: one spelling each, and which of them look like one another.

Two names for the same people would be two accounts, each charged for half of what is known.

>>> alike("patients", "p\u0430tients"), alike("patients", "doctors")
(True, False)
"""

from __future__ import annotations

import unicodedata
from functools import cache
from importlib.resources import files
from typing import Any

from ..errors import InputError

_LONGEST = 200
#: Code points that are not shown (Default_Ignorable_Code_Point of Unicode), and the blank of braille.
_IGNORABLE = (
    (0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F),
    (0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x2800, 0x2800), (0x3164, 0x3164), (0xFE00, 0xFE0F),
    (0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF),
)  # fmt: skip


def worded(name: str, value: Any, *, needed: str = "") -> str:
    """A name a person gave, in one spelling: without spaces around it, and with letters composed.

    >>> worded("part", " caf\u0065\u0301 ") == "caf\u00e9"
    True
    """
    text = "" if value is None else str(value)
    if len(text) <= _LONGEST:
        text = unicodedata.normalize("NFC", text).strip()
    if needed and not text:
        raise InputError(f"{name} is empty: {needed}", parameter=name)
    if len(text) > _LONGEST or not text.isprintable():
        raise InputError(
            f"{name} is too long or has characters that cannot be printed: give up to {_LONGEST} letters",
            parameter=name,
        )
    return text


def alike(one: str, other: str) -> bool:
    """Whether two names may be taken for one another.

    They are compared after NFKC, without what is not shown, with blanks collapsed, in capitals or not, by the skeleton
    of UTS #39: letters of other scripts as those of ASCII that they look like.

    >>> [alike("my patients", other) for other in ("My  Patients", "my\u2060 patients", "my \uff50atients")]
    [True, True, True]
    """
    return not _skeletons(one).isdisjoint(_skeletons(other))


def _skeletons(name: str) -> set[str]:
    """As it stands and in small letters: a capital I looks like an l, and is an i."""
    shown = " ".join(_shown(unicodedata.normalize("NFKC", _shown(name))).split())
    return {_skeleton(shown), _skeleton(shown.casefold())}


def _shown(text: str) -> str:
    return "".join(c for c in text if not any(low <= ord(c) <= high for low, high in _IGNORABLE))


def _skeleton(text: str) -> str:
    looks = unicodedata.normalize("NFD", text).translate(_confusables())
    return unicodedata.normalize("NFD", looks).casefold()


@cache
def _confusables() -> dict[int, str]:
    lines = files("epsilens.ledger").joinpath("confusables.txt").read_text("utf-8").splitlines()
    rows = [line.split(" ") for line in lines if not line.startswith("#")]
    return {int(code, 16): looks for looks, *codes in rows for code in codes}
