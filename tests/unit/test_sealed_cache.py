"""Entries that this service has not written are misses, whatever they look like."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from service.adapters.sealed_cache import SealedCache
from tests.fakes.shelf import Shelf


@given(st.text(st.characters(codec="utf-8")), st.binary(max_size=50), st.binary(max_size=90))
def test_only_what_was_sealed_under_its_key_comes_back(key: str, value: bytes, forged: bytes) -> None:
    shelf = Shelf()
    cache = SealedCache(shelf, b"a" * 32)
    cache.set(key, value, 60)
    sealed = shelf.kept[key]
    assert cache.get(key) == value
    assert SealedCache(shelf, b"b" * 32).get(key) is None
    shelf.kept[key + "x"] = sealed
    assert cache.get(key + "x") is None
    # The border between key and value is sealed too.
    shelf.kept[key + "\0"] = sealed[:32] + sealed[33:]
    assert cache.get(key + "\0") is None
    for at in range(len(sealed)):
        shelf.kept[key] = sealed[:at] + bytes([sealed[at] ^ 1]) + sealed[at + 1 :]
        assert cache.get(key) is None
        shelf.kept[key] = sealed[:at]
        assert cache.get(key) is None
    shelf.kept[key] = forged
    assert cache.get(key) is None
    assert cache.get("never set") is None
