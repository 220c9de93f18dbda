"""Archive, registry, builds and traces on both engines."""

from __future__ import annotations

import dataclasses
import json
import secrets
import threading
import time
from typing import Any

import pytest

from service.adapters.records import archived_to_record
from service.domain.documents import Hyperlink, RegistryEntry, Span, Standing
from service.domain.ports import Engine
from service.domain.rights import Access
from service.errors import Conflict, InvalidInput
from tests.contract.material import CORPUS, document, entry, manifest, new_generation

ODD_IDS = [
    "a",
    "A",
    "a b",
    "* OR acl:hr",
    'quote"s',
    "back\\slash",
    "nul\0",
    "nul\0x",
    "new\nline",
    "文档/二",
    "😀",
    "%",
    "_",
    "x" * 3000,
]


def test_a_version_is_archived_once_and_never_changed(engine: Engine) -> None:
    assert engine.archive.get_many([("doc", "v1")]) == {}
    first = document(text="原文。")
    assert engine.archive.put(first) is True
    assert engine.archive.put(document(text="别的。")) is False
    second = document(version="v2", text="新的。")
    assert engine.archive.put(second) is True
    found = engine.archive.get_many([("doc", "v1"), ("doc", "v2"), ("doc", "v3"), ("other", "v1")])
    assert found == {("doc", "v1"): first, ("doc", "v2"): second}


def test_the_archive_tells_what_it_takes(engine: Engine) -> None:
    assert engine.archive.size() == 0
    engine.archive.put(document(text="原文。"))
    small = engine.archive.size()
    assert 0 < small < 20_000
    # Nothing that could be packed: by how much it must grow is known then.
    engine.archive.put(document(version="v2", text=secrets.token_hex(50_000)))
    until = time.monotonic() + 30  # Elasticsearch counts every ten seconds.
    while engine.archive.size() <= small + 40_000:
        assert time.monotonic() < until
        time.sleep(0.5)


def test_links_and_ids_of_blocks_are_archived_and_a_block_has_none_of_an_earlier_release(
    engine: Engine,
) -> None:
    """Without links a block is kept as it was before there were any."""
    plain = document(text="一段很长的文字。")
    links = (Hyperlink(Span(0, 2), "ch01.html#节"), Hyperlink(Span(3, 4), 'https://example.org/?a=1&b="2"'))
    first, *others = plain.blocks
    linking = dataclasses.replace(
        plain,
        document_version="v2",
        blocks=(dataclasses.replace(first, links=links, ids=("a", "甲 b")), *others),
    )
    assert not {"links", "ids"} & set(json.loads(archived_to_record(plain)["blocks"])[0])
    engine.archive.put(plain)
    engine.archive.put(linking)
    found = engine.archive.get_many([("doc", "v1"), ("doc", "v2")])
    assert found == {("doc", "v1"): plain, ("doc", "v2"): linking}


def test_archived_documents_with_odd_ids_do_not_meet(engine: Engine) -> None:
    for number, name in enumerate(ODD_IDS):
        assert engine.archive.put(document(name, text=f"{number}")) is True
    found = engine.archive.get_many([(name, "v1") for name in ODD_IDS] + [("\ud800", "v1")])
    assert {key[0]: value.canonical_text for key, value in found.items()} == {
        name: str(number) for number, name in enumerate(ODD_IDS)
    }
    engine.archive.put(document("x", "y-z", text="one"))
    engine.archive.put(document("x-y", "z", text="two"))
    assert engine.archive.get_many([("x", "y-z")])["x", "y-z"].canonical_text == "one"


def test_a_long_document_is_archived_whole(engine: Engine) -> None:
    """5 MB without a space: nothing may be indexed, analysed or cut."""
    long = document(text="很长的文字" * 350_000)
    assert len(long.canonical_text.encode()) > 5_000_000
    blocks = tuple(dataclasses.replace(long.blocks[1]) for _ in range(20_000))
    long = dataclasses.replace(long, blocks=blocks)
    assert engine.archive.put(long) is True
    assert engine.archive.get_many([("doc", "v1")]) == {("doc", "v1"): long}


def test_text_that_has_no_utf8_form_is_refused_with_a_reason(engine: Engine) -> None:
    with pytest.raises(InvalidInput, match="surrogate"):
        engine.archive.put(document(text="half \ud83d"))
    with pytest.raises(InvalidInput, match="surrogate"):
        engine.registry.write(entry("doc\ud800"))


