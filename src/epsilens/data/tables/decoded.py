"""Text files as they come, made into UTF-8: unpacked, decoded, with one kind of line end.

What a file is, its first bytes say, not its name. UTF-8 that is not compressed is left where it lies; everything else
is written once, in parts, into a private folder. Text that is neither UTF-8 nor UTF-16 is read as Windows-1252, which
gives every byte a letter of its own: a file in another old alphabet shows other letters, but the same groups.
"""

from __future__ import annotations

import bz2
import codecs
import gzip
import lzma
import mmap
import re
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from .faults import Fault, line_at, refused

#: How much is looked at before anything is decided.
SAMPLE = 1 << 20
_STEP = 1 << 22
_PACKED = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\x28\xb5\x2f\xfd": "zstd", b"\xfd7zXZ\x00": "xz"}
_FOREIGN = {
    b"PAR1": Fault.PARQUET, b"ARROW1": Fault.ARROW, b"FEA1": Fault.ARROW, b"\xff\xff\xff\xff": Fault.ARROW,
    b"\xd0\xcf\x11\xe0": Fault.EXCEL, b"%PDF": Fault.PDF, b"SQLite format 3\x00": Fault.DATABASE,
}  # fmt: skip
_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF32_LE: "utf-32", codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16",
}  # fmt: skip
WESTERN = "cp1252"


@dataclass(frozen=True)
class Text:
    """A file, and how it is written."""

    path: Path
    packing: str
    encoding: str
    head: str
    whole: bool  # the head is all of it

    @property
    def plain(self) -> bool:
        """Whether it can be read where it lies."""
        return not self.packing and self.encoding.startswith("utf-8")


def looked_at(path: Path, name: str) -> Text:
    """What the first megabyte says; ``name`` is what errors call the file."""
    with path.open("rb") as file:
        start = file.read(16)
    if start.startswith(b"PK\x03\x04"):
        raise refused(name, Fault.EXCEL if _is_workbook(path) else Fault.ZIP)
    packing = next((kind for magic, kind in _PACKED.items() if start.startswith(magic)), "")
    with _bytes(path, packing, name) as stream:
        head = stream.read(SAMPLE)
        whole = not stream.read(1)
    foreign = next((fault for magic, fault in _FOREIGN.items() if head.startswith(magic)), None)
    if foreign is not None:
        raise refused(name, foreign)
    encoding = _encoding(head, whole, name)
    text = codecs.getincrementaldecoder(encoding)("replace").decode(head)
    _check_is_table(text, name)
    return Text(path, packing, encoding, text, whole)


def plain(text: Text, folder: Path, name: str) -> Path:
    """The file in UTF-8, not compressed: itself, or a copy in ``folder``."""
    if text.plain:
        if not re.search(r"[*?\[]", str(text.path)):
            return text.path
        link = folder / "file"  # DuckDB takes such a name for a pattern
        link.symlink_to(text.path.absolute())
        return link
    return _rewritten(text, text.encoding, folder / "decoded", name)


def from_western(text: Text, folder: Path, name: str) -> Path:
    """The same, of a file whose first byte that is not ASCII turned out not to be UTF-8."""
    return _rewritten(text, WESTERN, folder / "western", name)


def _rewritten(text: Text, encoding: str, copy: Path, name: str) -> Path:
    if encoding.startswith("utf-8"):
        with _bytes(text.path, text.packing, name) as stream, copy.open("wb") as out:
            while piece := stream.read(_STEP):
                out.write(piece)
        return copy
    decoder = codecs.getincrementaldecoder(encoding)("strict")
    with _bytes(text.path, text.packing, name) as stream, copy.open("wb") as out:
        try:
            while piece := stream.read(_STEP):
                out.write(decoder.decode(piece).encode())
            out.write(decoder.decode(b"", final=True).encode())
        except UnicodeError as error:
            done = decoder.decode(error.object[: error.start]) if isinstance(error, UnicodeDecodeError) else ""
            out.write(done.encode("utf-8", "replace"))
            out.flush()
            line = line_at(copy, out.tell()) if out.tell() else 1
            shown = "Windows-1252" if encoding == WESTERN else encoding.upper()
            raise refused(name, Fault.ENCODING, line=line, encoding=shown) from None
    return copy


