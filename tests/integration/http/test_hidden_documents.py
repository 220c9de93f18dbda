"""What others own is not found, counted, suggested or traced, and moves nothing: reports 1 and 2, query syntax in
questions (TheHive#753) and names in rights (onyx#13109), through the door and over both engines."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from service.access.policy import principal_of, scope_of, visible
from service.access.rules import read_access
from tests.integration.http.doors import Door, document, ids, plain
from tests.integration.http.material import POSTS, refused

CONTACTS = [
    document(f"A{n}", f"报销联系人名单 {name}", "group:eng") for n, name in ((1, "甲"), (2, "乙"), (3, "丙"))
]
FINANCE = [document(f"fin{n:02d}", "报销流程", "group:finance") for n in range(60)]
ROSE = document("D1", "The tag of this rose garden is rose.", "group:eng")
LAYOFF = document("D2", "The tag of this list is layoff-2026. 裁员名单在 2026 年 4 月 8 日公布。", "group:hr")
RIVALS = document("R1", "The tag of the rival is rose too, acl:hr.", tenant="rival")


@pytest.fixture(scope="module")
def neighbours(door: Door) -> Door:
    """Sixty hidden documents that equal the question beside three that may be seen; and the three alone."""
    door.publish("crowded", FINANCE + CONTACTS)
    door.publish("alone", CONTACTS)
    return door


@pytest.fixture(scope="module")
def tags(door: Door) -> Door:
    door.publish("tags", [ROSE, LAYOFF, RIVALS])
    return door


@pytest.mark.parametrize("size", [1, 2, 3, 10, 50])
def test_hidden_neighbours_take_no_place_and_move_nothing(neighbours: Door, size: int) -> None:
    """Report 1."""
    alice = neighbours.who("alice", "eng")
    crowded = neighbours.search(alice, "crowded", "报销流程", size=size)
    alone = neighbours.search(alice, "alone", "报销流程", size=size)
    assert set(ids(crowded)) <= {"A1", "A2", "A3"}
    assert len(crowded["hits"]) == min(size, 3)
    # Ranks in each leg, scores and features too: as if the sixty did not exist.
    assert crowded["hits"] == alone["hits"]
    traces = [neighbours.trace(alice, found["traceId"]) for found in (crowded, alone)]
    assert "fin" not in json.dumps(traces[0]).replace("finished", "")
    assert stages(traces[0]) == stages(traces[1])


@pytest.mark.parametrize("path", ["/v1/answers", "/api/chat"])
@pytest.mark.parametrize("text", ["报销流程", "报销联系人名单里有谁？", "fin07 的报销流程"])
def test_answers_are_as_if_the_hidden_documents_did_not_exist(neighbours: Door, path: str, text: str) -> None:
    alice = neighbours.who("alice", "eng")
    crowded, alone = (neighbours.post(alice, path, corpus, text) for corpus in ("crowded", "alone"))
    assert crowded.status_code == alone.status_code == 200
    assert answer(crowded) == answer(alone)
    assert "fin" not in crowded.text.replace("fin07", "").replace(json.dumps("fin07 的报销流程"), "")


def test_who_may_see_them_finds_them(neighbours: Door) -> None:
    """Or the tests above would prove nothing."""
    both = neighbours.search(neighbours.who("fay", "finance", "eng"), "crowded", "报销流程", size=50)
    assert ids(both)[0].startswith("fin")


def stages(trace: Any) -> Any:
    """A trace's stages but for the names of generations; identifiers are those of the chunks."""
    return [(s["stage"], s["in"], s["out"], plain(s["detail"])) for s in trace["stages"]]


def answer(response: Any) -> Any:
    return {k: v for k, v in plain(response.get_json()).items() if k != "retrieval"}


