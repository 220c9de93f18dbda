"""Reading sources and traces: rights first, then the span; everything missing or forbidden is one answer."""

from __future__ import annotations

from pathlib import Path

import pytest
from flask.testing import FlaskClient

from service.bootstrap import build
from service.profiles.corpus import CorpusProfile
from service.settings import Settings
from tests.integration.http.material import PRICE, SWITCH, ask, bearer, citations, refused


@pytest.fixture
def source(client: FlaskClient, headers: dict[str, str]) -> str:
    cited = next(citations(ask(client, headers)))
    return f"/v1/sources/{cited['documentId']}/{cited['documentVersion']}"


@pytest.fixture
def hidden(client: FlaskClient, settings: Settings) -> str:
    """The address of a document that needs a label, found by one who has it."""
    hits = ask(client, bearer(settings, labels=["restricted-demo"]), "/v1/search", SWITCH)["hits"]
    version = next(hit["documentVersion"] for hit in hits if hit["documentId"] == "restricted-runbook")
    return f"/v1/sources/restricted-runbook/{version}"


def test_a_span_and_what_stands_around_it(client: FlaskClient, headers: dict[str, str], source: str) -> None:
    text = client.get(source, headers=headers).get_json()["text"]
    view = client.get(f"{source}?start=10&end=20", headers=headers).get_json()
    assert (view["before"], view["text"], view["after"]) == (text[:10], text[10:20], text[20:])
    assert client.get(f"{source}?start=10", headers=headers).get_json()["text"] == text[10:]
    assert client.get(f"{source}?end={len(text)}", headers=headers).get_json()["text"] == text


@pytest.mark.parametrize(
    ("query", "code", "field"),
    [
        ("start=-1", "INVALID_REQUEST", "start"),
        ("end=-5", "INVALID_REQUEST", "end"),
        ("start=x", "INVALID_REQUEST", "start"),
        ("start=", "INVALID_REQUEST", "start"),
        ("start=1e3", "INVALID_REQUEST", "start"),
        ("start=1_0", "INVALID_REQUEST", "start"),
        ("start=1.5", "INVALID_REQUEST", "start"),
        ("start=NaN", "INVALID_REQUEST", "start"),
        ("start=null", "INVALID_REQUEST", "start"),
        ("start=%C2%B2", "INVALID_REQUEST", "start"),
        ("start=" + "9" * 5000, "INVALID_REQUEST", "start"),
        ("end=0", "INVALID_REQUEST", "end"),
        ("extra=1", "INVALID_REQUEST", "extra"),
        ("start=5&end=2", "INVALID_SPAN", None),
        ("start=5&end=5", "INVALID_SPAN", None),
        ("start=99999999", "INVALID_SPAN", None),
        ("end=99999999", "INVALID_SPAN", None),
        ("start=" + "9" * 40, "INVALID_SPAN", None),
    ],
)
def test_a_span_that_cannot_be(
    client: FlaskClient, headers: dict[str, str], source: str, query: str, code: str, field: str | None
) -> None:
    assert refused(client.get(f"{source}?{query}", headers=headers), 400, code).get("field") == field


def test_missing_and_forbidden_are_one_answer(
    client: FlaskClient, settings: Settings, headers: dict[str, str], source: str, hidden: str
) -> None:
    labelled = bearer(settings, labels=["restricted-demo"])
    assert client.get(hidden, headers=labelled).status_code == 200
    document, version = source.rsplit("/", 1)
    denied = [
        hidden,
        f"{hidden}?start=0&end=3",
        f"{hidden}?start=5&end=2",
        f"{hidden}?start=0&end=99999999",
        f"{hidden.rsplit('/', 1)[0]}/{'0' * 64}",
        f"{document}/{'0' * 64}",
        f"{document}/{version.partition('.')[0]}.9",
        f"{document}/{hidden.rsplit('/', 1)[1]}",
        f"/v1/sources/no-such-document/{version}",
        f"/v1/sources/no-such-document/{version}?start=5&end=2",
        f"/v1/sources/..%2f..%2fetc%2fpasswd/{version}",
        f"/v1/sources/a%00b/{version}",
        f"/v1/sources/%ff%fe/{version}",
        f"/v1/sources/%2A/{version}",
        "/v1/nothing-here",
    ]
    # The body holds no id of the request, so the bytes can be compared as they are; so can the headers.
    first = client.get(denied[0], headers=headers)
    refused(first, 404, "NOT_FOUND")
    for address in denied[1:]:
        other = client.get(address, headers=headers)
        assert (other.status_code, other.data) == (404, first.data), address
        assert sorted(other.headers) == sorted(first.headers), address
    stranger = bearer(settings, tenant="elsewhere", labels=["restricted-demo"])
    for address in (source, hidden):
        assert client.get(address, headers=stranger).data == first.data


