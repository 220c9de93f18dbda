"""A language model behind an OpenAI-compatible endpoint.

The server is not trusted: no redirect is followed, no proxy of the environment used, no retry made, and what it sends is
counted in bytes and seconds below the client, which would wait for a stream of comments for ever.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import httpx2
import openai

from service.domain.ports import Prompt
from service.errors import GenerationFailed

MOST_BYTES = 2_000_000  # of one reply on the wire; each piece of a stream is wrapped in some 300 bytes
MOST_CHARACTERS = 64_000  # of the reply itself
_CONNECT_S = 2.0
_NO_SCHEMA = (400, 404, 415, 422, 501)  # what servers say that do not know `response_format`


class OpenAiGenerator:
    """`stream` may be called from many threads."""

    def __init__(self, url: str, model: str, api_key: str | None) -> None:
        self._model = model
        http = httpx2.Client(
            transport=_Bounded(),
            headers={"Accept-Encoding": "identity"},
            trust_env=False,
            follow_redirects=False,
        )
        # The client insists on a key; a server without one ignores it.
        self._client = openai.OpenAI(base_url=url, api_key=api_key or "none", max_retries=0, http_client=http)

    @property
    def identity(self) -> str:
        return self._model

    def stream(self, prompt: Prompt, timeout_s: float) -> Iterator[str]:
        try:
            yield from self._pieces(prompt, timeout_s)
        except _TooLong:
            raise GenerationFailed("too_long") from None
        except (openai.APITimeoutError, httpx2.TimeoutException):
            raise GenerationFailed("timeout") from None
        except openai.APIStatusError as error:
            asked = prompt.schema is not None and error.status_code in _NO_SCHEMA
            raise GenerationFailed("schema_unsupported" if asked else "refused") from None
        except openai.APIConnectionError as error:
            kind = "too_long" if isinstance(error.__cause__, _TooLong) else "unreachable"
            raise GenerationFailed(kind) from None
        except (openai.OpenAIError, httpx2.HTTPError, httpx2.StreamError):
            raise GenerationFailed("cut_off") from None
        except (ValueError, TypeError, AttributeError, LookupError, RecursionError):
            # A stream of anything but the API's own JSON: the client raises what its parts happen to raise.
            raise GenerationFailed("unreadable") from None

    def _pieces(self, prompt: Prompt, timeout_s: float) -> Iterator[str]:
        more: dict[str, Any] = {}
        if prompt.schema is not None:
            form = {"name": "answer", "strict": True, "schema": dict(prompt.schema)}
            more["response_format"] = {"type": "json_schema", "json_schema": form}
        stream = self._client.chat.completions.create(
            model=self._model,
            messages=[{"role": m.role, "content": m.text} for m in prompt.messages],  # type: ignore[misc]
            temperature=0,
            max_tokens=prompt.most_tokens,
            stream=True,
            timeout=httpx2.Timeout(timeout_s, connect=min(_CONNECT_S, timeout_s)),
            **more,
        )
        length, ended = 0, False
        with stream:
            for event in stream:
                choice = event.choices[0] if event.choices else None
                if choice is None:
                    continue
                piece = choice.delta.content if choice.delta else None
                if isinstance(piece, str) and piece:
                    length += len(piece)
                    if length > MOST_CHARACTERS:
                        raise _TooLong
                    yield piece
                ended = ended or choice.finish_reason == "stop"
        if not ended:
            raise GenerationFailed("cut_off")


class _TooLong(httpx2.HTTPError):
    """The server sends more than a reply may have."""

    def __init__(self) -> None:
        super().__init__("too long")


class _Bounded(httpx2.HTTPTransport):
    """Ends a response that goes on longer, or is larger, than one may: the timeouts of a client hold for each read."""

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        until = time.monotonic() + float(request.extensions["timeout"]["read"])
        response = super().handle_request(request)
        assert isinstance(response.stream, httpx2.SyncByteStream)
        return httpx2.Response(
            response.status_code,
            headers=_uncompressed(response.headers),
            stream=_BoundedStream(response.stream, until),
            extensions=response.extensions,
        )


def _uncompressed(headers: httpx2.Headers) -> httpx2.Headers:
    """A compressed body could be a thousand times what was counted on the wire. None was asked for."""
    if headers.get("content-encoding", "identity").lower() not in ("identity", ""):
        raise _TooLong
    return headers


class _BoundedStream(httpx2.SyncByteStream):
    def __init__(self, inner: httpx2.SyncByteStream, until: float) -> None:
        self._inner, self._until = inner, until

    def __iter__(self) -> Iterator[bytes]:
        received = 0
        for piece in self._inner:
            received += len(piece)
            if received > MOST_BYTES:
                raise _TooLong
            if time.monotonic() > self._until:
                raise httpx2.ReadTimeout("the reply's time is spent")
            yield piece

    def close(self) -> None:
        self._inner.close()
