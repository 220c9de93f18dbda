"""THE ONLINE STORY, second part: from usable candidates to evidence S1..Sn.

    choose within the budget → join what cannot be read alone → follow links → number

Every look-up is made in the request's scope and generation; a link's document is asked of the registry first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from service.domain.answers import Candidate
from service.domain.documents import Link
from service.domain.ports import Engine
from service.domain.retrieval import FoundChunk
from service.online import links, packing
from service.online.ranking import Request
from service.text.analysis import analyse, coverage

_LOOKUP_S = 2.0  # most seconds of the request's deadline one look-up may take


@dataclass(frozen=True, slots=True)
class Gathered:
    """The evidence, the documents that links were followed to, and what was done, for the trace."""

    packed: packing.Packed
    documents: frozenset[str]
    detail: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Gathering:
    engine: Engine
    count_tokens: Callable[[str], int]
    allowed: Callable[[Request, Iterable[str]], frozenset[str]]

    def gather(
        self, request: Request, usable: Sequence[Candidate], found: Mapping[str, FoundChunk]
    ) -> Gathered:
        settings = request.profile.packing
        chunks = dict(found)
        slots = packing.slots_of(settings, self.count_tokens(request.question.text))
        kept, dropped, used = packing.choose(usable, chunks, settings, slots.evidence, self.count_tokens)

        chunks |= self._fetch(request, packing.neighbours_of(kept, chunks, settings.joined))
        joined = packing.joins(kept, chunks, settings.joined)
        main, used, names = self._joined(kept, chunks, joined, used, slots.evidence)

        room = settings.max_evidence - len(kept)
        followed, linked = self._follow(request, [chunk for chunk, _ in main], min(room, settings.links))
        auxiliary = []
        for chunk in followed.chunks:
            tokens = packing.tokens_of(chunk, self.count_tokens)
            if used + tokens > slots.evidence:
                dropped[chunk.chunk_id] = "token_budget"
                continue
            used += tokens
            auxiliary.append((chunk, 0.0))
        evidence = packing.numbered(main, auxiliary)
        packed = packing.Packed(evidence, dropped, names, used)
        detail = {
            "tokens": used,
            "slots": {
                "instructions": slots.instructions,
                "question": slots.question,
                "evidence": slots.evidence,
                "output": slots.output,
            },
            "packed": [item.chunk_id for item in evidence],
            "auxiliary": [item.chunk_id for item in evidence if item.role == "auxiliary"],
            "joined": names,
            "links": dict(sorted(followed.states.items())),
            "dropped": dropped,
        }
        return Gathered(packed, linked, detail)

    def _fetch(self, request: Request, names: Sequence[str]) -> dict[str, FoundChunk]:
        if not names:
            return {}
        return self.engine.retrieval.fetch(
            request.pin.generation, names, request.scope, request.deadline.left(_LOOKUP_S)
        )

    def _joined(
        self,
        kept: Sequence[Candidate],
        chunks: Mapping[str, FoundChunk],
        joined: Mapping[str, tuple[str | None, str | None]],
        used: int,
        budget: int,
    ) -> tuple[list[tuple[FoundChunk, float]], int, dict[str, tuple[str, ...]]]:
        """The pieces with their neighbours, as far as the budget goes. The archive says what stands between them."""
        keys = sorted({(chunks[name].document_id, chunks[name].document_version) for name in joined})
        archive = self.engine.archive.get_many(keys) if keys else {}
        main: list[tuple[FoundChunk, float]] = []
        names: dict[str, tuple[str, ...]] = {}
        for candidate in kept:
            chunk = chunks[candidate.chunk_id]
            near = tuple(name for name in joined.get(chunk.chunk_id, ()) if name is not None)
            more = sum(self.count_tokens(chunks[name].text) for name in near)
            if near and used + more <= budget:
                wide = packing.widened(
                    chunk,
                    [chunks[name] for name in near],
                    archive.get((chunk.document_id, chunk.document_version)),
                )
                if wide is not chunk:
                    chunk, used, names[chunk.chunk_id] = wide, used + more, near
            main.append((chunk, candidate.score))
        return main, used, names

    def _follow(
        self, request: Request, pieces: Sequence[FoundChunk], most: int
    ) -> tuple[links.Followed, frozenset[str]]:
        """Chunks behind the links of the first pieces, for what these pieces do not say themselves."""
        settings, terms = request.profile.packing, request.analysis.content
        followed, linked = links.Followed(), frozenset[str]()
        level = list(pieces[: settings.joined])
        known = {piece.chunk_id for piece in pieces}
        for _ in range(settings.hops):
            targets = links.resolved(level)
            visible = self.allowed(request, {link.target for link in targets})
            linked |= visible
            request.trace.saw(visible)
            followed.states += links.states(level, visible)
            said = analyse(" ".join(f"{piece.title} {piece.search_prefix} {piece.text}" for piece in level))
            if most <= 0 or not targets or coverage(terms, said) == 1:
                break
            level = self._targets(request, [t for t in targets if t.target in visible], known, followed, most)
        return followed, linked

    def _targets(
        self,
        request: Request,
        targets: Sequence[Link],
        known: set[str],
        followed: links.Followed,
        most: int,
    ) -> list[FoundChunk]:
        manifest, found = request.pin.manifest, []
        for link in targets:
            if len(followed.chunks) >= most:
                break
            names = links.chunk_ids(link, manifest.documents, manifest.chunks_per_document)
            target = sorted(self._fetch(request, names).values(), key=lambda chunk: chunk.ordinal)
            least = request.profile.packing.link_coverage
            chunk = links.meant(link, target, request.analysis.content, least)
            if chunk is None:
                continue
            if chunk.chunk_id in known:
                followed.states["cyclic"] += 1
                continue
            known.add(chunk.chunk_id)
            followed.chunks.append(chunk)
            found.append(chunk)
        return found
