"""Files that visitors brought: each kept for the visit, under a token, and gone with it.

A file is written as it comes to a private folder that goes with this process, however that ends
(:class:`~epsilens.data.tables.resources.Folder`). Its token cannot be guessed and opens it only in the browser that
sent it: a link that leaks shows nothing. It is forgotten after half an hour without a request that names it.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import secrets
import shutil
import threading
import time
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastapi.concurrency import run_in_threadpool
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.requests import ClientDisconnect

from ..data.tables.resources import Folder
from .limits import RequestError, ServerLimits, log_line

if TYPE_CHECKING:
    from starlette.requests import Request


#: What the page reads, in words.
FORMATS = "a CSV (.csv, .tsv, .csv.gz) or Parquet (.parquet) file"
EXTENSIONS = (".csv.gz", ".tsv.gz", ".csv", ".tsv", ".txt", ".parquet", ".pq")
#: Files people have tables in that are not read, and what to do with them first.
_REMEDIES = {
    (".xlsx", ".xls", ".xlsm", ".ods", ".numbers"): "save the sheet as CSV",
    (".zip", ".7z", ".rar", ".tar", ".tar.gz", ".tgz", ".bz2", ".xz", ".zst"): "unpack it",
    (".sav", ".dta", ".sas7bdat", ".rds", ".rdata", ".json", ".jsonl", ".xml", ".pdf", ".docx", ".db", ".sqlite",
     ".duckdb", ".feather", ".arrow"): "export the table as CSV or Parquet",
}  # fmt: skip


def clean_name(name: str) -> str:
    """The name of a file without folders, control characters and signs that turn the direction of text.

    >>> clean_name("C:\\\\me\\\\stays\\u202e 2024\\n.csv"), clean_name("x" * 200 + ".csv")[-8:]
    ('stays 2024.csv', 'xxxx.csv')
    """
    last = name.replace("\\", "/").rsplit("/", 1)[-1]
    text = "".join(c for c in last if unicodedata.category(c)[0] != "C").strip()
    return text if len(text) <= 100 else f"{text[:89]}…{text[-10:]}"


def extension_of(name: str) -> str:
    """How the name of a table that can be read ends; other files are refused with what to do.

    >>> extension_of("Stays.CSV.GZ")
    '.csv.gz'
    """
    lower = name.lower()
    for ending in EXTENSIONS:
        if lower.endswith(ending):
            return ending
    remedy = next((words for endings, words in _REMEDIES.items() if lower.endswith(endings)), None)
    advice = f"{remedy} first, because the page reads CSV and Parquet" if remedy else f"give {FORMATS}"
    raise RequestError(f"the file is {name!r}: {advice}", 422, "file")


def check_start(start: bytes, name: str, ending: str) -> None:
    parquet, packed = start[:4] == b"PAR1", start[:2] == b"\x1f\x8b"
    if not start:
        raise RequestError(f"{name!r} is empty: give a table with a line of column names and rows", 422, "file")
    if start[:4] == b"PK\x03\x04":
        wrong = "it is a spreadsheet or an archive; save the sheet as CSV"
    elif parquet != (ending in (".parquet", ".pq")):
        wrong = "it is a Parquet file, so name it .parquet" if parquet else "it is not a Parquet file"
    elif packed != ending.endswith(".gz"):
        wrong = "it is packed with gzip, so name it .csv.gz" if packed else "it is not packed with gzip; name it .csv"
    else:
        return
    raise RequestError(f"the file is {name!r}: {wrong}", 422, "file")


#: How many bytes may stand around the file: the fields of a form.
MOST_FIELD_BYTES = 1_000_000
_BAD_FORM = "the upload is not a form with a file: choose the file on the page and send it from there"


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
            raise RequestError(_BAD_FORM, 400, "file")
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
            raise RequestError(_BAD_FORM, 400, "file") from None
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
        if self._around > MOST_FIELD_BYTES:
            raise RequestError(_BAD_FORM, 413, "file")

    def _header_ended(self) -> None:
        name, value = self._header
        if name.lower() == b"content-disposition":
            self._disposition = value
        self._header = [b"", b""]

    def _headers_ended(self) -> None:
        _, options = parse_options_header(self._disposition)
        if options.get(b"name") == b"file" and b"filename" in options:
            if self.name is not None:
                raise RequestError("two files were sent: choose one", 400, "file")
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


#: How many bytes are gathered before they are written; the first few say what a file is.
_BLOCK, _START = 1 << 20, 4


async def _read_other_fields(request: Request, part: FilePart) -> None:
    """Read on for the other fields of a form whose file is refused: what was typed is not lost with it."""
    with contextlib.suppress(RequestError, ClientDisconnect, RuntimeError):  # the body may have been read to its end
        async for chunk in request.stream():
            part.fed(chunk)


_USE_COMMAND = "use the command line, which reads the file where it is"


@dataclass(eq=False)
class Upload:
    token: str
    visitor: str
    name: str  # as it was called, without what a name should not hold
    path: Path  # a name of ours: nothing of the sender's reaches the file system
    size: int = 0
    digest: str = ""  # a hash that only this server can compute: it tells files apart and gives none of them away
    understood: dict[str, Any] | None = None  # the worker's answer, once it has looked
    used: float = field(default_factory=time.monotonic)


class Uploads:
    def __init__(self, limits: ServerLimits) -> None:
        self.limits = limits
        self._key = secrets.token_bytes(32)
        self._held: dict[str, Upload] = {}
        self._lock = threading.Lock()
        self._folder: Folder | None = None
        self._coming: dict[str, int] = {}  # files that are being received, and the most each can become

    def open(self) -> Path:
        """The folder of all files; making it also removes what a server that lost its power left behind."""
        with self._lock:
            if self._folder is None:
                self._folder = Folder()
            return self._folder.path

    def close(self) -> None:
        with self._lock:
            self._held.clear()
            folder, self._folder = self._folder, None
        if folder is not None:
            folder.close()

    async def receive(self, request: Request, *, need: bool = True) -> Upload | None:
        """The file of a form, written as it comes; where a form must have one, a refusal comes before it is read.

        The other fields of the form are then under ``request.state.fields``. None where none was chosen and none is
        needed.
        """
        part = FilePart(request.headers.get("content-type", ""))
        request.state.fields = part.fields
        most = self.limits.upload_bytes
        length = request.headers.get("content-length", "")
        stated = int(length) if length.isdigit() else most
        if stated > most + MOST_FIELD_BYTES:
            raise RequestError(_too_large(most), 413, "file")
        token, upload = secrets.token_urlsafe(32), None
        with contextlib.ExitStack() as held:
            if need:
                held.enter_context(self._place(token, min(stated, most)))
            try:
                writing: _UploadWriter | None = None
                async for chunk in request.stream():
                    block = part.fed(chunk)
                    if part.name and writing is None:
                        if not need:
                            held.enter_context(self._place(token, min(stated, most)))
                        made = await run_in_threadpool(_UploadWriter, part.name, self.open() / token, self._key, most)
                        writing = held.enter_context(made)
                    if writing is not None:
                        await writing.add(block)
                if not part.whole:
                    raise RequestError("the upload was cut off: send the file again", 400, "file")
                if writing is not None:
                    upload = await run_in_threadpool(writing.ended, token, request.state.visitor)
                elif need:
                    raise RequestError(f"the file is missing: choose {FORMATS}", 422, "file")
            except ClientDisconnect:
                log_line("an upload was cut off; what had come of it is removed")
                raise RequestError("the upload was cut off: send the file again", 400, "file") from None
            except RequestError as error:
                if error.status == 422:
                    await _read_other_fields(request, part)
                raise
            finally:
                if upload is None:
                    await run_in_threadpool(shutil.rmtree, self.open() / token, True)
        if upload is not None:
            self._keep(upload)
        return upload

    def _keep(self, upload: Upload) -> None:
        with self._lock:
            self._held[upload.token] = upload
            own = [u for u in self._held.values() if u.visitor == upload.visitor]
        for old in sorted(own, key=lambda u: u.used)[: -self.limits.uploads_each]:
            self._forget(old)

    @contextlib.contextmanager
    def _place(self, token: str, most: int) -> Iterator[None]:
        """A place among the files that come and are kept."""
        free = shutil.disk_usage(self.open()).free
        with self._lock:
            coming = sum(self._coming.values())
            kept = sum(upload.size for upload in self._held.values())
            if len(self._coming) >= self.limits.receiving:
                n = self.limits.receiving
                raise RequestError(f"{n} files are being received already: try again in a moment", 503, "file")
            if kept + coming + most > self.limits.kept_bytes:
                raise RequestError(
                    f"the server keeps as many files as it may: forget one, or {_USE_COMMAND}", 503, "file"
                )
            if free - coming - most < self.limits.disk_spare:
                raise RequestError(f"the disk of the server is nearly full: {_USE_COMMAND}", 507, "file")
            self._coming[token] = most
        try:
            yield
        finally:
            with self._lock:
                del self._coming[token]

    def get(self, token: str, visitor: str) -> Upload | None:
        """The file of a token, for the visitor who sent it; asking keeps it for another while."""
        with self._lock:
            upload = self._held.get(token)
            if upload is None or not hmac.compare_digest(upload.visitor, visitor):
                return None
            upload.used = time.monotonic()
            return upload

    def drop(self, token: str, visitor: str) -> None:
        upload = self.get(token, visitor)
        if upload is not None:
            self._forget(upload)

    def expire(self) -> list[Upload]:
        """Forget the files of visits that ended, and say which."""
        since = time.monotonic() - self.limits.visit_seconds
        with self._lock:
            old = [upload for upload in self._held.values() if upload.used < since]
        for upload in old:
            self._forget(upload)
        return old

    def _forget(self, upload: Upload) -> None:
        with self._lock:
            self._held.pop(upload.token, None)
        shutil.rmtree(upload.path.parent, ignore_errors=True)


class _UploadWriter:
    """A file on its way to the disk: counted, looked at, and hashed as it comes."""

    def __init__(self, name: str, folder: Path, key: bytes, most: int) -> None:
        self.name = clean_name(name)
        self._ending = extension_of(self.name)
        self._most, self._size, self._waiting = most, 0, bytearray()
        self._hash = hmac.new(key, digestmod=hashlib.sha256)
        folder.mkdir(mode=0o700)
        self._path = folder / f"upload{self._ending}"
        self._file = os.fdopen(os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")

    def __enter__(self) -> _UploadWriter:
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):  # what a full disk did not take is gone with the file
            self._file.close()

    async def add(self, block: bytes) -> None:
        self._waiting += block
        if len(self._waiting) >= (_BLOCK if self._size else _START):
            await run_in_threadpool(self._save)

    def _save(self) -> None:
        if self._size == 0:
            check_start(bytes(self._waiting[:_START]), self.name, self._ending)
        self._size += len(self._waiting)
        if self._size > self._most:
            raise RequestError(_too_large(self._most), 413, "file")
        self._hash.update(self._waiting)
        try:
            self._file.write(self._waiting)
            self._file.flush()
        except OSError as error:
            raise RequestError(f"the file could not be kept ({error.strerror}): {_USE_COMMAND}", 507, "file") from None
        self._waiting.clear()

    def ended(self, token: str, visitor: str) -> Upload:
        self._save()
        return Upload(token, visitor, self.name, self._path, self._size, self._hash.hexdigest()[:16])


def _too_large(most: int) -> str:
    return f"the file is larger than {most / 1e6:g} MB: {_USE_COMMAND}"