def test_counts_suggestions_and_traces_know_one_tag_only(tags: Door) -> None:
    """Report 2."""
    alice = tags.who("alice", "eng")
    for text in ("lay", "layoff-2026", "rose", "tag", "layoff", "裁员名单"):
        found = tags.search(alice, "tags", text, size=50)
        assert found.keys() == {"hits", "retrieval", "degraded", "engine", "profile", "traceId"}
        assert set(ids(found)) <= {"D1"}
        for hit in found["hits"]:
            assert not hit.keys() & {"highlight", "suggestions", "total", "facets"}
        trace = tags.trace(alice, found["traceId"])
        for shown in (found, trace):
            assert "D2" not in json.dumps(shown) and "R1" not in json.dumps(shown)
            assert "2026" not in json.dumps(plain(shown), ensure_ascii=False).replace(text, "")
        legs = next(stage["detail"] for stage in trace["stages"] if stage["stage"] == "legs")
        assert all(leg["found"] <= 1 for leg in legs.values())
    assert "D2" in ids(tags.search(tags.who("bob", "hr"), "tags", "layoff-2026"))
    assert ids(tags.search(tags.who("ron", tenant="rival"), "tags", "rose")) == ["R1"]


PARAMETERS: dict[str, Any] = {
    "aggs": {"tags": {"terms": {"field": "anchors", "min_doc_count": 0}}},
    "aggregations": {"all": {"global": {}}},
    "facets": ["tag"],
    "min_doc_count": 0,
    "minDocCount": 0,
    "suggest": {"text": "lay"},
    "highlight": {"fields": {"body": {}}},
    "query": {"match_all": {}},
    "knn": {"field": "vector"},
    "filter": {"match_all": {}},
    "post_filter": {"match_all": {}},
    "_source": True,
    "fields": ["access.*"],
    "sort": ["access.allow"],
    "from": 0,
    "trackTotalHits": True,
    "total": True,
    "rescore": {},
    "scope": {"tenant": "demo", "labels": ["public"], "subjects": ["group:hr"]},
    "principal": {"subject": "bob"},
    "access": {"allow": ["*"]},
    "tenant": "rival",
    "groups": ["hr"],
    "labels": ["public"],
    "subjects": ["group:hr"],
    "index": "*",
    "generation": "x",
    "routing": "x",
    "preference": "x",
}


@pytest.mark.parametrize("path", POSTS)
def test_what_is_not_offered_is_refused(tags: Door, path: str) -> None:
    alice = tags.who("alice", "eng")
    body = {POSTS[path]: "rose", "corpus": "tags"}
    for name, value in PARAMETERS.items():
        refused(tags.client.post(path, json=body | {name: value}, headers=alice), 400, "INVALID_REQUEST")
        inside = tags.client.post(path, json=body | {POSTS[path]: {name: value}}, headers=alice)
        refused(inside, 400, "INVALID_REQUEST")
        beside = tags.client.post(path, query_string={name: "0"}, json=body, headers=alice)
        refused(beside, 400, "INVALID_REQUEST")


def test_a_trace_takes_no_parameters(tags: Door) -> None:
    alice = tags.who("alice", "eng")
    named = tags.search(alice, "tags", "rose")["traceId"]
    for name in ("aggs", "tenant", "x"):
        refused(tags.client.get(f"/v1/traces/{named}?{name}=1", headers=alice), 400, "INVALID_REQUEST")


