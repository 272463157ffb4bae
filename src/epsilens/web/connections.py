"""Connections that do not come to the point are closed: uvicorn itself waits for the head of a request for ever."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

__all__ = ["Connection"]


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
