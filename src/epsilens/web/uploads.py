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
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastapi.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect

from ..data.tables.folder import Folder
from .filenames import READ, check_start, cleaned, ending_of
from .log import note
from .receiving import AROUND, FilePart
from .refused import Refused
from .security import Limits

if TYPE_CHECKING:
    from starlette.requests import Request


#: How many bytes are gathered before they are written; the first few say what a file is.
_BLOCK, _START = 1 << 20, 4


async def _rest(request: Request, part: FilePart) -> None:
    """Read on for the other fields of a form whose file is refused: what was typed is not lost with it."""
    with contextlib.suppress(Refused, ClientDisconnect, RuntimeError):  # the body may have been read to its end
        async for chunk in request.stream():
            part.fed(chunk)


_ELSEWHERE = "use the command line, which reads the file where it is"


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
        """The file of a form, written as it comes; where a form must have one, a refusal comes before it is read.

        The other fields of the form are then under ``request.state.fields``. None where none was chosen and none is
        needed.
        """
        part = FilePart(request.headers.get("content-type", ""))
        request.state.fields = part.fields
        most = self.limits.upload_bytes
        length = request.headers.get("content-length", "")
        stated = int(length) if length.isdigit() else most
        if stated > most + AROUND:
            raise Refused(_too_large(most), 413, "file")
        token, upload = secrets.token_urlsafe(32), None
        with contextlib.ExitStack() as held:
            if need:
                held.enter_context(self._place(token, min(stated, most)))
            try:
                writing: _Writing | None = None
                async for chunk in request.stream():
                    block = part.fed(chunk)
                    if part.name and writing is None:
                        if not need:
                            held.enter_context(self._place(token, min(stated, most)))
                        made = await run_in_threadpool(_Writing, part.name, self.open() / token, self._key, most)
                        writing = held.enter_context(made)
                    if writing is not None:
                        await writing.add(block)
                if not part.whole:
                    raise Refused("the upload was cut off: send the file again", 400, "file")
                if writing is not None:
                    upload = await run_in_threadpool(writing.ended, token, request.state.visitor)
                elif need:
                    raise Refused(f"the file is missing: choose {READ}", 422, "file")
            except ClientDisconnect:
                note("an upload was cut off; what had come of it is removed")
                raise Refused("the upload was cut off: send the file again", 400, "file") from None
            except Refused as error:
                if error.status == 422:
                    await _rest(request, part)
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
                raise Refused(f"{n} files are being received already: try again in a moment", 503, "file")
            if kept + coming + most > self.limits.kept_bytes:
                raise Refused(f"the server keeps as many files as it may: forget one, or {_ELSEWHERE}", 503, "file")
            if free - coming - most < self.limits.disk_spare:
                raise Refused(f"the disk of the server is nearly full: {_ELSEWHERE}", 507, "file")
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


class _Writing:
    """A file on its way to the disk: counted, looked at, and hashed as it comes."""

    def __init__(self, name: str, folder: Path, key: bytes, most: int) -> None:
        self.name = cleaned(name)
        self._ending = ending_of(self.name)
        self._most, self._size, self._waiting = most, 0, bytearray()
        self._hash = hmac.new(key, digestmod=hashlib.sha256)
        folder.mkdir(mode=0o700)
        self._path = folder / f"upload{self._ending}"
        self._file = os.fdopen(os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")

    def __enter__(self) -> _Writing:
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
            raise Refused(_too_large(self._most), 413, "file")
        self._hash.update(self._waiting)
        try:
            self._file.write(self._waiting)
            self._file.flush()
        except OSError as error:
            raise Refused(f"the file could not be kept ({error.strerror}): {_ELSEWHERE}", 507, "file") from None
        self._waiting.clear()

    def ended(self, token: str, visitor: str) -> Upload:
        self._save()
        return Upload(token, visitor, self.name, self._path, self._size, self._hash.hexdigest()[:16])


def _too_large(most: int) -> str:
    return f"the file is larger than {most / 1e6:g} MB: {_ELSEWHERE}"