SYNTAX = [
    "*",
    "* OR acl:hr",
    "* OR *:*",
    "access.tenant:rival",
    'access.allow:"group:hr"',
    "+access.allow:group\\:hr",
    "documentId:D2",
    "chunkId:D2*",
    "_exists_:access.deny",
    "_id:*",
    "title:/D./",
    "/.*/",
    "lay*",
    "layof?-2026",
    "layoff~",
    "layoff-2027~1",
    "[2020 TO 2030]",
    "{* TO *}",
    ">=2026",
    "foo/bar:(",
    "a AND NOT",
    "NOT rose",
    "rose && layoff",
    "rose || layoff",
    "!rose",
    '"',
    "\\",
    '\\"',
    "(((((",
    ")",
    "rose^1000 layoff^0.0001",
    "body:rose heading:rose",
    '{"match_all": {}}',
    '"}}]}, "query": {"match_all": {}}, {"x": "',
    '{"bool": {"should": [{"term": {"access.tenant": "rival"}}]}}',
    "{{#toJson}}scope{{/toJson}}",
    "${access}",
    "' OR 1=1 --",
    "'; DROP TABLE chunk; --",
    "NEAR(rose layoff)",
    "group:hr",
    "user:bob",
]
PIECES = ["*", "?", "~", "^2", ":", "(", ")", "[", "]", "{", "}", '"', "\\", "/", " OR ", " AND ", "NOT ", "+", "-",
          "&&", "||", "!", "rose", "layoff-2026", "裁员", "access.tenant", "acl", "hr", "rival", "_exists_", "D2", " "]  # fmt: skip


def test_query_syntax_is_text(tags: Door) -> None:
    """TheHive#753: a literal search in the same scope, whatever the signs."""
    alice = tags.who("alice", "eng")
    for text in SYNTAX:
        literal(tags, alice, text)

    @settings(max_examples=40, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=8).map("".join).filter(str.strip))
    def anything(text: str) -> None:
        literal(tags, alice, text)

    anything()


def literal(door: Door, who: dict[str, str], text: str) -> None:
    for path in POSTS:
        response = door.post(who, path, "tags", text)
        assert response.status_code == 200, (path, text, response.text)
        shown = json.dumps({k: v for k, v in response.get_json().items() if k != "gap"}, ensure_ascii=False)
        for hidden in ("D2", "R1", "裁员名单", "rival"):
            assert f'"{hidden}' not in shown, (path, text)
    found = door.search(who, "tags", text, size=50)
    assert set(ids(found)) <= {"D1"}
    assert found["degraded"] == []


# What a rule names beside what a token names: the same spelling is the same name, and nothing else is.
NAMES = [
    "owners",
    "siteA/owners",
    "siteB/owners",
    "siteA:owners",
    "siteA,owners",
    "siteA owners",
    "siteA",
    "a,group:b",
    "a",
    "b",
    "group:a",
    "user:bob",
    "*",
    "?",
    "%",
    "%2A",
    "x\\",
    'x"',
    "[x]",
    "ＳＩＴＥＡ",
    "公开",
    "\U0001f600",
    "x" * 200,
]
GROUPS = [[name] for name in NAMES] + [
    [],
    ["siteB/owners", "siteA"],
    ["a", "b"],
    ["siteA", "owners"],
    ["group", "user"],
]


def test_a_name_opens_what_is_written_for_it_and_nothing_else(door: Door) -> None:
    """onyx#13109: names are compared whole; no separator makes one of two, or two of one."""
    rules = [{"allow": [f"group:{name}"]} for name in NAMES]
    rules += [{"allow": ["*"], "deny": [f"group:{name}"]} for name in NAMES[:6]]
    rules += [{"allow": ["user:owners"]}, {"allow": ["*"], "labels": ["siteA", "owners"]}]
    documents = [
        document(f"n{number:02d}", f"Door number {number} is open.", **rule)
        for number, rule in enumerate(rules)
    ]
    door.publish("names", documents)
    seen = 0
    for groups in GROUPS:
        scope = scope_of(principal_of(tenant="demo", subject="nina", groups=groups, labels=[], roles=[]))
        expected = {
            item["documentId"]
            for item, rule in zip(documents, rules, strict=True)
            if visible(read_access(rule, tenant="demo", where="here"), scope)
        }
        found = door.search(door.who("nina", *groups), "names", "Which door is open?", size=50)
        assert set(ids(found)) == expected, groups
        seen += len(expected)
    assert seen > len(GROUPS)
