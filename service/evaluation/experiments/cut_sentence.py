"""A key sentence cut in two by a chunker of fixed length, beside the product's chunker, over the same documents.

Two corpora: the teaching corpus, cut after "第三次仍", and an invented guideline in which a border of the usual 500
characters falls inside the rule. Rule and consequence are one fact: half of it misleads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from service.access.policy import principal_of
from service.domain.answers import Citation, Claim, GroundedAnswer, Question
from service.domain.documents import ArchivedDocument, Block, Chunk, Span
from service.domain.generations import Generation, Manifest
from service.evaluation.experiments import Expectation, expect
from service.evaluation.experiments.cut_guideline import GUIDELINE
from service.evaluation.measures import recall_at_k
from service.offline.ingest.chunking import Chunker
from service.offline.story import Offline
from service.online.citations.verify import verify
from service.online.entry import Online
from service.profiles.corpus import CorpusProfile, read_corpus_profile
from service.text.spans import sha256_text, slice_matches

USUAL = 500  # characters of the usual chunker of fixed length
K = 3
_WHO = principal_of(tenant="demo", subject="reader", groups=[], labels=[], roles=["reader"])


@dataclass(frozen=True, slots=True)
class FixedLength(Chunker):
    """What the experiment warns of: a border every `size` characters, wherever it falls."""

    size_in_characters: int = USUAL

    @property
    def version(self) -> str:
        return f"fixed({self.size_in_characters})"

    def cut(
        self, document_id: str, document_version: str, text: str, blocks: Sequence[Block], title: str
    ) -> list[Chunk]:
        chunks: list[Chunk] = []
        for start in range(0, len(text), self.size_in_characters):
            span = Span(start, min(len(text), start + self.size_in_characters))
            if not span.of(text).strip():
                continue
            path = next((b.heading_path for b in blocks if b.span.end > start), ())
            number = len(chunks) + 1
            chunks.append(
                Chunk(
                    chunk_id=f"{document_id}@{document_version[:12]}#{number}",
                    document_id=document_id,
                    document_version=document_version,
                    ordinal=number,
                    kind="paragraph",
                    heading_path=path,
                    span=span,
                    text=span.of(text),
                    text_sha256=sha256_text(span.of(text)),
                    section=" > ".join(path),
                )
            )
        return chunks


@dataclass(frozen=True, slots=True)
class Case:
    """One rule with its consequence, and the question that needs both. `both` must be in one citation."""

    name: str
    document_id: str
    key: str
    question: str
    both: tuple[str, str]
    claim: str
    naive: FixedLength
    border: str  # the key sentence up to the border


@dataclass(frozen=True, slots=True)
class Seen:
    """What one chunker made of a case."""

    chunker: str
    corpus_version: str
    texts: tuple[str, ...]
    key_chunks: tuple[str, ...]
    first: str
    recall: dict[str, float]
    selected: tuple[str, ...]
    status: str
    reason: str
    quotes: tuple[str, ...]
    verified: bool
    complete: bool
    claim_faults: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        return {
            "chunkerVersion": self.chunker,
            "corpusVersion": self.corpus_version,
            "chunks": len(self.texts),
            "characters": sum(map(len, self.texts)),
            "keyChunks": list(self.key_chunks),
            "recallOfKeyChunks": self.recall,
            "bestChunk": self.first,
            "selectedChunks": list(self.selected),
            "status": self.status,
            "reason": self.reason,
            "quotes": list(self.quotes),
            "citationsVerify": self.verified,
            "ruleAndConsequenceInOneCitation": self.complete,
            "wholeClaimAgainstEachSource": [fault or "holds" for fault in self.claim_faults],
        }


def cases(samples: Path) -> list[Case]:
    """The border in the teaching corpus is put where the lesson puts it; in the guideline it falls there by itself."""
    retry = (samples / "retry-policy.md").read_text("utf-8")
    key = "同一任务最多自动重试三次。第三次仍失败时，消息进入隔离队列，等待修复后受控重放。"
    border = key[: key.index("失败")]
    return [
        Case(
            "lesson", "retry-policy", key, "任务自动重试耗尽后怎么办？", ("三次", "隔离队列"),
            "同一任务最多自动重试三次，第三次仍失败时消息进入隔离队列。",
            FixedLength(size_in_characters=retry.index(border) + len(border)), border,
        ),
        Case(
            "guideline", "guideline.md",
            "同一标本最多重新封装两次。第二次仍漏液，标本移入观察柜，由保管员签字后另行处理。",
            "标本重新封装的次数用完后仍漏液怎么办？", ("两次", "观察柜"),
            "同一标本最多重新封装两次，第二次仍漏液时移入观察柜。",
            FixedLength(), "同一标本最多重新封装两次。第二次仍",
        ),
    ]  # fmt: skip


def run(
    offline: Offline, online: Online, samples: Path
) -> tuple[dict[str, dict[str, Any]], list[Expectation]]:
    """Both cases with both chunkers; the caller gives an engine of its own. Figures by case, and expectations."""
    figures: dict[str, dict[str, Any]] = {}
    expectations: list[Expectation] = []
    for case in cases(samples):
        with TemporaryDirectory() as folder:
            source = samples if case.name == "lesson" else Path(folder)
            if case.name == "guideline":
                (source / case.document_id).write_text(GUIDELINE, "utf-8")
            naive = _seen(replace(offline, chunker=case.naive), online, case, source, "fixed")
            product = _seen(offline, online, case, source, "structure")
        figures[case.name] = {
            "fixed": naive.to_json(),
            "structure": product.to_json(),
            "index": {
                "onlyFixed": len(set(naive.texts) - set(product.texts)),
                "onlyStructure": len(set(product.texts) - set(naive.texts)),
                "both": len(set(naive.texts) & set(product.texts)),
            },
        }
        expectations += [
            replace(e, what=f"{case.name}, {e.what}") for e in _expectations(case, naive, product)
        ]
    return figures, expectations


def _expectations(case: Case, naive: Seen, product: Seen) -> list[Expectation]:
    return [
        expect("fixed: border inside the key sentence", True, any(t.endswith(case.border) for t in naive.texts)),
        expect("fixed: chunks that share the key sentence", 2, len(naive.key_chunks)),
        expect("fixed: a citation with rule and consequence", False, naive.complete),
        expect("fixed: recall@1 of the key sentence is at most half", True, naive.recall["1"] <= 0.5),
        expect("fixed: every citation is its quote, and half of the rule all the same", True, naive.verified),
        expect("fixed: selected chunks that support the whole claim", 0, naive.claim_faults.count("")),
        expect("structure: chunks that share the key sentence", 1, len(product.key_chunks)),
        expect("structure: best chunk of the search", product.key_chunks[0], product.first),
        expect("structure: recall@1 of the key sentence", 1.0, product.recall["1"]),
        expect("structure: status", "answered", product.status),
        expect("structure: a citation with rule and consequence", True, product.complete),
        expect("structure: every citation cut anew from the archive is its quote", True, product.verified),
        expect("structure: a selected chunk supports the whole claim", True, "" in product.claim_faults),
        expect("corpusVersions differ", True, naive.corpus_version != product.corpus_version),
    ]  # fmt: skip


def _seen(offline: Offline, online: Online, case: Case, source: Path, kind: str) -> Seen:
    corpus = f"{case.name}-{kind}"
    profile = read_corpus_profile(source) or CorpusProfile(
        name=corpus, tenant="demo", default_access={"allow": ["*"]}
    )
    offline.ingest(corpus, [source], profile, None, lambda *_: None)
    manifest = offline.build(corpus, lambda *_: None)
    offline.publish(corpus, manifest.generation)
    document = _document(offline, manifest, case)
    chunks = _chunks(offline, manifest)
    start = document.canonical_text.index(case.key)
    key = Span(start, start + len(case.key))
    shared = tuple(
        c.chunk_id
        for c in chunks
        if c.document_id == case.document_id and c.span.start < key.end and key.start < c.span.end
    )
    question = Question("cut-sentence", case.question, corpus)
    found = [hit.chunk_id for hit in online.search(question, _WHO, 10).hits]
    answer = online.answer(question, _WHO)
    citations = [citation for claim in answer.claims for citation in claim.citations]
    return Seen(
        chunker=offline.chunker.version,
        corpus_version=manifest.corpus_version,
        texts=tuple(c.text for c in chunks),
        key_chunks=shared,
        first=found[0] if found else "",
        recall={str(k): recall_at_k(shared, found, k) for k in (1, K)},
        selected=answer.retrieval.selected_chunk_ids,
        status=answer.status,
        reason=answer.reason or "",
        quotes=tuple(citation.quote for citation in citations),
        verified=all(_is_its_quote(offline, citation) for citation in citations),
        complete=any(all(part in citation.quote for part in case.both) for citation in citations),
        claim_faults=_claim_faults(case, answer, document),
    )  # fmt: skip


def _claim_faults(case: Case, answer: GroundedAnswer, document: ArchivedDocument) -> tuple[str, ...]:
    """The whole claim put to the verifier with each source of the answer alone: its fault, or "" where it holds.
    Numbers are the verifier's business; that the consequence is not in the source at all is seen here."""
    archive = {(document.document_id, document.document_version): document}
    faults = []
    for source in answer.sources:
        if source.document_id != case.document_id:
            continue
        citations = [c for claim in answer.claims for c in claim.citations if c.source_id == source.source_id]
        claim = Claim(case.claim, "generated", tuple(citations))
        fault = verify([claim], answer.sources, archive).fault
        absent = not all(part in "".join(c.quote for c in citations) for part in case.both)
        faults.append(fault or ("half of the rule is not in the source" if absent else ""))
    return tuple(faults)


def _document(offline: Offline, manifest: Manifest, case: Case) -> ArchivedDocument:
    key = (case.document_id, manifest.documents[case.document_id])
    return offline.engine.archive.get_many([key])[key]


def _is_its_quote(offline: Offline, citation: Citation) -> bool:
    key = (citation.document_id, citation.document_version)
    text = offline.engine.archive.get_many([key])[key].canonical_text
    return slice_matches(text, citation.span.start, citation.span.end, citation.quote_sha256)


def _chunks(offline: Offline, manifest: Manifest) -> list[Chunk]:
    generation = Generation.parse(manifest.generation)
    assert generation is not None
    return [indexed.chunk for indexed in offline.engine.generations.scan(generation)]
