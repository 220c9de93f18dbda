"""A cache in memory, open for a test to look into and to forge."""

from __future__ import annotations


class Shelf:
    name = "shelf"
    failing = False

    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}

    def get(self, key: str) -> bytes | None:
        return self.kept.get(key)

    def set(self, key: str, value: bytes, ttl_s: int) -> None:
        self.kept[key] = value

    def healthy(self) -> bool:
        return True
