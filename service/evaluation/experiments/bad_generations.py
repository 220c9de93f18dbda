"""Bad generations, each seeded through the engine's own ports beside a live one: what refuses each, in which words,
and that the live one answers as before.

A copy that nothing was done to is the control: it passes every gate.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from service.access.policy import principal_of
from service.domain.answers import Question
from service.domain.documents import IndexedChunk
from service.domain.generations import Generation, Manifest
from service.errors import BuildRefused
from service.evaluation.experiments import Expectation, expect
from service.evaluation.experiments.bad_kinds import FILES, KINDS, PROFILE, QUESTION, Kind
from service.offline.generations.identity import next_generation
from service.offline.rights import change_rights
from service.offline.story import Offline, quiet
from service.online.entry import Online

CORPUS = PROFILE.name
_STAFF = principal_of(tenant="demo", subject="ann", groups=[], labels=[], roles=["reader"])


@dataclass(frozen=True, slots=True)
class Refusal:
    """What became of one bad generation: which gates did not hold, and what the operator was told."""

    kind: str
    by: tuple[str, ...]
    message: str


@dataclass(slots=True)
class Bench:
    """The live generation, its chunks as they were, and what it answers."""

    offline: Offline
    online: Online
    live: Manifest
    chunks: tuple[IndexedChunk, ...]
    told: tuple[str, ...]

    def copy(self, kind: Kind) -> Manifest | Refusal:
        """A generation of the changed chunks, ready to be published; a Refusal where the engine does not take them."""
        engine = self.offline.engine
        taken = [m.generation for m in engine.builds.scan(CORPUS)]
        generation = next_generation(engine.prefix, CORPUS, self.live.corpus_version, taken)
        chunks = kind.chunks([replace(c, generation=generation.name) for c in self.chunks])
        manifest = replace(
            self.live,
            generation=generation.name,
            state="ready",
            replaced=None,
            history=[],
            gates=[],
            token=None,
        )
        engine.generations.create(generation, self.offline.index)
        refused = engine.generations.write(generation, chunks).refused
        engine.builds.write(kind.manifest(manifest, chunks))
        if refused:
            return Refusal(kind.name, ("engine",), f"{len(refused)} of {len(chunks)}: {refused[0].reason}")
        engine.generations.seal(generation, self.offline.index)
        return manifest

    def publish(self, name: str, manifest: Manifest) -> Refusal:
        """What a publish of it is refused by; nothing, where it is let through."""
        try:
            self.offline.publish(CORPUS, manifest.generation)
        except BuildRefused as error:
            noted = self.offline.engine.builds.get(manifest.generation)
            gates = noted.gates if noted else []
            if not gates:  # Refused before any gate was asked.
                gates = [r.to_json() for r in self.offline.gate(CORPUS, manifest.generation)[1]]
            return Refusal(name, tuple(g["name"] for g in gates if not g["passed"]), error.message)
        return Refusal(name, (), "it is live")

    def drop(self, manifest: Manifest) -> None:
        generation = Generation.parse(manifest.generation)
        if generation is not None and self.unchanged():
            self.offline.engine.generations.drop(generation)

    def unchanged(self) -> bool:
        """Whether the same generation is live and answers as it did."""
        live = self.offline.engine.retrieval.resolve(CORPUS, "live")
        return live is not None and live.name == self.live.generation and _told(self.online) == self.told


def run(offline: Offline, online: Online, folder: Path) -> tuple[list[Refusal], list[Expectation]]:
    """Tries every kind. `folder` takes the sources of the corpus that is made for this."""
    bench = _bench(offline, online, folder)
    refusals: list[Refusal] = []
    expectations: list[Expectation] = []
    tried = [*_seeded(bench, KINDS), *_lived(bench, folder)]
    for kind, refusal, unchanged in tried:
        by = kind.by if kind.by in refusal.by else ", ".join(refusal.by) or "nothing"
        expectations.append(expect(f"{kind.name}: refused by", kind.by, by))
        expectations.append(expect(f"{kind.name}: what is live answers as before", True, unchanged))
        refusals.append(refusal)
    control = bench.copy(Kind("untouched", ""))
    assert isinstance(control, Manifest)
    failing = [r.name for r in offline.gate(CORPUS, control.generation)[1] if not r.passed]
    # The last kind of all has left an earlier citation that does not verify: it alone may speak against a copy.
    expectations.append(expect("an untouched copy: gates that do not hold", ["earlier citations"], failing))
    return refusals, expectations


def _bench(offline: Offline, online: Online, folder: Path) -> Bench:
    for name, text in FILES.items():
        (folder / name).write_text(text, encoding="utf-8")
    offline.ingest(CORPUS, [folder], PROFILE, None, quiet)
    manifest = offline.build(CORPUS, quiet)
    live, _ = offline.publish(CORPUS, manifest.generation)
    generation = Generation.parse(live.generation)
    assert generation is not None
    chunks = tuple(offline.engine.generations.scan(generation, vectors=True))
    return Bench(offline, online, live, chunks, _told(online))


def _told(online: Online) -> tuple[str, ...]:
    answer = online.answer(Question("q", QUESTION, CORPUS), _STAFF)
    return (answer.status, answer.answer or "", answer.retrieval.generation)


def _seeded(bench: Bench, kinds: Sequence[Kind]) -> Iterator[tuple[Kind, Refusal, bool]]:
    for kind in kinds:
        made = bench.copy(kind)
        refusal = made if isinstance(made, Refusal) else bench.publish(kind.name, made)
        yield kind, refusal, bench.unchanged()
        if isinstance(made, Manifest):
            bench.drop(made)


def _lived(bench: Bench, folder: Path) -> Iterator[tuple[Kind, Refusal, bool]]:
    """Kinds that need a history: a document that lost its answer, one that was deleted, an archive that is not what
    it was."""
    offline = bench.offline
    (folder / "kitchen.md").write_text("# Kitchen\n\nThe kitchen has new chairs.\n", encoding="utf-8")
    offline.ingest(CORPUS, [folder], PROFILE, None, quiet)
    kind = Kind("a document that no longer says it", "golden cases")
    yield kind, bench.publish(kind.name, offline.build(CORPUS, quiet)), bench.unchanged()

    _delete(offline, "parking.md")
    kind = Kind("chunks of a deleted document", "rights")
    yield from _seeded(bench, [kind])
    bench.chunks = tuple(c for c in bench.chunks if c.chunk.document_id != "parking.md")

    cited = offline.engine.traces.citing(CORPUS, 1)[0]
    place = cited["outcome"]["citations"][0] | {"sha256": "0" * 64}
    damaged = cited | {"traceId": "0" * 32, "outcome": cited["outcome"] | {"citations": [place]}}
    offline.engine.traces.save("0" * 32, damaged)
    kind = Kind("an earlier answer that the archive no longer bears out", "earlier citations")
    yield from _seeded(bench, [kind])


def _delete(offline: Offline, document_id: str) -> None:
    change_rights(
        offline.engine,
        CORPUS,
        document_id,
        lambda entry: replace(entry, deleted=True),
        action="delete",
        who="experiment",
        now="2026-01-01T00:00:00+00:00",
    )
