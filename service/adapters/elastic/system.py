"""The system indices: named, made when first needed, their mapping version checked once a process."""

from __future__ import annotations

import hashlib
import json
import threading

from elasticsearch import BadRequestError, Elasticsearch, NotFoundError

from service.adapters.elastic.client import error_type, translated
from service.adapters.elastic.mappings import CURRENT, system_body
from service.errors import Misconfigured

SYSTEM = ("archive", "registry", "audit", "builds", "jobs", "reviews")


def key_id(*key: str) -> str:
    """The `_id` of a record: sha256 (hex) of its key as a JSON list.

    Ids may be long (Elasticsearch takes 512 bytes) and hold any character; a list, so that no separator
    inside one part can forge another key.
    """
    return hashlib.sha256(json.dumps(key).encode()).hexdigest()


class SystemIndices:
    """Index names under one prefix. `ensure` creates; reading never does."""

    def __init__(self, client: Elasticsearch, prefix: str) -> None:
        self.client = client
        self.prefix = prefix
        self._ready: set[str] = set()
        self._lock = threading.Lock()

    def name(self, kind: str) -> str:
        return f"{self.prefix}-{kind}"

    def ensure(self, kind: str, index: str | None = None) -> str:
        """The index's name, once it exists with the mapping version this code was written for.

        Safe to run from several processes at once: the loser of a race finds the winner's index. A later
        mapping version only ever adds fields, so an older index is brought up to date where it stands.
        Raises Misconfigured when the index was made by a later release.
        """
        name = index or self.name(kind)
        if name in self._ready:
            return name
        with self._lock, translated(f"preparing the {kind} index"):
            if not self._exists_rightly(kind, name):
                self._create(kind, name)
                self._exists_rightly(kind, name)
            self._ready.add(name)
        return name

    def ensure_all(self) -> None:
        for kind in SYSTEM:
            self.ensure(kind)

    def forget(self) -> None:
        """Forgets every index seen: they were removed, and are made anew when needed again."""
        self._ready.clear()

    def known(self, index: str) -> bool:
        """Whether this process has already made or checked that index."""
        return index in self._ready

    def _exists_rightly(self, kind: str, name: str) -> bool:
        try:
            found = self.client.indices.get_mapping(index=name)
        except NotFoundError:
            return False
        version = found[name]["mappings"].get("_meta", {}).get("version")
        if not isinstance(version, int) or version > CURRENT[kind]:
            raise Misconfigured(
                f"Index {name} has mapping version {version}, this release knows {CURRENT[kind]}. Run the "
                "release that made it, or set another prefix and ingest again."
            )
        if version < CURRENT[kind]:
            mappings = system_body(kind)["mappings"]
            self.client.indices.put_mapping(
                index=name, properties=mappings["properties"], meta=mappings["_meta"]
            )
        return True

    def _create(self, kind: str, name: str) -> None:
        body = system_body(kind)
        try:
            self.client.indices.create(index=name, settings=body["settings"], mappings=body["mappings"])
        except BadRequestError as error:
            if error_type(error) != "resource_already_exists_exception":
                raise
