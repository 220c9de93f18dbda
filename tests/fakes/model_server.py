"""A scripted server that speaks the chat completions API, well or badly. No language model is behind it."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Say:
    """One reply: its text in pieces of so many characters, and what is wrong with it."""

    text: str = ""
    piece: int = 1_000
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    slow_head_s: float = 0.0  # between the bytes of the head
    pause_s: float = 0.0  # between the pieces of the text
    finish: str | None = "stop"  # None: cut off
    comments: int = 0  # megabytes of stream comments before the text
    raw: bytes | None = None  # in the stream's place

    def body(self) -> Iterator[bytes]:
        if self.raw is not None:
            yield self.raw
            return
        for _ in range(self.comments):
            yield b": keep waiting\n\n" * (1_000_000 // 16)
        for start in range(0, len(self.text), self.piece):
            time.sleep(self.pause_s)
            yield _event({"content": self.text[start : start + self.piece]})
        if self.finish is not None:
            yield _event({}, self.finish) + b"data: [DONE]\n\n"


def _event(delta: dict[str, Any], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    event = {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "m", "choices": [choice]}
    return b"data: " + json.dumps(event).encode() + b"\n\n"


@dataclass
class ModelServer:
    """Gives its replies in order, the last one again and again; `asked` keeps what came in."""

    replies: list[Say] = field(default_factory=list)
    asked: list[dict[str, Any]] = field(default_factory=list)
    knows_schemas: bool = True

    def __enter__(self) -> ModelServer:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def says(self, *replies: Say | str) -> ModelServer:
        self.asked.clear()
        self.replies = [Say(reply) if isinstance(reply, str) else reply for reply in replies]
        return self

    @property
    def prompts(self) -> list[str]:
        return ["\n".join(m["content"] for m in body["messages"]) for body in self.asked]

    def next_reply(self, body: dict[str, Any]) -> Say:
        self.asked.append(body)
        if "response_format" in body and not self.knows_schemas:
            return Say(status=400, raw=b'{"error": {"message": "response_format is not supported"}}')
        return self.replies[0] if len(self.replies) == 1 else self.replies.pop(0)


def _handler(server: ModelServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            reply = server.next_reply(body)
            kind = "text/event-stream" if reply.status == 200 else "application/json"
            head = [f"HTTP/1.1 {reply.status} X", f"Content-Type: {kind}", "Connection: close"]
            head += [f"{name}: {value}" for name, value in reply.headers]
            with suppress(OSError):
                for byte in "\r\n".join([*head, "", ""]).encode():
                    time.sleep(reply.slow_head_s)
                    self.wfile.write(bytes([byte]))
                for piece in reply.body():
                    self.wfile.write(piece)
                    self.wfile.flush()
            self.close_connection = True

        def log_message(self, *_: Any) -> None:
            """Quiet."""

    return Handler


def by_schema(*claims: tuple[str, str], **more: Any) -> str:
    """A reply as the schema wants it, from pairs of text and sources ("S1 S2")."""
    return json.dumps(
        {"claims": [{"text": text, "sources": sources.split()} for text, sources in claims], **more},
        ensure_ascii=False,
    )