def test_an_entry_is_created_then_replaced_only_by_who_read_it_last(engine: Engine) -> None:
    assert engine.registry.get_many(CORPUS, ["doc"]) == {}
    created = engine.registry.write(entry())
    assert created == entry(token=created.token)
    assert created.token is not None
    with pytest.raises(Conflict):
        engine.registry.write(entry())
    rights = Access("acme", frozenset({"secret", "public"}), frozenset({"group:hr"}), frozenset({"user:bob"}))
    changed = engine.registry.write(dataclasses.replace(created, access=rights, deleted=True, sequence=2))
    assert changed.token != created.token
    with pytest.raises(Conflict):
        engine.registry.write(dataclasses.replace(created, sequence=3))
    assert engine.registry.get_many(CORPUS, ["doc", "missing", "\ud800"]) == {"doc": changed}
    assert engine.registry.get_many("another", ["doc"]) == {}
    assert engine.registry.write(dataclasses.replace(changed, deleted=False)).deleted is False


def test_a_scan_is_ordered_by_document_and_sees_every_finished_write(engine: Engine) -> None:
    assert list(engine.registry.scan(CORPUS)) == []
    written: dict[str, RegistryEntry] = {}
    for name in ODD_IDS:
        written[name] = engine.registry.write(entry(name, deleted=name == "a b"))
        engine.registry.write(entry(name, corpus="another"))
        assert [found.document_id for found in engine.registry.scan(CORPUS)] == sorted(written)
    # Code points and UTF-8 bytes sort alike; UTF-16 does not: U+FFFD before U+1F600 only in the first two.
    written["\ufffd"] = engine.registry.write(entry("\ufffd"))
    assert list(engine.registry.scan(CORPUS)) == [written[name] for name in sorted(written)]
    engine.registry.write_corpus_profile(CORPUS, {})
    engine.registry.raise_epoch()
    assert len(list(engine.registry.scan(CORPUS))) == len(written), "profiles and the epoch are no entries"


def test_many_entries_are_read_at_once(engine: Engine) -> None:
    names = [f"d{n}" for n in range(1100)]
    tokens = {name: engine.registry.write(entry(name)).token for name in names[::100]}
    found = engine.registry.get_many(CORPUS, names)
    assert {name: item.token for name, item in found.items()} == tokens


def test_corpora_are_those_with_a_profile(engine: Engine) -> None:
    assert engine.registry.corpora() == ()
    assert engine.registry.corpus_profile(CORPUS) is None
    engine.registry.write(entry(corpus="no-profile"))
    profile = {
        "title": "手册",
        "rules": [{"pattern": "明年.*价格", "reason": "QUESTION_OUT_OF_SCOPE"}],
        "n": 1.5,
    }
    engine.registry.write_corpus_profile("b", {})
    engine.registry.write_corpus_profile(CORPUS, {"title": "old"})
    engine.registry.write_corpus_profile(CORPUS, profile)
    assert engine.registry.corpora() == ("b", CORPUS)
    assert engine.registry.corpus_profile(CORPUS) == profile


def test_the_epoch_counts_every_raise_even_of_many_at_once(engine: Engine) -> None:
    assert engine.registry.epoch() == 0
    assert [engine.registry.raise_epoch(), engine.registry.raise_epoch()] == [1, 2]
    given: list[int] = []

    def work() -> None:
        given.extend(engine.registry.raise_epoch() for _ in range(5))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(given) == list(range(3, 23))
    assert engine.registry.epoch() == 22


