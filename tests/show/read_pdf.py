"""Reads a PDF as far as the tests need it, by ISO 32000: its words, page by page, and what is told of its pictures."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator

_TOKEN = re.compile(rb"/(\w+) [\d.]+ Tf|/(\w+) Do|ActualText|/Alt|(BDC)|(EMC)|(ET)\b|(\()|<(?=[0-9A-F]*>)")
_ESCAPES = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"b": b"\b", b"f": b"\f"}


def words_of(made: bytes) -> list[str]:
    """The words of every page in the order in which they are drawn, a line of them at a time."""
    return [words for page in pages_of(made) for words in page]


def pages_of(made: bytes) -> list[list[str]]:
    """The same, page by page."""
    objects = _objects(made)
    kids = re.search(rb"/Type/Pages/Count \d+/Kids\[([^]]*)\]", made)
    assert kids is not None
    pages = (objects[int(number)] for number in re.findall(rb"(\d+) 0 R", kids[1]))
    return [list(_words(objects, _reference(page, b"Contents"), page)) for page in pages]


def alternatives_of(made: bytes) -> list[str]:
    """What is told of each picture to those who cannot see it."""
    return [_text(_string(made, found.end())[0]) for found in re.finditer(rb"/Alt(?=[(<])", made)]


def streams_of(made: bytes) -> list[bytes]:
    """Every stream, unpacked."""
    return [_stream(content) for content in _objects(made).values() if b"stream\n" in content]


def _objects(made: bytes) -> dict[int, bytes]:
    return {int(m[1]): m[2] for m in re.finditer(rb"(?m)^(\d+) 0 obj\n(.*?)\nendobj$", made, re.DOTALL)}


def _reference(content: bytes, name: bytes) -> int:
    found = re.search(rb"/%s (\d+) 0 R" % name, content)
    assert found is not None
    return int(found[1])


def _stream(content: bytes) -> bytes:
    head, _, rest = content.partition(b"stream\n")
    return zlib.decompressobj().decompress(rest) if b"FlateDecode" in head else rest


def _words(objects: dict[int, bytes], stream: int, owner: bytes) -> Iterator[str]:
    """The words of a stream and of the drawings it shows, by the fonts of its owner."""
    drawn, resources = _stream(objects[stream]), objects[_reference(owner, b"Resources")]
    letters: dict[bytes, dict[int, str]] = {}
    line, font, instead, at = "", b"", None, 0
    while found := _TOKEN.search(drawn, at):
        at = found.end()
        if found[0] in (b"ActualText", b"/Alt"):
            raw, at = _string(drawn, at)
            instead = _text(raw) if found[0] == b"ActualText" else None
        elif found[3] or found[4]:
            line += instead if found[4] and instead is not None else ""
            instead = instead if found[3] else None
        elif found[1]:
            font = found[1]
            if font not in letters:
                letters[font] = _letters(objects, _reference(resources, font))
        elif found[2]:
            form = _reference(resources, found[2])
            yield from _words(objects, form, objects[form])
        elif found[5]:
            yield line
            line = ""
        elif font:
            raw, at = _string(drawn, found.start())
            codes = (int.from_bytes(raw[i : i + 2]) for i in range(0, len(raw), 2))
            line += "".join(letters[font][code] for code in codes) if instead is None else ""


def _letters(objects: dict[int, bytes], font: int) -> dict[int, str]:
    listed = _stream(objects[_reference(objects[font], b"ToUnicode")]).decode()
    pairs = re.findall(r"<([0-9A-F]{4})> <([0-9A-F]+)>\n", listed)
    return {int(glyph, 16): bytes.fromhex(char).decode("utf-16-be") for glyph, char in pairs}


def _string(content: bytes, at: int) -> tuple[bytes, int]:
    """The string that begins at a place, in brackets or as digits, and where it ends."""
    if content[at : at + 1] == b"<":
        end = content.index(b">", at)
        return bytes.fromhex(content[at + 1 : end].decode()), end + 1
    made, depth = b"", 0
    while True:
        found = re.compile(rb"\\([0-7]{1,3})|\\(.)|([()])|[^\\()]+", re.DOTALL).match(content, at)
        assert found is not None
        at = found.end()
        depth += {b"(": 1, b")": -1}.get(found[3], 0)
        if depth == 0:
            return made[1:], at
        made += bytes([int(found[1], 8)]) if found[1] else _ESCAPES.get(found[2], found[2]) if found[2] else found[0]


def _text(raw: bytes) -> str:
    return raw[2:].decode("utf-16-be") if raw.startswith(b"\xfe\xff") else raw.decode("latin-1")
