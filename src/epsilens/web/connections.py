"""A server that ends in time: uvicorn itself waits for the head of a request, and for a body, for ever."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

#: Seconds that an idle connection, and at the end requests that are being answered, are waited for.
_KEEP_ALIVE, _GRACE = 20, 5
_CONNECTIONS = 300


class Connection(H11Protocol):
    """HTTP/1.1 as uvicorn speaks it, with a limit on how long the head of a request may take to come."""

    #: From the connection, or the first byte, to the end of the head.
    head_seconds = 10.0
    _clock: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Expect a request."""
        super().connection_made(transport)
        self._expect()

    def data_received(self, data: bytes) -> None:
        """Take what came; what is not a whole head yet must become one soon."""
        super().data_received(data)
        if self._asked():
            self._forget()
        elif self._clock is None:
            self._expect()

    def connection_lost(self, exc: Exception | None) -> None:
        """Expect nothing more."""
        self._forget()
        super().connection_lost(exc)

    def _asked(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _expect(self) -> None:
        self._clock = self.loop.call_later(self.head_seconds, self._late)

    def _forget(self) -> None:
        if self._clock is not None:
            self._clock.cancel()
            self._clock = None

    def _late(self) -> None:
        self._clock = None
        if not self._asked():
            self.transport.close()


class Server(uvicorn.Server):
    """uvicorn with few connections and no access log; ``stop`` is called before it waits for what is being answered."""

    def __init__(self, app: Any, stop: Callable[[], None]) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                http=Connection,
                log_level="warning",
                access_log=False,  # addresses carry what people entered
                server_header=False,
                limit_concurrency=_CONNECTIONS,
                timeout_keep_alive=_KEEP_ALIVE,
                timeout_graceful_shutdown=_GRACE,
            )
        )
        self._stop = stop

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End in order."""
        self._stop()
        await super().shutdown(sockets)
