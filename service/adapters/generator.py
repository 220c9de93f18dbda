"""A language model behind an OpenAI-compatible endpoint.

The server is not trusted: no redirect is followed, no proxy of the environment used, no retry made. The time holds
for the whole reply, not for each read, and bytes are counted below the client, which would read a stream of comments
for ever.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from typing import Any

import httpx2
import openai
from openai.types.chat import (
    ChatCompletionMessageParam,
    ChatCompletionSystemMessageParam,
    ChatCompletionUserMessageParam,
)

from service.domain.ports import Message, Prompt
from service.errors import GenerationFailed

MOST_BYTES = 2_000_000  # of one reply on the wire; each piece of a stream is wrapped in some 300 bytes
MOST_CHARACTERS = 64_000  # of the reply itself
_CONNECT_S = 2.0
_NO_SCHEMA = (400, 404, 415, 422, 501)  # what servers say that do not know `response_format`

# Its debug level writes down what is asked, which is documents, and what is said.
logging.getLogger("openai").setLevel(logging.WARNING)


class OpenAiGenerator:
    """`reply` may be called from many threads."""

    def __init__(self, url: str, model: str, api_key: str | None) -> None:
        self._url, self._model = url, model
        self._certificates = httpx2.create_ssl_context()  # once: reading them takes longer than a small reply
        self._api_key = api_key or "none"  # The client insists on one; a server without keys ignores it.

    @property
    def identity(self) -> str:
        return self._model

    def reply(self, prompt: Prompt, timeout_s: float) -> str:
        with httpx2.Client(
            transport=_Bounded(verify=self._certificates),
            headers={"Accept-Encoding": "identity"},
            timeout=httpx2.Timeout(timeout_s, connect=min(_CONNECT_S, timeout_s)),
            trust_env=False,
            follow_redirects=False,
        ) as http:
            try:
                # A name that does not resolve, a head that comes byte by byte: no timeout of the client ends them. Its
                # thread is left behind then, and ends once the connection is closed.
                return _aside(lambda: self._reply(http, prompt)).result(timeout_s)
            except FutureTimeout:
                raise GenerationFailed("timeout") from None

    def _reply(self, http: httpx2.Client, prompt: Prompt) -> str:
        try:
            return "".join(self._pieces(http, prompt))
        except _TooLong:
            raise GenerationFailed("too_long") from None
        except (openai.APITimeoutError, httpx2.TimeoutException):
            raise GenerationFailed("timeout") from None
        except openai.APIStatusError as error:
            asked = prompt.schema is not None and error.status_code in _NO_SCHEMA
            raise GenerationFailed("schema_unsupported" if asked else "refused") from None
        except openai.APIConnectionError as error:
            raise GenerationFailed(_kind(error.__cause__)) from None
        except (openai.OpenAIError, httpx2.HTTPError, httpx2.StreamError):
            raise GenerationFailed("cut_off") from None
        except (ValueError, TypeError, AttributeError, LookupError, RecursionError):
            # A stream of anything but the API's own JSON: the client raises what its parts happen to raise.
            raise GenerationFailed("unreadable") from None

    def _pieces(self, http: httpx2.Client, prompt: Prompt) -> Iterator[str]:
        client = openai.OpenAI(base_url=self._url, api_key=self._api_key, max_retries=0, http_client=http)
        more: dict[str, Any] = {}
        if prompt.schema is not None:
            form = {"name": "answer", "strict": True, "schema": dict(prompt.schema)}
            more["response_format"] = {"type": "json_schema", "json_schema": form}
        stream = client.chat.completions.create(
            model=self._model,
            messages=[_sent(message) for message in prompt.messages],
            temperature=0,
            max_tokens=prompt.most_tokens,
            stream=True,
            **more,
        )
        length, ended = 0, False
        with stream:
            for event in stream:
                for choice in event.choices[:1]:
                    piece = choice.delta.content
                    if isinstance(piece, str):
                        length += len(piece)
                        if length > MOST_CHARACTERS:
                            raise _TooLong
                        yield piece
                    ended = ended or choice.finish_reason == "stop"
        if not ended:
            raise GenerationFailed("cut_off")


def _sent(message: Message) -> ChatCompletionMessageParam:
    if message.role == "system":
        return ChatCompletionSystemMessageParam(role="system", content=message.text)
    return ChatCompletionUserMessageParam(role="user", content=message.text)


def _kind(cause: BaseException | None) -> str:
    if isinstance(cause, _TooLong):
        return "too_long"
    # Once connected, a connection that ends is a reply that was cut off.
    return "cut_off" if isinstance(cause, httpx2.ReadError | httpx2.RemoteProtocolError) else "unreachable"


def _aside(work: Callable[[], str]) -> Future[str]:
    """The work in a thread that nobody has to wait for, not even the end of the process."""
    future: Future[str] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=run, name="language-model", daemon=True).start()
    return future


class _TooLong(httpx2.HTTPError):
    """The server sends more than a reply may have."""

    def __init__(self) -> None:
        super().__init__("too long")


class _Bounded(httpx2.HTTPTransport):
    """Ends a response that is larger than one may be."""

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        response = super().handle_request(request)
        assert isinstance(response.stream, httpx2.SyncByteStream)
        if response.headers.get("content-encoding", "identity").lower() not in ("identity", ""):
            # Unpacked it could be a thousand times what is counted here. None was asked for.
            response.stream.close()
            raise _TooLong
        return httpx2.Response(
            response.status_code,
            headers=response.headers,
            stream=_BoundedStream(response.stream),
            extensions=response.extensions,
        )


class _BoundedStream(httpx2.SyncByteStream):
    def __init__(self, inner: httpx2.SyncByteStream) -> None:
        self._inner = inner

    def __iter__(self) -> Iterator[bytes]:
        received = 0
        for piece in self._inner:
            received += len(piece)
            if received > MOST_BYTES:
                raise _TooLong
            yield piece

    def close(self) -> None:
        self._inner.close()
