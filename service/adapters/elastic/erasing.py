"""Removing everything under one prefix, for experiments and tests that have a prefix of their own."""

from __future__ import annotations

import re

from service.adapters.elastic.client import translated
from service.adapters.elastic.system import SYSTEM, SystemIndices
from service.domain.generations import Generation

_DAY = re.compile(r"\d{4}\.\d{2}\.\d{2}")


def erase(system: SystemIndices) -> None:
    """Deletes each index of this prefix by its full name; an index that only begins alike is left alone."""
    with translated("erasing a prefix"):
        found = system.client.indices.get_alias(index=f"{system.prefix}-*", allow_no_indices=True)
        for index in found.body:
            if _belongs(system, index):
                system.client.options(ignore_status=404).indices.delete(index=index)
    system.forget()


def _belongs(system: SystemIndices, index: str) -> bool:
    if index in {system.name(kind) for kind in SYSTEM}:
        return True
    if _DAY.fullmatch(index.removeprefix(f"{system.name('traces')}-")):
        return True
    generation = Generation.parse(index)
    return generation is not None and index.startswith(f"{system.prefix}-chunks-")
