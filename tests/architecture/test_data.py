"""Files that are not code: mappings are strict, nothing tracked names a machine or a package index, the image is whole."""

from __future__ import annotations

import fnmatch
import json
import re
import subprocess
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from service.adapters.elastic.mappings import CURRENT
from service.app import create_app
from service.settings import Settings

REPOSITORY = Path(__file__).resolve().parents[2]
MAPPINGS = sorted((REPOSITORY / "es_mappings").glob("*.json"))
TRACKED = subprocess.run(
    ["git", "ls-files", "-z"], cwd=REPOSITORY, capture_output=True, text=True, check=True
).stdout.split("\0")[:-1]
# Other people's texts, and the words a model knows.
NOT_OURS = (
    "service/samples/*/*",
    "service/embedders/*/tokenizer.json",
    "rerank_models/*/tokenizer.json",
    "*.onnx",
)


def ours() -> list[str]:
    return [
        name
        for name in TRACKED
        if not any(fnmatch.fnmatch(name, pattern) for pattern in NOT_OURS) and (REPOSITORY / name).is_file()
    ]


def read(name: str) -> str:
    return (REPOSITORY / name).read_text(encoding="utf-8")


# ── mappings ────────────────────────────────────────────────────────────────────────────────────────────


def objects(properties: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every field that has, or could be given, fields of its own."""
    for name, field in properties.items():
        here = f"{path}{name}"
        if "properties" in field or field.get("type", "object") in ("object", "nested"):
            yield here, field
            yield from objects(field.get("properties", {}), f"{here}.")


def test_every_index_has_its_mapping_and_no_other() -> None:
    assert {path.name for path in MAPPINGS} >= {
        f"{name}.v{version}.json" for name, version in CURRENT.items()
    }
    assert {path.name.partition(".")[0] for path in MAPPINGS} == set(CURRENT)


@pytest.mark.parametrize("path", MAPPINGS, ids=lambda path: path.stem)
def test_a_mapping_is_strict_at_every_level(path: Path) -> None:
    mappings = json.loads(path.read_text(encoding="utf-8"))["mappings"]
    assert mappings["dynamic"] == "strict"
    # An object takes after what is above it unless it says otherwise.
    assert [
        name for name, f in objects(mappings["properties"]) if f.get("dynamic", "strict") != "strict"
    ] == []
    assert [name for name, f in objects(mappings["properties"]) if f.get("enabled") is False] == []
    assert "dynamic_templates" not in mappings
    assert "runtime" not in mappings


@pytest.mark.parametrize("path", MAPPINGS, ids=lambda path: path.stem)
def test_a_mapping_says_the_name_and_version_of_its_file(path: Path) -> None:
    name, version = path.stem.split(".v")
    assert json.loads(path.read_text(encoding="utf-8"))["mappings"]["_meta"] == {
        "name": name,
        "version": int(version),
    }
    assert f"`{name}`" in read("es_mappings/README.md")


@pytest.mark.parametrize("path", MAPPINGS, ids=lambda path: path.stem)
def test_only_what_the_open_core_has(path: Path) -> None:
    """Field types of paid or separate modules would keep the index from being made on the local stack."""
    known = {
        "keyword",
        "text",
        "integer",
        "long",
        "boolean",
        "date",
        "dense_vector",
        "float",
        "double",
        "object",
        "binary",
    }
    body = json.loads(path.read_text(encoding="utf-8"))

    def types(properties: Mapping[str, Any]) -> Iterator[str]:
        for field in properties.values():
            yield field.get("type", "object")
            yield from types(field.get("properties", {}))
            yield from types(field.get("fields", {}))

    assert set(types(body["mappings"]["properties"])) <= known
    assert "analysis" not in body["settings"].get("index", body["settings"])


# ── nothing of the machine it was written on ────────────────────────────────────────────────────────────

# Put together here, so that this file does not find itself.
INDEX_HOSTS = re.compile(
    "|".join(
        re.escape(".".join(parts))
        for parts in (
            ("pypi", "org"),
            ("pythonhosted", "org"),
            ("registry", "npmjs"),
            ("repo1", "maven"),
            ("repo", "maven"),
            ("crates", "io"),
            ("deb", "debian"),
            ("proxy", "golang"),
            ("hf-mirror", "com"),
        )
    ),
    re.IGNORECASE,
)
A_PLACE = re.compile(
    r"(?<![\w.$}])/(?:work|root|Users|mnt|srv)/[\w.]|(?<![\w.])/home/(?!dir\b)[a-z]+/|(?<![\w.$}])/tmp/\w"
)


def test_no_package_index_is_named() -> None:
    """Where packages come from is set where they are installed, not here."""
    assert [name for name in ours() if _text(name) and INDEX_HOSTS.search(read(name))] == []


def test_no_place_of_somebody_s_machine_is_named() -> None:
    here = Path(__file__).relative_to(REPOSITORY).as_posix()
    looked_at = [n for n in ours() if _text(n) and n not in (here, "tests/architecture/test_layout.py")]
    assert [f"{n}: {found.group()}" for n in looked_at if (found := A_PLACE.search(read(n)))] == []


def test_places_would_be_seen() -> None:
    for line in (
        '"/work/main/x"',
        "cd /root/.cache",
        "at /home/alice/x",
        "in /Users/alice",
        "open('/tmp/x')",
    ):
        assert A_PLACE.search(line), line
    for line in ("`service/work/x`", "$HOME/root/x", "https://example.org/home", "tmpfs: [/tmp]"):
        assert not A_PLACE.search(line), line


def test_no_secret_is_tracked() -> None:
    assert [name for name in TRACKED if Path(name).name in (".env", "id_rsa") or name.endswith(".pem")] == []


def _text(name: str) -> bool:
    return b"\0" not in (REPOSITORY / name).read_bytes()[:8192]


# ── the image and the package ───────────────────────────────────────────────────────────────────────────


def test_the_image_gets_what_the_package_is_made_of() -> None:
    """What pyproject.toml puts into the wheel is let through by .dockerignore and copied by the Dockerfile."""
    wheel = tomllib.loads(read("pyproject.toml"))["tool"]["hatch"]["build"]["targets"]["wheel"]
    needed = {*wheel["packages"], *wheel["force-include"], "pyproject.toml", "constraints.txt", "README.md"}
    let_through = {line[1:] for line in read(".dockerignore").splitlines() if line.startswith("!")}
    assert let_through == needed
    copies = re.findall(r"^COPY (?!--)(.+) \S+$", read("Dockerfile"), re.MULTILINE)
    assert {name for copy in copies for name in copy.split()} == needed


def test_folders_that_are_looked_for_at_run_time_travel_in_the_package() -> None:
    included = tomllib.loads(read("pyproject.toml"))["tool"]["hatch"]["build"]["targets"]["wheel"][
        "force-include"
    ]
    code = "\n".join(read(name) for name in TRACKED if name.startswith("service/") and name.endswith(".py"))
    for folder in set(re.findall(r'data_folder\("(\w+)"\)', code)) | {"es_mappings"}:
        assert included[folder] == f"service/_data/{folder}"


def test_the_image_asks_a_route_that_needs_no_token(tmp_path: Path) -> None:
    """A health check without a token must get an answer, on the port that is exposed."""
    dockerfile = read("Dockerfile")
    (port,) = re.findall(r"^EXPOSE (\d+)$", dockerfile, re.MULTILINE)
    (asked_port, route) = re.findall(r"http://127\.0\.0\.1:(\d+)(/\w+)'", dockerfile)[0]
    assert asked_port == port == str(Settings.model_fields["port"].default)
    client = create_app(Settings(data_dir=tmp_path)).test_client()
    assert client.get(route).status_code == 200
    assert client.post("/v1/answers", json={}).status_code == 401