def test_of_many_writers_of_one_entry_one_wins(engine: Engine) -> None:
    created = engine.registry.write(entry())
    outcomes: list[str] = []

    def work(who: str) -> None:
        try:
            engine.registry.write(dataclasses.replace(created, updated_by=who))
            outcomes.append(who)
        except Conflict:
            outcomes.append("lost")

    threads = [threading.Thread(target=work, args=(str(number),)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes.count("lost") == 5
    [winner] = [who for who in outcomes if who != "lost"]
    assert engine.registry.get_many(CORPUS, ["doc"])["doc"].updated_by == winner


def test_a_manifest_is_created_then_replaced_only_by_who_read_it_last(engine: Engine) -> None:
    generation = new_generation(engine)
    assert engine.builds.get(generation.name) is None
    assert list(engine.builds.scan(CORPUS)) == []
    created = engine.builds.write(manifest(generation))
    with pytest.raises(Conflict):
        engine.builds.write(manifest(generation))
    changed = engine.builds.write(dataclasses.replace(created, state="ready", replaced="x"))
    with pytest.raises(Conflict):
        engine.builds.write(dataclasses.replace(created, state="failed"))
    assert engine.builds.get(generation.name) == changed
    assert dataclasses.replace(changed, token=None) == manifest(generation, state="ready", replaced="x")


def test_manifests_are_listed_by_number(engine: Engine) -> None:
    numbers = [10_000, 2, 1, 30, 9_999]
    for number in numbers:
        engine.builds.write(manifest(new_generation(engine, number)))
    engine.builds.write(manifest(new_generation(engine, 5, corpus="another")))
    listed = list(engine.builds.scan(CORPUS))
    assert [item.generation[-4:] for item in listed] == ["0001", "0002", "0030", "9999", "0000"]
    assert all(item == engine.builds.get(item.generation) for item in listed)


def test_a_manifest_of_a_large_corpus_is_kept_whole(engine: Engine) -> None:
    documents = {f"docs/{n:06d}.md": f"{n:064x}" for n in range(30_000)}
    written = engine.builds.write(manifest(new_generation(engine), documents=documents))
    assert engine.builds.get(written.generation) == written
    assert list(engine.builds.scan(CORPUS)) == [written]


def test_a_manifest_needs_the_name_of_a_generation(engine: Engine) -> None:
    with pytest.raises(InvalidInput):
        engine.builds.write(dataclasses.replace(manifest(new_generation(engine)), generation="nonsense"))


def test_a_trace_is_read_back_at_once(engine: Engine) -> None:
    assert engine.traces.get("t-1") is None
    trace = {"traceId": "t-1", "stages": [{"stage": "pin", "ms": 1.25, "detail": {"n": 3}}], "reason": None}
    engine.traces.save("t-1", trace)
    engine.traces.save("t-2", {})
    assert engine.traces.get("t-1") == trace
    assert engine.traces.get("t-2") == {}
    assert engine.traces.get("t-3") is None
    assert engine.traces.get("\ud800") is None
    assert engine.traces.get("") is None


def test_records_with_citations_are_found_by_corpus_the_newest_first(engine: Engine) -> None:
    assert engine.traces.citing(CORPUS, 5) == []
    place = {"documentId": "doc", "documentVersion": "v1", "start": 0, "end": 4, "sha256": "ab"}

    def record(number: int, corpus: str = CORPUS, **outcome: Any) -> dict[str, Any]:
        return {"traceId": f"t-{number}", "corpus": corpus, "outcome": outcome}

    kept = [record(number, citations=[place]) for number in range(4)]
    others = [record(7, "other", citations=[place]), record(8, citations=[]), record(9, error="UNAVAILABLE")]
    for trace in [*kept[:2], *others, *kept[2:], {}]:
        engine.traces.save(trace.get("traceId", "empty"), trace)
        time.sleep(0.002)  # They are ordered by the millisecond.
    assert engine.traces.citing(CORPUS, 3) == kept[:0:-1]
    assert engine.traces.citing("other", 3) == others[:1]
    assert engine.traces.citing("nothing", 3) == []


def test_changes_are_kept_once_and_read_in_order(engine: Engine) -> None:
    assert list(engine.audit.scan(CORPUS)) == []
    first = entry(ODD_IDS[8]).change
    hr = Access("acme", frozenset({"public"}), frozenset({"group:hr"}), frozenset({"user:bob"}))
    second = dataclasses.replace(
        first, sequence=2, action="revoke", before=first.after, after=Standing("v2", hr, True)
    )
    twelfth = dataclasses.replace(second, sequence=12)
    for change in (twelfth, second, first, dataclasses.replace(entry("other").change, sequence=3)):
        engine.audit.append(change)
    engine.audit.append(dataclasses.replace(second, who="somebody else"))
    assert list(engine.audit.scan(CORPUS, first.document_id)) == [first, second, twelfth]
    assert [change.document_id for change in engine.audit.scan(CORPUS)] == [first.document_id] * 3 + ["other"]
    assert list(engine.audit.scan(CORPUS, "missing")) == list(engine.audit.scan("another")) == []
    assert list(engine.audit.scan(CORPUS, "\ud800")) == []


def test_an_entry_carries_its_latest_change_and_its_rule(engine: Engine) -> None:
    hr = Access("acme", frozenset({"public"}), frozenset({"group:hr"}))
    changed = entry(
        action="grant", before=Standing("v0", hr, False), ruled=hr, spread_pending=True, sequence=7
    )
    written = engine.registry.write(changed)
    assert dataclasses.replace(written, token=None) == changed
    assert engine.registry.get_many(CORPUS, ["doc"])["doc"] == written
    assert list(engine.registry.scan(CORPUS)) == [written]
    assert (written.change.before, written.change.after) == (Standing("v0", hr, False), written.standing)
