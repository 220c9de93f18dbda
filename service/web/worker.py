"""gunicorn's threaded worker, whose threads are for requests that have arrived.

As it comes (27.0.1) a thread reads a request without a timeout, so half a request for each thread stops a process
and its health check for good. A new connection that sends nothing holds a thread for five seconds, so does a body
that nobody wants, and a client that does not hang up holds the loop that accepts for two. Here all of these wait in
the loop's poller, and a thread gets a request when its head is complete. What is left is a body that comes slowly:
only a good token gets as far as that, and it has REQUEST_READ_S. test_gunicorn.py holds the worker to this.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from selectors import EVENT_READ
from typing import Any

from gunicorn.workers.gthread import ThreadWorker

HEAD_MAX = 32_768
HEAD_S = 5.0  # from the first byte to the end of the head
REQUEST_READ_S = 10.0  # from the end of the head to the last byte of the body
UNREAD_BODY_S = 0.02  # for what is left of a body that was refused, so that the connection can be used again
HANG_UP_S = 2.0  # as long as gunicorn waits
_TOO_LARGE = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\nConnection: close\r\nContent-Type: application/json\r\n\r\n"
    b'{"error":{"code":"HEADERS_TOO_LARGE","message":"The headers are larger than this service accepts."}}\n'
)


class PatientWorker(ThreadWorker):  # type: ignore[misc]
    """gthread that waits with the poller, never with a thread."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # Connection in the poller → when it is dropped, and how many bytes of its head have been seen.
        self._waiting: dict[Any, tuple[float, int]] = {}
        self._busy: dict[Any, float] = {}  # connection in a thread → since when

    def enqueue_req(self, conn: Any) -> None:
        """Called for every connection that is new or has something to read."""
        if self.cfg.is_ssl:
            super().enqueue_req(conn)
            return
        deadline, seen = self._waiting.pop(conn, (time.monotonic() + HEAD_S, 0))
        known = conn.parser.unreader.buf.getvalue() if conn.parser else b""
        conn.sock.setblocking(False)
        try:
            coming = conn.sock.recv(HEAD_MAX, socket.MSG_PEEK)
        except BlockingIOError:
            coming = None
        except OSError:
            coming = b""
        head = known + (coming or b"")
        if b"\r\n\r\n" in head:
            conn.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, 1)
            conn.data_ready = True
            super().enqueue_req(conn)
        elif coming == b"" or len(coming or b"") == seen > 0:
            self._drop(conn)  # the client has gone in the middle of its head
        elif len(head) >= HEAD_MAX:
            with suppress(OSError):
                conn.sock.send(_TOO_LARGE)
            self._hang_up(conn)
        else:
            # Woken by one byte more than there is: what has been seen wakes nobody again.
            self._wait(conn, deadline, self._more_has_come, len(coming or b""))

    def handle(self, conn: Any) -> Any:
        self._busy[conn] = time.monotonic()
        try:
            return super().handle(conn)
        finally:
            del self._busy[conn]

    def finish_request(self, conn: Any, done: Future[Any]) -> None:
        if done.cancelled() or done.exception() is not None or done.result():
            super().finish_request(conn, done)
        else:
            self._hang_up(conn)

    def murder_pending(self) -> None:
        """Called by the loop after each turn, at least once a second."""
        super().murder_pending()
        now = time.monotonic()
        for conn in [conn for conn, (deadline, _) in self._waiting.items() if deadline <= now]:
            self._unwatch(conn)
            self._drop(conn)
        for conn, since in self._busy.copy().items():
            if now - since > REQUEST_READ_S:
                # What reads sees the end of the stream; what has read its request is free to answer, until the time
                # is over in which gunicorn wants a sign of life.
                over = now - since > self.cfg.timeout
                with suppress(OSError):
                    conn.sock.shutdown(socket.SHUT_RDWR if over else socket.SHUT_RD)

    def _keepalive_after(self, conn: Any, keepalive: bool) -> bool:
        return keepalive and bool(conn.parser.finish_body(deadline=time.monotonic() + UNREAD_BODY_S))

    def _more_has_come(self, conn: Any, client: socket.socket) -> None:
        self.poller.unregister(client)
        self.enqueue_req(conn)

    def _hang_up(self, conn: Any) -> None:
        """Says that nothing more comes, and lets the client do the same: with bytes unread, closing at once would
        cut off the answer that is still on its way."""
        try:
            conn.sock.shutdown(socket.SHUT_WR)
            self._wait(conn, time.monotonic() + HANG_UP_S, self._read_to_the_end)
        except (OSError, ValueError):
            self._drop(conn)

    def _read_to_the_end(self, conn: Any, client: socket.socket) -> None:
        try:
            more = client.recv(65_536)
        except BlockingIOError:
            return
        except OSError:
            more = b""
        if not more:
            self._unwatch(conn)
            self._drop(conn)

    def _wait(
        self, conn: Any, deadline: float, readable: Callable[[Any, socket.socket], None], seen: int = 0
    ) -> None:
        conn.sock.setblocking(False)
        conn.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, seen + 1)
        self.poller.register(conn.sock, EVENT_READ, partial(readable, conn))
        self._waiting[conn] = deadline, seen

    def _unwatch(self, conn: Any) -> None:
        self._waiting.pop(conn, None)
        with suppress(OSError, KeyError, ValueError):
            self.poller.unregister(conn.sock)

    def _drop(self, conn: Any) -> None:
        self.nr_conns -= 1
        conn.close()
