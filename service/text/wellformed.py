"""Whether a string is text that can be stored, hashed and sent."""

from __future__ import annotations


def storable(text: str) -> bool:
    """Whether the text has a UTF-8 form. Half a UTF-16 pair (a JSON escape, a file name in another encoding) has
    none, though Python holds it in a string."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
