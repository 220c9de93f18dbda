"""Conversations as sealed bytes under keys that only their owner's name leads to: one form for every store.

The seal covers the key, so that what is kept for one owner cannot be passed off as another's, and whoever can write to
the store can take a conversation away but put no words into it.
"""

from __future__ import annotations

import hashlib
import hmac
import json

from service.domain.conversations import Owner

_SEAL_BYTES = hashlib.sha256().digest_size


def key_of(prefix: str, owner: Owner, conversation_id: str) -> str:
    parts = json.dumps([owner.tenant, owner.subject, conversation_id], ensure_ascii=False)
    return f"{prefix}:conversation:{hashlib.sha256(parts.encode()).hexdigest()}"


def sealed(secret: bytes, key: str, questions: tuple[str, ...]) -> bytes:
    value = json.dumps(questions, ensure_ascii=False).encode()
    return _seal(secret, key, value) + value


def opened(secret: bytes, key: str, data: bytes) -> tuple[str, ...] | None:
    """None for anything that was not sealed here, for this key."""
    seal, value = data[:_SEAL_BYTES], data[_SEAL_BYTES:]
    if not hmac.compare_digest(seal, _seal(secret, key, value)):
        return None
    return tuple(map(str, json.loads(value)))


def _seal(secret: bytes, key: str, value: bytes) -> bytes:
    # The length first: no byte of a value can pass for the end of its key.
    name = key.encode()
    return hmac.digest(secret, b"conversation" + len(name).to_bytes(8, "big") + name + value, "sha256")
