"""A file in the body of a form, as it comes: block by block, so that nothing of it is held or written twice."""

from __future__ import annotations

from typing import Any

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from .refused import Refused

#: How many bytes may stand around the file: the fields of a form.
AROUND = 1_000_000
_BROKEN = "the upload is not a form with a file: choose the file on the page and send it from there"


class FilePart:
    """The part ``file`` of a form sent as ``multipart/form-data``; other parts are its ``fields``.

    >>> part = FilePart('multipart/form-data; boundary="x"')
    >>> sent = b'--x\\r\\nContent-Disposition: form-data; name="file"; filename="a.csv"\\r\\n\\r\\na,b\\r\\n--x--\\r\\n'
    >>> part.fed(sent[:50]), part.name, part.fed(sent[50:]), part.name, part.whole
    (b'', None, b'a,b', 'a.csv', True)
    """

    def __init__(self, content_type: str) -> None:
        kind, options = parse_options_header(content_type)
        boundary = options.get(b"boundary")
        if kind != b"multipart/form-data" or not boundary or len(boundary) > 200:
            raise Refused(_BROKEN, 400, "file")
        self.name: str | None = None
        self.whole = False
        self.fields: list[tuple[str, str]] = []  # the other parts, as text
        self._blocks: list[bytes] = []
        self._around = 0
        self._within = False  # the part that is being read is the file
        self._header: list[bytes] = [b"", b""]
        self._disposition, self._field = b"", bytearray()
        calls: Any = {
            "on_part_begin": self._begun,
            "on_header_field": lambda data, start, end: self._add(0, data[start:end]),
            "on_header_value": lambda data, start, end: self._add(1, data[start:end]),
            "on_header_end": self._header_ended,
            "on_headers_finished": self._headers_ended,
            "on_part_data": self._data,
            "on_part_end": self._part_ended,
            "on_end": self._ended,
        }
        self._parser = MultipartParser(boundary, calls)

    def fed(self, chunk: bytes) -> bytes:
        """The bytes of the file in the next piece of the body."""
        try:
            self._parser.write(chunk)
        except FormParserError:
            raise Refused(_BROKEN, 400, "file") from None
        made = b"".join(self._blocks)
        self._blocks.clear()
        return made

    def _begun(self) -> None:
        self._within, self._disposition, self._field = False, b"", bytearray()

    def _add(self, place: int, text: bytes) -> None:
        self._count(len(text))
        self._header[place] += text

    def _count(self, more: int) -> None:
        self._around += more
        if self._around > AROUND:
            raise Refused(_BROKEN, 413, "file")

    def _header_ended(self) -> None:
        name, value = self._header
        if name.lower() == b"content-disposition":
            self._disposition = value
        self._header = [b"", b""]

    def _headers_ended(self) -> None:
        _, options = parse_options_header(self._disposition)
        if options.get(b"name") == b"file" and b"filename" in options:
            if self.name is not None:
                raise Refused("two files were sent: choose one", 400, "file")
            self.name, self._within = options[b"filename"].decode("utf-8", "replace"), True

    def _data(self, data: bytes, start: int, end: int) -> None:
        if self._within:
            self._blocks.append(data[start:end])
        else:
            self._count(end - start)
            self._field += data[start:end]

    def _part_ended(self) -> None:
        _, options = parse_options_header(self._disposition)
        name = options.get(b"name", b"")
        if not self._within and name and b"filename" not in options:
            self.fields.append((name.decode("utf-8", "replace"), self._field.decode("utf-8", "replace")))

    def _ended(self) -> None:
        self.whole = True
