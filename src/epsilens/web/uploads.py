"""Files that visitors brought: each kept for the visit, under a token, and gone with it.

A file is written as it comes to a private folder that goes with this process, however that ends
(:class:`~epsilens.data.tables.folder.Folder`). Its token cannot be guessed and opens it only in the browser that sent
it: a link that leaks shows nothing. It is forgotten after half an hour without a request that names it.
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
from starlette.requests import ClientDisconnect

from ..data.tables.folder import Folder
from .log import note
from .receiving import AROUND, FilePart
from .refused import Refused
from .security import Limits

if TYPE_CHECKING:
    from starlette.requests import Request

__all__ = ["ENDINGS", "Upload", "Uploads", "cleaned"]

ENDINGS = (".csv.gz", ".tsv.gz", ".csv", ".tsv", ".txt", ".parquet", ".pq")
_KINDS = "a CSV (.csv, .tsv, .csv.gz) or Parquet (.parquet) file"
#: Files people have tables in that are not read, and what to do with them.
_REMEDIES = {
    (".xlsx", ".xls", ".xlsm", ".ods", ".numbers"): "save the sheet as CSV",
    (".sav", ".dta", ".sas7bdat", ".rds", ".rdata"): "export the table as CSV or Parquet",
    (".zip", ".7z", ".rar", ".tar", ".tgz", ".bz2", ".xz", ".zst"): "unpack it",
    (".json", ".jsonl", ".xml", ".pdf", ".docx", ".db", ".sqlite", ".duckdb"): "export the table as CSV or Parquet",
}
#: How many bytes are gathered before they are written.
_BLOCK = 1 << 20


@dataclass(eq=False)
class Upload:
    """One file of one visitor."""

    token: str
    visitor: str
    name: str  # as it was called, without what a name should not hold
    path: Path  # a name of ours: nothing of the sender's reaches the file system
    size: int = 0
    digest: str = ""  # a hash that only this server can compute: it tells files apart and gives none of them away
    understood: dict[str, Any] | None = None  # the worker's answer, once it has looked
    used: float = field(default_factory=time.monotonic)


class Uploads:
    """The files that are kept now."""

    def __init__(self, limits: Limits) -> None:
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
        """Forget every file."""
        with self._lock:
            self._held.clear()
            folder, self._folder = self._folder, None
        if folder is not None:
            folder.close()

    async def receive(self, request: Request, *, need: bool = True) -> Upload | None:
        """The file of a form, written as it comes; a refusal comes before anything was read where it can.

        The other fields of the form are then under ``request.state.fields``. None where none was chosen and none is
        needed.
        """
        visitor: str = request.state.visitor
        part = FilePart(request.headers.get("content-type", ""))
        request.state.fields = part.fields
        most = self.limits.upload_bytes
        length = request.headers.get("content-length", "")
        stated = int(length) if length.isdigit() else most
        if stated > most + AROUND:
            raise Refused(_too_large(most), 413, "file")
        with self._place(min(stated, most)) as token:
            upload: Upload | None = None
            try:
                upload = await self._written(request, part, token, visitor)
            except ClientDisconnect:
                note("an upload was cut off; what had come of it is removed")
                raise Refused("the upload was cut off: send the file again", 400, "file") from None
            except Refused:
                if need or part.name or not part.whole:
                    raise
                return None
            finally:
                if upload is None:
                    await run_in_threadpool(shutil.rmtree, self.open() / token, True)
        with self._lock:
            self._held[token] = upload
            own = [u for u in self._held.values() if u.visitor == visitor]
        for old in sorted(own, key=lambda u: u.used)[: -self.limits.uploads_each]:
            self.drop(old.token, visitor)
        return upload

    async def _written(self, request: Request, part: FilePart, token: str, visitor: str) -> Upload:
        upload: Upload | None = None
        made = hmac.new(self._key, digestmod=hashlib.sha256)
        with contextlib.ExitStack() as stack:
            file: Any = None
            waiting = bytearray()

            def save(to: Upload) -> None:
                if to.size == 0 and waiting:
                    _check_start(bytes(waiting[:4]), to)
                to.size += len(waiting)
                if to.size > self.limits.upload_bytes:
                    raise Refused(_too_large(self.limits.upload_bytes), 413, "file")
                made.update(waiting)
                try:
                    file.write(waiting)
                except OSError as error:
                    raise Refused(f"the file could not be kept ({error.strerror}): {_ELSEWHERE}", 507, "file") from None
                waiting.clear()

            async for chunk in request.stream():
                waiting += part.fed(chunk)
                if upload is None and part.name is not None:
                    upload = Upload(token, visitor, *self._named(part.name, token))
                    file = stack.enter_context(await run_in_threadpool(_created, upload.path))
                if upload is not None and len(waiting) >= (_BLOCK if upload.size else 4):
                    await run_in_threadpool(save, upload)
            if upload is None or part.name == "":
                raise Refused(f"the file is missing: choose {_KINDS}", 422, "file")
            if not part.whole:
                raise Refused("the upload was cut off: send the file again", 400, "file")
            await run_in_threadpool(save, upload)
        if upload.size == 0:
            raise Refused(f"{upload.name!r} is empty: give a table with a line of column names and rows", 422, "file")
        upload.digest = made.hexdigest()[:16]
        return upload

    def _named(self, name: str, token: str) -> tuple[str, Path]:
        shown = cleaned(name)
        ending = next((e for e in ENDINGS if shown.lower().endswith(e)), None)
        if name and ending is None:
            lower = shown.lower()
            remedy = next((words for endings, words in _REMEDIES.items() if lower.endswith(endings)), None)
            advice = f"{remedy} first, because the page reads CSV and Parquet" if remedy else f"give {_KINDS}"
            raise Refused(f"the file is {shown!r}: {advice}", 422, "file")
        return shown, self.open() / token / f"upload{ending or ''}"

    @contextlib.contextmanager
    def _place(self, most: int) -> Iterator[str]:
        """A place among the files that come and are kept, and a token for one more."""
        token = secrets.token_urlsafe(32)
        free = shutil.disk_usage(self.open()).free
        with self._lock:
            coming = sum(self._coming.values())
            kept = sum(upload.size for upload in self._held.values())
            if len(self._coming) >= self.limits.receiving:
                n = self.limits.receiving
                raise Refused(f"{n} files are being received already: try again in a moment", 503, "file")
            if kept + coming + most > self.limits.kept_bytes:
                raise Refused(f"the server keeps as many files as it may: forget one, or {_ELSEWHERE}", 503, "file")
            if free - coming - most < self.limits.disk_spare:
                raise Refused(f"the disk of the server is nearly full: {_ELSEWHERE}", 507, "file")
            self._coming[token] = most
        try:
            yield token
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
        """Forget a file."""
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


_ELSEWHERE = "use the command line, which reads the file where it is"


def _too_large(most: int) -> str:
    return f"the file is larger than {most / 1e6:g} MB: {_ELSEWHERE}"


def _created(path: Path) -> Any:
    path.parent.mkdir(mode=0o700)
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb", buffering=0)


def _check_start(start: bytes, upload: Upload) -> None:
    """Refuse a file that is not what its name says."""
    parquet, packed = start == b"PAR1", start.startswith(b"\x1f\x8b")
    ending = upload.path.suffix
    if start == b"PK\x03\x04":
        wrong = "it is a spreadsheet or an archive; save the sheet as CSV"
    elif parquet != (ending in (".parquet", ".pq")):
        wrong = "it is a Parquet file, so name it .parquet" if parquet else "it is not a Parquet file"
    elif packed != (ending == ".gz"):
        wrong = "it is packed with gzip, so name it .csv.gz" if packed else "it is not packed with gzip; name it .csv"
    else:
        return
    raise Refused(f"the file is {upload.name!r}: {wrong}", 422, "file")


def cleaned(name: str) -> str:
    """The name of a file without folders, control characters and signs that turn the direction of text.

    >>> cleaned("C:\\\\me\\\\stays\\u202e 2024\\n.csv"), cleaned("x" * 200 + ".csv")[-8:]
    ('stays 2024.csv', 'xxxx.csv')
    """
    last = name.replace("\\", "/").rsplit("/", 1)[-1]
    text = "".join(c for c in last if unicodedata.category(c)[0] != "C").strip()
    return text if len(text) <= 100 else f"{text[:89]}…{text[-10:]}"
