"""Reads a PDF as far as the tests need it, by the letter of ISO 32000."""

from __future__ import annotations

import re
import zlib


def objects_of(made: bytes) -> dict[int, bytes]:
    """Every object by its number."""
    return {int(m[1]): m[2] for m in re.finditer(rb"(?m)^(\d+) 0 obj\n(.*?)\nendobj$", made, re.DOTALL)}


def streams_of(made: bytes) -> list[bytes]:
    """Every stream, unpacked."""
    found = re.finditer(rb"/Length (\d+) [^>]*>>\nstream\n", made)
    return [zlib.decompress(made[m.end() : m.end() + int(m[1])]) for m in found]


def words_of(made: bytes) -> list[str]:
    """The words of every page in the order in which they are drawn, without those that are not to be read."""
    return [word for page in pages_of(made) for word in page]


def pages_of(made: bytes) -> list[list[str]]:
    """The same, page by page."""
    objects = objects_of(made)
    resources = re.findall(rb"/F(\d+) (\d+) 0 R", made)
    tables = {}
    for weight, number in resources:
        (at,) = re.findall(rb"/ToUnicode (\d+) 0 R", objects[int(number)])
        listed = streams_of(objects[int(at)])[0].decode()
        pairs = re.findall(r"<([0-9A-F]{4})> <([0-9A-F]+)>\n", listed.split("beginbfchar", 1)[1] + "\n")
        tables[int(weight)] = {glyph: bytes.fromhex(char).decode("utf-16-be") for glyph, char in pairs}
    pages = []
    for stream in streams_of(made):
        if b" cm\n" not in stream or b"begincmap" in stream:  # a page turns its coordinates first
            continue
        words = []
        read = re.sub(r"/Span << /ActualText <FEFF> >> BDC .*? EMC", "", stream.decode())
        for weight, code in re.findall(r"/F(\d+) [\d.]+ Tf .*? <([0-9A-F]*)> Tj", read):
            words.append("".join(tables[int(weight)][code[i : i + 4]] for i in range(0, len(code), 4)))
        pages.append(words)
    return pages
