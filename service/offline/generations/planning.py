"""What the next generation is made of: the manifest it begins with, and the documents that go into it."""

from __future__ import annotations

from service.domain.documents import RegistryEntry
from service.domain.generations import Manifest, Processors, check_corpus_name
from service.domain.ports import Engine, IndexSettings
from service.errors import BuildRefused
from service.offline.generations import identity
from service.offline.generations.lifecycle import now
from service.profiles.corpus import kept_with_generation, laid_out


def planned(
    engine: Engine, corpus: str, processors: Processors, index: IndexSettings, who: str
) -> tuple[Manifest, dict[str, RegistryEntry]]:
    """The manifest, not written yet, and the registered documents by id. Raises BuildRefused when there are none, or
    one that this corpus is not for."""
    profile = engine.registry.corpus_profile(check_corpus_name(corpus))
    entries = {e.document_id: e for e in engine.registry.scan(corpus) if not e.deleted}
    if profile is None or not entries:
        raise BuildRefused(f"Corpus {corpus!r} has no documents yet; read some with `attest ingest`.")
    if profile.get("token_vectors") and not processors.tokens:
        raise BuildRefused(
            f"Corpus {corpus!r} is to keep token vectors, and embedder {processors.embedder} gives none: set "
            "`token_vectors = false` in its corpus.toml, or serve another embedder."
        )
    if profile.get("single_tenant"):
        strange = sorted(name for name, e in entries.items() if e.access.tenant != profile["tenant"])
        if strange:
            raise BuildRefused(
                f"Corpus {corpus!r} is for tenant {profile['tenant']!r} only; {strange[0]!r} belongs to another. "
                f"Take it out with `attest access delete {corpus} {strange[0]}`."
            )
    documents = {document_id: entry.current_version for document_id, entry in entries.items()}
    version = identity.corpus_version(documents, processors)
    taken = {*engine.generations.names(corpus), *(m.generation for m in engine.builds.scan(corpus))}
    manifest = Manifest(
        generation=identity.next_generation(engine.prefix, corpus, version, taken).name,
        corpus=corpus,
        corpus_version=version,
        state="building",
        processors=processors,
        documents=documents,
        chunks=0,
        chunks_per_document={},
        dimension=index.dimension,
        vector_index=laid_out(profile, index).vector_index,
        corpus_profile=kept_with_generation(profile),
        created_at=now(),
        updated_at=now(),
        updated_by=who,
    )
    return manifest, entries


def is_current(engine: Engine, manifest: Manifest, processors: Processors) -> bool:
    """Whether the next generation would be the same: of the same corpusVersion, under the same corpus profile."""
    documents = {
        e.document_id: e.current_version for e in engine.registry.scan(manifest.corpus) if not e.deleted
    }
    profile = kept_with_generation(engine.registry.corpus_profile(manifest.corpus) or {})
    return (
        identity.corpus_version(documents, processors) == manifest.corpus_version
        and profile == manifest.corpus_profile
    )