def test_a_long_source_is_read_in_pieces(
    client: FlaskClient, settings: Settings, headers: dict[str, str], tmp_path: Path
) -> None:
    long = "".join(f"{number:07}。\U0001f600\n" for number in range(4_500))  # 45,000 code points, more bytes
    (tmp_path / "long.txt").write_text(long, encoding="utf-8")
    offline = build(settings).offline
    profile = CorpusProfile(name="long", title="Long", tenant="demo")
    report = offline.ingest("long", [tmp_path], profile, {"allow": ["*"]}, lambda step, done, total: None)
    assert not report.refused
    entry = offline.engine.registry.get_many("long", ["long.txt"])["long.txt"]
    address = f"/v1/sources/long.txt/{entry.current_version}"
    pieces = [client.get(address, headers=headers).get_json()]
    while pieces[-1]["after"]:
        start = pieces[-1]["endOffset"]
        pieces.append(client.get(f"{address}?start={start}", headers=headers).get_json())
    assert [len(piece["text"]) for piece in pieces][:2] == [20_000, 20_000]
    assert "".join(piece["text"] for piece in pieces).rstrip() == long.rstrip()
    assert [len(piece["before"]) for piece in pieces] == [0, 240, 240]
    whole = client.get(f"{address}?start=0&end=20001", headers=headers)
    assert "20000" in refused(whole, 400, "INVALID_SPAN")["message"]


@pytest.mark.parametrize("query", ["?start=-1", "?end=0", "?extra=1"])
def test_a_bad_query_says_the_same_of_hidden_and_missing(
    client: FlaskClient, headers: dict[str, str], hidden: str, query: str
) -> None:
    missing = f"/v1/sources/no-such-document/{hidden.rsplit('/', 1)[1]}"
    there, nowhere = client.get(hidden + query, headers=headers), client.get(missing + query, headers=headers)
    assert (there.status_code, there.data) == (nowhere.status_code, nowhere.data) == (400, nowhere.data)


@pytest.mark.parametrize("version", ["1", "live", "F" * 64, "0" * 63, "0" * 64 + ".12345"])
def test_a_version_that_cannot_be_one(client: FlaskClient, headers: dict[str, str], version: str) -> None:
    refused(client.get(f"/v1/sources/retry-policy/{version}", headers=headers), 400, "INVALID_REQUEST")


def test_a_trace_holds_stages_and_no_text(client: FlaskClient, settings: Settings) -> None:
    inspector = bearer(settings, roles=["reader", "inspect"])
    answer = ask(client, inspector)
    trace = client.get(f"/v1/traces/{answer['traceId']}", headers=inspector)
    assert trace.status_code == 200
    assert trace.get_json()["stages"][0]["stage"] == "pin"
    assert "隔离队列" not in trace.text and "自动重试" not in trace.text


def test_a_trace_is_for_those_who_may_see_all_it_names(
    client: FlaskClient, settings: Settings, headers: dict[str, str]
) -> None:
    both = {"labels": ["restricted-demo"], "roles": ["reader", "inspect"]}
    named = ask(client, bearer(settings, **both), "/v1/search", SWITCH)["traceId"]
    refused(client.get(f"/v1/traces/{named}", headers=headers), 403, "ROLE_REQUIRED")
    assert client.get(f"/v1/traces/{named}", headers=bearer(settings, **both)).status_code == 200
    unlabelled = bearer(settings, roles=["inspect"])
    forbidden = client.get(f"/v1/traces/{named}", headers=unlabelled)
    missing = client.get(f"/v1/traces/{'0' * 32}", headers=unlabelled)
    assert (
        (forbidden.status_code, forbidden.data) == (missing.status_code, missing.data) == (404, missing.data)
    )
    stranger = bearer(settings, tenant="elsewhere", **both)
    assert client.get(f"/v1/traces/{named}", headers=stranger).data == missing.data


def test_a_refusals_trace_belongs_to_its_tenant(client: FlaskClient, settings: Settings) -> None:
    named = ask(client, bearer(settings), text=PRICE)["traceId"]
    stranger = bearer(settings, tenant="elsewhere", roles=["inspect"])
    refused(client.get(f"/v1/traces/{named}", headers=stranger), 404, "NOT_FOUND")
    assert client.get(f"/v1/traces/{named}", headers=bearer(settings, roles=["inspect"])).status_code == 200
