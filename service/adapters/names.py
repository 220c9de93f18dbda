"""Reading engine names back into generations, for a known prefix and corpus.

`Generation.parse` reads any name; here the prefix and corpus are known, and comparing with them leaves no
room for a corpus whose own name looks like a separator.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from service.domain.generations import LIVE, Generation, live_alias, version_alias

_TAIL = re.compile(r"(?P<version>cv[0-9a-f]{12})-g(?P<number>\d{4,})")


def generation_of(prefix: str, corpus: str, name: str) -> Generation | None:
    """The generation with this name when it belongs to this prefix and corpus."""
    head = f"{prefix}-chunks-{corpus}-"
    if not name.startswith(head):
        return None
    found = _TAIL.fullmatch(name[len(head) :])
    if found is None:
        return None
    generation = Generation(prefix, corpus, found["version"], int(found["number"]))
    return generation if generation.name == name else None


def generations_of(prefix: str, corpus: str, names: Iterable[str]) -> tuple[str, ...]:
    """Those of the names that are generations of this corpus, sorted by number, then version."""
    found = [generation_of(prefix, corpus, name) for name in names]
    return tuple(
        generation.name
        for generation in sorted(filter(None, found), key=lambda g: (g.number, g.corpus_version))
    )


def live_of(prefix: str, pairs: Iterable[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    """Of (alias, generation) pairs, what stands behind each corpus's live alias under this prefix."""
    behind: dict[str, list[str]] = {}
    for alias, name in pairs:
        corpus = alias.removeprefix(f"{prefix}-").removesuffix(f"@{LIVE}")
        # Where one prefix begins like another, the index tells whose alias it is.
        if alias == live_alias(prefix, corpus) and name.startswith(f"{prefix}-chunks-"):
            behind.setdefault(corpus, []).append(name)
    return {corpus: tuple(sorted(names)) for corpus, names in sorted(behind.items())}


def alias_of(prefix: str, corpus: str, corpus_version: str) -> str:
    """The alias behind which this corpusVersion (or "live") stands."""
    if corpus_version == LIVE:
        return live_alias(prefix, corpus)
    return version_alias(prefix, corpus, corpus_version)
