"""Every letter of a document is in a chunk or in a named exclusion."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from service.domain.documents import ArchivedDocument, Chunk
from service.domain.sources import ParsedDocument
from service.offline.generations.coverage import Coverage, coverage
from service.offline.ingest.chunking import Chunker
from tests.unit.offline.material import HTML, MARKDOWN, PLAIN, parsed
from tests.unit.offline.test_properties import chunkers, read, sources


def archived(document: ParsedDocument, media_type: str = MARKDOWN) -> ArchivedDocument:
    return ArchivedDocument(
        document_id="d",
        document_version=document.version,
        raw_sha256=document.raw_sha256,
        canonical_text=document.canonical_text,
        canonical_sha256="",
        media_type=media_type,
        parser_version=document.parser_version,
        title=document.title,
        locale=document.locale,
        canonical_url="",
        blocks=document.blocks,
        archived_at="",
    )


def chunks_of(document: ParsedDocument, chunker: Chunker | None = None) -> list[Chunk]:
    return (chunker or Chunker()).cut(
        "d", document.version, document.canonical_text, document.blocks, document.title
    )


def covered(source: str, media_type: str = MARKDOWN) -> Coverage:
    document = parsed(source, media_type)
    return coverage(archived(document, media_type), chunks_of(document))


def test_every_kind_of_exclusion_is_named() -> None:
    source = (
        "---\nid: abc\n---\n\n# Top\n\n## Mid\n\nbody1\n\n<!-- aside -->\n\n| ab | cd |\n|---|---|\n| ef | gh |\n\n"
        "[ref]: https://x.org 'T'\n"
    )
    found = covered(source)
    assert found.covered == len("body1efgh")
    assert found.excluded == {
        "front matter": len("idabc"),
        "heading": len("TopMid"),
        "table head": len("abcd"),
        "markup": len("aside") + len("refhttpsxorgT"),
    }
    assert found.whole


def test_text_that_no_chunk_holds_is_lost() -> None:
    document = parsed("# A\n\none\n\n## B\n\ntwo\n\n| h |\n|---|\n| r |\n")
    first, second, table = chunks_of(document)
    text = document.canonical_text

    def lost(*chunks: Chunk) -> list[str]:
        return [span.of(text).strip() for span in coverage(archived(document), chunks).lost]

    assert lost(first, second, table) == []
    assert lost(second, table) == ["one"]  # B stands in A, so its chunk shows both headings
    assert lost(first) == ["## B\n\ntwo\n\n| h |\n|---|\n| r |"]
    assert lost(first, table) == ["two"]
    assert lost(first, second) == ["| h |\n|---|\n| r |"]


@pytest.mark.parametrize("media_type", [MARKDOWN, HTML, PLAIN])
def test_nothing_of_any_document_is_lost(media_type: str) -> None:
    @settings(max_examples=300, deadline=None)
    @given(sources(media_type), chunkers)
    def holds(source: str, chunker: Chunker) -> None:
        document = read(source, media_type)
        if document is not None:
            found = coverage(archived(document, media_type), chunks_of(document, chunker))
            assert [span.of(document.canonical_text) for span in found.lost] == []

    holds()
