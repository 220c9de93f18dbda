"""The mapping files: found, read, and filled with the few values that differ between generations."""

from __future__ import annotations

import copy
import functools
import hashlib
import json
from pathlib import Path
from typing import Any

from service.domain.ports import IndexSettings
from service.errors import Misconfigured

CURRENT = {
    "archive": 1,
    "registry": 2,
    "audit": 1,
    "chunks": 3,
    "builds": 1,
    "jobs": 1,
    "reviews": 1,
    "traces": 2,
}

_SERVICE = Path(__file__).parents[2]
# In a checkout the files lie at the root; an installed package carries them as data.
_FOLDERS = (_SERVICE.parent / "es_mappings", _SERVICE / "_data" / "es_mappings")


@functools.cache
def _read(name: str) -> tuple[bytes, dict[str, Any]]:
    file_name = f"{name}.v{CURRENT[name]}.json"
    for folder in _FOLDERS:
        if (path := folder / file_name).is_file():
            raw = path.read_bytes()
            return raw, json.loads(raw)
    raise Misconfigured(f"The mapping file {file_name} is missing; the installation is not complete.")


def mapping_version(name: str = "chunks") -> str:
    """`<name>.v<version>:<12 hex of the file's sha256>`; that of chunks is part of corpusVersion."""
    raw, _ = _read(name)
    return f"{name}.v{CURRENT[name]}:{hashlib.sha256(raw).hexdigest()[:12]}"


def system_body(name: str) -> dict[str, Any]:
    """Settings and mappings of a system index, ready for `indices.create`."""
    return copy.deepcopy(_read(name)[1])


def chunks_body(settings: IndexSettings) -> dict[str, Any]:
    """Settings and mappings of a generation. Replicas are added by `seal`: building with none is faster."""
    body = copy.deepcopy(_read("chunks")[1])
    body["settings"]["index"]["number_of_shards"] = settings.shards
    body["settings"]["index"]["number_of_replicas"] = 0
    vector = body["mappings"]["properties"]["vector"]
    vector["dims"] = settings.dimension
    vector["index_options"] = {"type": settings.vector_index}
    # What `write` must know later, possibly in another process, without asking the caller again.
    body["mappings"]["_meta"] |= {
        "mapping": mapping_version(),
        "dimension": settings.dimension,
        "sealed": False,
    }
    return body
