"""The late check: whatever is about to leave is asked of the registry once more, in real time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from service.access.policy import visible
from service.domain.documents import RegistryEntry
from service.domain.rights import Scope


def allowed_documents(
    entries: Mapping[str, RegistryEntry], asked: Iterable[str], scope: Scope
) -> frozenset[str]:
    """Those of the asked documents that exist, are not deleted, and may be seen in this scope now."""
    return frozenset(
        document_id
        for document_id in asked
        if (entry := entries.get(document_id)) is not None
        and not entry.deleted
        and visible(entry.access, scope)
    )
