"""A scope cannot be left out: whatever reads chunks takes one, by type and without a default."""

from __future__ import annotations

import ast
import inspect
import typing
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import service
from service.adapters.elastic import bodies
from service.adapters.elastic.retrieval import ElasticRetrieval
from service.adapters.embedded.retrieval import EmbeddedRetrieval
from service.domain.ports import Retrieval
from service.domain.rights import Principal, Scope

PACKAGE = Path(service.__file__).parent
# `resolve` reads an alias; the other lists which names stand in rights, for cache keys, and finds no chunk.
METHODS_WITHOUT = {"resolve", "rights_in_use"}
BODIES_WITHOUT = {"rights_in_use_body"}


def public(owner: Any) -> dict[str, Callable[..., Any]]:
    found = inspect.getmembers(owner, inspect.isfunction)
    return {name: function for name, function in found if not name.startswith("_")}


def search_bodies() -> dict[str, Callable[..., Any]]:
    """Functions of the module that return a body, whatever they are called."""
    own = {n: f for n, f in public(bodies).items() if f.__module__ == bodies.__name__}
    return {n: f for n, f in own.items() if typing.get_type_hints(f).get("return") == bodies.Body}


def takes_a_scope(function: Callable[..., Any]) -> bool:
    """A parameter that is a Scope and nothing else: not None, not a dict, and no default that stands for one."""
    types = typing.get_type_hints(function)
    parameters = inspect.signature(function).parameters.values()
    return any(types.get(p.name) is Scope and p.default is inspect.Parameter.empty for p in parameters)


def test_every_question_of_the_port_takes_a_scope() -> None:
    asked = public(Retrieval)
    assert len(asked) >= 5
    assert {name for name, method in asked.items() if not takes_a_scope(method)} <= METHODS_WITHOUT


@pytest.mark.parametrize("adapter", [ElasticRetrieval, EmbeddedRetrieval])
def test_an_engine_answers_the_questions_of_the_port_and_no_others(adapter: type) -> None:
    assert public(adapter).keys() == public(Retrieval).keys()
    for name, method in public(adapter).items():
        assert takes_a_scope(method) or name in METHODS_WITHOUT, name


def test_every_search_body_is_made_of_a_scope() -> None:
    found = search_bodies()
    assert {
        "bm25_body",
        "anchors_body",
        "knn_body",
        "similarities_body",
        "fetch_body",
        "leg_body",
    } <= found.keys()
    assert {name for name in public(bodies) if name.endswith("_body")} <= found.keys()
    assert {name for name, function in found.items() if not takes_a_scope(function)} <= BODIES_WITHOUT


def test_the_check_sees_a_function_without_a_scope() -> None:
    def none(leg: str) -> bodies.Body: ...
    def untyped(leg: str, scope) -> bodies.Body: ...  # type: ignore[no-untyped-def]
    def optional(leg: str, scope: Scope | None) -> bodies.Body: ...
    def defaulted(leg: str, scope: Scope = Scope("", frozenset(), frozenset())) -> bodies.Body: ...  # noqa: B008
    def a_dict(leg: str, scope: dict[str, Any]) -> bodies.Body: ...
    def whoever(leg: str, principal: Principal) -> bodies.Body: ...
    def with_one(leg: str, scope: Scope) -> bodies.Body: ...

    for function in (none, untyped, optional, defaulted, a_dict, whoever):
        assert not takes_a_scope(function), function.__name__
    assert takes_a_scope(with_one)


def test_what_answers_callers_never_reads_chunks_past_the_port() -> None:
    """`Generations.scan` gives every chunk of everybody: it is for the offline path."""
    files = [*(PACKAGE / "online").rglob("*.py"), *(PACKAGE / "web").rglob("*.py")]
    assert len(files) > 20
    assert [found for file in files for found in reaches(file)] == []


def reaches(file: Path) -> Iterator[str]:
    nodes = list(ast.walk(ast.parse(file.read_text(encoding="utf-8"))))
    # Manifests and jobs hold no chunk, nor does the list of live aliases; a review is asked about before it is shown.
    harmless = {
        id(node if node.attr == "scan" else node.value)
        for node in nodes
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Attribute)
        and (node.attr, node.value.attr)
        in {("scan", "builds"), ("scan", "jobs"), ("scan", "reviews"), ("live", "generations")}
    }
    for node in nodes:
        if (
            isinstance(node, ast.Attribute)
            and node.attr in ("generations", "scan")
            and id(node) not in harmless
        ):
            yield f"{file.name}:{node.lineno} {node.attr}"


def test_scopes_are_made_in_one_place() -> None:
    """A Scope put together elsewhere is one that nobody compared with a principal. Adapters only narrow one."""
    made = {
        file.relative_to(PACKAGE).as_posix()
        for file in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Scope"
    }
    assert made == {"access/policy.py", "adapters/acceptance.py", "adapters/embedded/rights.py"}