def one_line_end(path: Path, folder: Path, escape: str) -> Path:
    """A copy in which every row ends in LF; line ends inside quotes stay as they are.

    Outside and inside alternate with each quote, and a doubled one inside changes nothing.
    """
    quote = re.compile(rb'(?<!\\)"' if escape == "\\" else b'"')
    copy, outside, held = folder / "lines", True, b""
    with path.open("rb") as file, copy.open("wb") as out:
        while piece := file.read(_STEP):
            piece = held + piece
            held = piece[-1:] if piece[-1:] in (b"\r", b"\\") else b""  # it may go on in the next piece
            parts = quote.split(piece[: len(piece) - len(held)])
            for i, part in enumerate(parts):
                if i:
                    outside = not outside
                    out.write(b'"')
                out.write(part.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if outside else part)
        out.write(held.replace(b"\r", b"\n"))
    return copy


def check_nul(path: Path, name: str) -> None:
    """Refuse a NUL byte, which DuckDB would keep as a letter; a search in memory, at the speed of memory."""
    position = 0
    with path.open("rb") as file:
        while piece := file.read(_STEP):
            if (found := piece.find(b"\0")) >= 0:
                raise refused(name, Fault.NUL, line=line_at(path, position + found))
            position += len(piece)


def contains(path: Path, words: bytes) -> bool:
    """Whether the file has these bytes somewhere."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        return data.find(words) >= 0


def western(path: Path) -> bool:
    """Whether the first bytes that are not ASCII are not UTF-8 either."""
    with path.open("rb") as file:
        while piece := file.read(_STEP):
            if not piece.isascii():
                piece += file.read(4)
                try:
                    piece.decode()
                except UnicodeDecodeError as error:
                    return piece[: error.start].isascii()
                return False
    return False


@contextmanager
def _bytes(path: Path, packing: str, name: str) -> Iterator[IO[bytes] | Any]:
    """The bytes inside, whatever packs them."""
    try:
        with _opened(path, packing) as stream:
            yield stream
    except (EOFError, OSError, zlib.error, lzma.LZMAError) as error:
        if not packing or getattr(error, "errno", None) is not None:
            raise
        raise refused(name, Fault.PACKED) from None


def _opened(path: Path, packing: str) -> Any:
    if packing == "gzip":
        return gzip.open(path)
    if packing == "bz2":
        return bz2.open(path)
    if packing == "xz":
        return lzma.open(path)
    if packing == "zstd":
        import pyarrow as pa

        return pa.input_stream(str(path), compression="zstd")
    return path.open("rb")


def _encoding(head: bytes, whole: bool, name: str) -> str:
    if not head.strip():
        raise refused(name, Fault.EMPTY)
    marked = next((kind for mark, kind in _MARKS.items() if head.startswith(mark)), None)
    if marked is not None:
        return marked
    zeros = head[:4096].count(0)
    if zeros:
        # Every second byte of Western text in UTF-16 is zero; which one says which end comes first.
        odd, even = head[1:4096:2].count(0), head[0:4096:2].count(0)
        if max(odd, even) > 0.3 * len(head[:4096]) / 2 and min(odd, even) < 0.1 * max(odd, even):
            return "utf-16-le" if odd > even else "utf-16-be"
    if _strange(head) > max(16, 0.05 * len(head)):
        raise refused(name, Fault.BINARY)
    try:
        codecs.getincrementaldecoder("utf-8")("strict").decode(head, final=whole)
        return "utf-8"
    except UnicodeDecodeError as error:
        read = head.decode("utf-8", "replace")
        wrong = read.count("�")
        if sum(ord(letter) > 127 for letter in read) - wrong <= wrong:
            return WESTERN
        before = head[: error.start]
        line = 1 + before.count(b"\n") + before.count(b"\r") - before.count(b"\r\n")
        raise refused(name, Fault.ENCODING, line=line) from None


def _strange(head: bytes) -> int:
    """How many bytes no text has."""
    return len(head) - len(head.translate(None, bytes(range(9)) + bytes(range(14, 27)) + bytes(range(28, 32))))


def _check_is_table(text: str, name: str) -> None:
    start = text.lstrip("\ufeff \t\r\n")[:2000].lower()
    if re.match(r"<!doctype html|<html|<head|<body|<table", start):
        raise refused(name, Fault.HTML)
    if re.match(r"<\?xml|<[a-z]+[^,;\t|]*>\s*<", start):
        raise refused(name, Fault.HTML if "<html" in start else Fault.XML)
    if re.match(r'\{\s*"|\[\s*[\[{]|\{\s*\}|\[\s*\]', start):
        raise refused(name, Fault.JSON)


def _is_workbook(path: Path) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            return any(name.startswith(("xl/", "[Content_Types]", "content.xml")) for name in archive.namelist())
    except (zipfile.BadZipFile, OSError):
        return False
