"""Links of the evidence, followed within limits: which are worth it, and which chunk of a target is meant.

A link to a document that the caller may not see is told as broken: exactly as if there were no such document.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from service.domain.documents import Link
from service.domain.retrieval import FoundChunk
from service.text.analysis import analyse, coverage

# ChunkIds of one target that are looked at; a longer document is looked at up to here.
_LOOKED_AT = 120


@dataclass(slots=True)
class Followed:
    """What became of the links: how many of each state, and the chunks that came of them."""

    states: Counter[str] = field(default_factory=Counter)
    chunks: list[FoundChunk] = field(default_factory=list)


def resolved(pieces: Sequence[FoundChunk]) -> tuple[Link, ...]:
    """The links of the pieces that have a target in the build, each once, in order."""
    return tuple(dict.fromkeys(link for piece in pieces for link in piece.links if link.version is not None))


def states(pieces: Sequence[FoundChunk], visible: Collection[str]) -> Counter[str]:
    """How many links of each state, as they are for someone who sees the `visible` documents only."""
    links = dict.fromkeys(link for piece in pieces for link in piece.links)
    return Counter(
        link.state if link.version is None or link.target in visible else "broken" for link in links
    )


def chunk_ids(link: Link, documents: Mapping[str, str], counts: Mapping[str, int]) -> tuple[str, ...]:
    """Where the target's text is; none where the build holds another version of it than the link was made for."""
    if link.version is None or documents.get(link.target) != link.version:
        return ()
    stem = f"{link.target}@{link.version[:12]}"
    return tuple(f"{stem}#{number}" for number in range(1, min(counts.get(link.target, 0), _LOOKED_AT) + 1))


def meant(link: Link, target: Sequence[FoundChunk], terms: Sequence[str], least: float) -> FoundChunk | None:
    """The chunk of the target that says most of what is asked, below the link's anchor where it has one; None where
    none says at least `least` of it. Ties by place."""
    below = [chunk for chunk in target if _is_at(link.anchor, chunk)] if link.anchor else list(target)
    scored = [(coverage(terms, analyse(_read(chunk))), chunk) for chunk in below]
    scored.sort(key=lambda pair: (-pair[0], pair[1].ordinal))
    return scored[0][1] if scored and scored[0][0] >= least else None


def _is_at(anchor: str, chunk: FoundChunk) -> bool:
    """Whether the chunk stands under that heading, is that note, or is of that table."""
    if anchor.startswith("[^"):
        return chunk.text.lower().lstrip().startswith(anchor + ":")
    if anchor.startswith("table "):
        return (
            re.search(rf"(?:表|table)\s*{re.escape(anchor[6:])}(?![\d.])", chunk.search_prefix.lower())
            is not None
        )
    return any(_slug(heading) == anchor.lower() for heading in chunk.heading_path)


def _slug(heading: str) -> str:
    """A heading's anchor, as most site generators make it. A repeated heading's number is not known here."""
    return re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", heading.lower()).strip())


def _read(chunk: FoundChunk) -> str:
    return " ".join((chunk.title, *chunk.heading_path, chunk.search_prefix, chunk.text))
