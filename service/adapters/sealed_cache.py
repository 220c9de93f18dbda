"""A cache whose entries only this service can have written: whatever was changed, moved or made up is a miss."""

from __future__ import annotations

import hashlib
import hmac

from service.domain.ports import Cache

_SEAL_BYTES = hashlib.sha256().digest_size


class SealedCache:
    """Puts an HMAC-SHA256 of key and value before each value. The key is part of it, so that an entry of one
    scope cannot be passed off under the key of another."""

    def __init__(self, cache: Cache, secret: bytes) -> None:
        self._cache = cache
        self._secret = secret
        self.name = cache.name

    def get(self, key: str) -> bytes | None:
        data = self._cache.get(key)
        if data is None:
            return None
        seal, value = data[:_SEAL_BYTES], data[_SEAL_BYTES:]
        return value if hmac.compare_digest(seal, self._seal(key, value)) else None

    def set(self, key: str, value: bytes, ttl_s: int) -> None:
        self._cache.set(key, self._seal(key, value) + value, ttl_s)

    @property
    def failing(self) -> bool:
        return self._cache.failing

    def healthy(self) -> bool:
        return self._cache.healthy()

    def _seal(self, key: str, value: bytes) -> bytes:
        name = key.encode()
        # The length first: no byte of a value can pass for the end of its key.
        return hmac.digest(self._secret, len(name).to_bytes(8, "big") + name + value, "sha256")
