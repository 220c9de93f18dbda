"""JSON as requests must have it: no field twice, no NaN, no Infinity. Readers disagree on what those mean."""

from __future__ import annotations

from typing import Any

from flask.json.provider import DefaultJSONProvider


class StrictJson(DefaultJSONProvider):
    ensure_ascii = False

    def loads(self, s: str | bytes, **kwargs: Any) -> Any:
        """Raises ValueError, which Flask turns into a bad request."""
        return super().loads(s, object_pairs_hook=each_name_once, parse_constant=no_constant, **kwargs)


def each_name_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """For `object_pairs_hook`: which of two a reader takes differs, so neither is taken."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a field stands twice")
    return found


def no_constant(name: str) -> None:
    """For `parse_constant`."""
    raise ValueError(f"{name} is not JSON")
