"""A corpusVersion is a function of its documents and of everything that processed them."""

from __future__ import annotations

import re
from dataclasses import fields, replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from service.domain.generations import Generation, Processors
from service.offline.generations.identity import corpus_version, next_generation

PROCESSORS = Processors({"text/markdown": "markdown@1"}, "structure-1", "analyzer-1", "tiny@1", "chunks.v1:0")
names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
documents = st.dictionaries(names, names, max_size=5)
processors = st.builds(
    Processors, parsers=st.dictionaries(names, names, max_size=3), chunker=names, analyzer=names, embedder=names, mapping=names
)  # fmt: skip


@given(documents, processors)
def test_order_does_not_count(some: dict[str, str], by: Processors) -> None:
    backwards = dict(reversed(some.items()))
    again = replace(by, parsers=dict(reversed(by.parsers.items())))
    version = corpus_version(some, by)
    assert version == corpus_version(backwards, again)
    assert re.fullmatch("cv[0-9a-f]{12}", version)


@given(documents, processors, documents, processors)
def test_any_difference_makes_another(
    some: dict[str, str], by: Processors, others: dict[str, str], by_other: Processors
) -> None:
    same = (some, by) == (others, by_other)
    assert (corpus_version(some, by) == corpus_version(others, by_other)) == same


@given(documents, names, names)
def test_a_document_more_or_in_another_version_makes_another(
    some: dict[str, str], name: str, version: str
) -> None:
    changed = some | {name: version}
    assert (corpus_version(changed, PROCESSORS) == corpus_version(some, PROCESSORS)) == (changed == some)


def test_each_processor_counts() -> None:
    versions = {corpus_version({"a": "1"}, PROCESSORS)}
    for field in fields(Processors):
        value: Any = {"text/markdown": "markdown@2"} if field.name == "parsers" else "other"
        versions.add(corpus_version({"a": "1"}, replace(PROCESSORS, **{field.name: value})))
    assert len(versions) == 1 + len(fields(Processors))


def test_without_token_vectors_the_id_is_what_it_was() -> None:
    """As it was made before there were any: nobody has to build again for what he does not keep."""
    assert corpus_version({"a": "1"}, PROCESSORS) == "cvf5ea4ba97ede"


def test_two_processors_do_not_change_places() -> None:
    one, other = (
        replace(PROCESSORS, chunker="x", analyzer="y"),
        replace(PROCESSORS, chunker="y", analyzer="x"),
    )
    assert corpus_version({}, one) != corpus_version({}, other)


def test_numbers_rise_over_all_versions_of_a_corpus() -> None:
    def name(number: int, version: str = "cv0123456789ab") -> str:
        return Generation("p", "c", version, number).name

    def following(*existing: str) -> Generation:
        return next_generation("p", "c", "cvffffffffffff", existing)

    assert following() == Generation("p", "c", "cvffffffffffff", 1)
    assert following(name(1), name(3, "cvffffffffffff"), name(2)).number == 4
    assert following(name(9999), name(10_000)).number == 10_001
    assert following("something else", name(2)).number == 3


@given(
    st.from_regex(r"[a-z][a-z0-9-]{0,9}", fullmatch=True),
    st.from_regex(r"[a-z0-9]([a-z0-9-]{0,8}[a-z0-9])?", fullmatch=True),
    st.integers(1, 10**6),
)
def test_a_generation_s_name_is_read_back(prefix: str, corpus: str, number: int) -> None:
    generation = Generation(prefix, corpus, "cv0123456789ab", number)
    found = Generation.parse(generation.name)
    assert found is not None
    assert (found.name, found.corpus_version, found.number) == (generation.name, "cv0123456789ab", number)
    if "-chunks-" not in f"{prefix}-" + f"-{corpus}":
        assert found == generation
