"""One client for everything, and the one place where its exceptions become ours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson
from elasticsearch import (
    ApiError,
    AuthenticationException,
    AuthorizationException,
    BadRequestError,
    ConflictError,
    ConnectionError,
    ConnectionTimeout,
    Elasticsearch,
    JsonSerializer,
    NotFoundError,
    SSLError,
    TransportError,
    UnsupportedProductError,
)

from service.errors import Conflict, GenerationGone, InvalidInput, Misconfigured, Unavailable

# Offline calls (bulk, create, refresh) may take long; each online call brings its own limit.
OFFLINE_TIMEOUT_S = 60.0
# The client retries on 429, 502, 503, 504 and lost connections, by default with no pause: 4 tries in 6 ms.
RETRIES = 3
BACKOFF_BASE_S = 0.1
BACKOFF_CAP_S = 1.0


class _Json(JsonSerializer):
    """Reads fast, since answers hold vectors. Writes as the client always does, whatever strings a question has."""

    def json_loads(self, data: bytes) -> Any:
        return orjson.loads(data)


def make_client(
    hosts: Sequence[str],
    *,
    api_key: str | None = None,
    username: str | None = None,
    password: str | None = None,
    ca_certs: Path | None = None,
) -> Elasticsearch:
    """A client that has not connected yet. Raises Misconfigured for settings that do not fit together."""
    if not hosts:
        raise Misconfigured("No Elasticsearch URL is given; set ES_URL.")
    if api_key and username:
        raise Misconfigured("Give Elasticsearch either an API key or a user with a password, not both.")
    if bool(username) != bool(password):
        raise Misconfigured("An Elasticsearch user needs a password, and a password a user.")
    options: dict[str, Any] = {}
    if api_key:
        options["api_key"] = api_key
    if username and password:
        options["basic_auth"] = (username, password)
    if ca_certs is not None:
        if not ca_certs.is_file():
            raise Misconfigured(f"The CA bundle {ca_certs} for Elasticsearch does not exist.")
        options["ca_certs"] = str(ca_certs)
    try:
        return Elasticsearch(
            list(hosts),
            request_timeout=OFFLINE_TIMEOUT_S,
            max_retries=RETRIES,
            # A timeout that is retried makes 0.5 s into 2 s: the caller's deadline decides instead.
            retry_on_timeout=False,
            retry_backoff_base=BACKOFF_BASE_S,
            retry_backoff_cap=BACKOFF_CAP_S,
            serializer=_Json(),
            **options,
        )
    except ValueError as error:
        raise Misconfigured(f"The Elasticsearch settings do not hold: {error}") from error


def error_type(error: ApiError) -> str:
    """Elasticsearch's own name of a failure, such as `index_not_found_exception`; it carries no data."""
    body = error.body
    if isinstance(body, dict):
        cause = body.get("error")
        if isinstance(cause, dict):
            return str(cause.get("type", ""))
    return ""


@contextmanager
def translated(doing: str) -> Iterator[None]:
    """Turns the client's exceptions into ours, the most specific first, with the cause kept.

    Messages name the action and the type of the failure only: reasons may quote documents (promise P1).
    """
    try:
        yield
    except ConnectionTimeout as error:
        raise Unavailable(f"Elasticsearch did not answer in time while {doing}.") from error
    except SSLError as error:
        raise Unavailable(f"The TLS connection to Elasticsearch failed while {doing}.") from error
    except ConnectionError as error:
        raise Unavailable(f"Elasticsearch cannot be reached while {doing}.") from error
    except UnsupportedProductError as error:
        raise Misconfigured("What answers at the Elasticsearch URL is not Elasticsearch.") from error
    except AuthenticationException as error:
        raise Misconfigured("Elasticsearch does not accept the credentials.") from error
    except AuthorizationException as error:
        if error_type(error) == "cluster_block_exception":
            # A full disk or a read-only index answers 403 too, and that is not a matter of rights.
            raise Unavailable(
                f"Elasticsearch blocks writing while {doing} (disk full or read-only)."
            ) from error
        raise Misconfigured(f"The Elasticsearch user has no right for {doing}.") from error
    except ConflictError as error:
        raise Conflict(f"Somebody else wrote first while {doing}; read again.") from error
    except NotFoundError as error:
        if error_type(error) == "index_not_found_exception":
            raise GenerationGone(f"An index is no longer there while {doing}.") from error
        raise Unavailable(f"Elasticsearch does not know something needed for {doing}.") from error
    except BadRequestError as error:
        kind = error_type(error) or "bad request"
        raise Misconfigured(f"Elasticsearch refuses the request while {doing}: {kind}.") from error
    except ApiError as error:
        if error.status_code == 413:
            raise InvalidInput(f"Too large for one Elasticsearch request while {doing}.") from error
        raise Unavailable(f"Elasticsearch failed while {doing} (status {error.status_code}).") from error
    except TransportError as error:
        raise Unavailable(f"Talking to Elasticsearch failed while {doing}.") from error
