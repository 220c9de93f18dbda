"""docker-compose.yml, as far as it can be checked without an engine."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from local_stack.distribution import VERSION
from service.settings import Settings

REPOSITORY = Path(__file__).resolve().parents[2]
TEXT = (REPOSITORY / "docker-compose.yml").read_text(encoding="utf-8")
COMPOSE: dict[str, Any] = yaml.safe_load(TEXT)
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]


def test_elasticsearch_and_kibana_have_the_version_of_the_local_stack() -> None:
    images = [service["image"] for service in SERVICES.values() if "elastic.co" in service.get("image", "")]
    assert len(images) == 3
    assert {image.rpartition(":")[2] for image in images} == {VERSION}
    assert SERVICES["redis"]["image"].startswith("redis:7")


@pytest.mark.parametrize("name", SERVICES)
def test_what_others_wait_for_exists_and_can_be_waited_for(name: str) -> None:
    for other, how in SERVICES[name].get("depends_on", {}).items():
        if how["condition"] == "service_healthy":
            assert SERVICES[other]["healthcheck"]["test"]
        else:
            assert how["condition"] == "service_completed_successfully"
            assert SERVICES[other]["restart"] == "no"


@pytest.mark.parametrize("name", SERVICES)
def test_no_port_is_open_to_the_network_by_default(name: str) -> None:
    for port in SERVICES[name].get("ports", []):
        assert port.startswith("${BIND:-127.0.0.1}:")


def test_every_variable_is_in_the_example_and_no_secret_has_a_default() -> None:
    example = (REPOSITORY / ".env.example").read_text(encoding="utf-8")
    given = dict(re.findall(r"^([A-Z_]+)=(.*)$", example, re.MULTILINE))
    used = set(re.findall(r"(?<!\$)\$\{([A-Z_]+)", TEXT))
    assert used == set(given)
    for name in (name for name in used if name.endswith(("PASSWORD", "SECRET"))):
        assert given[name] == ""
        assert set(re.findall(rf"(?<!\$)\$\{{{name}(.)", TEXT)) == {":"}
        assert f"${{{name}:-" not in TEXT


def test_the_service_is_given_settings_that_exist() -> None:
    known = {f"ATTEST_{name.upper()}" for name in Settings.model_fields} | {"ES_URL", "REDIS_URL"}
    assert set(SERVICES["service"]["environment"]) <= known
    dockerfile = (REPOSITORY / "Dockerfile").read_text(encoding="utf-8")
    assert set(re.findall(r"\bATTEST_[A-Z_]+", dockerfile)) <= known


def test_named_volumes_are_declared() -> None:
    mounted = {v.partition(":")[0] for s in SERVICES.values() for v in s.get("volumes", [])}
    assert {name for name in mounted if re.fullmatch(r"[a-z-]+", name)} == set(COMPOSE["volumes"])


def test_the_image_does_not_run_as_root() -> None:
    steps = (REPOSITORY / "Dockerfile").read_text(encoding="utf-8").splitlines()
    assert "USER attest" in steps
    assert steps.index("USER attest") > max(n for n, step in enumerate(steps) if step.startswith("COPY"))


LASTING = [name for name, service in SERVICES.items() if service["restart"] != "no"]


@pytest.mark.parametrize("name", LASTING)
def test_what_runs_for_long_has_a_limit_starts_again_and_tells_its_health(name: str) -> None:
    service = SERVICES[name]
    assert re.fullmatch(r"\d+[mg]", service["mem_limit"])
    assert service["restart"] == "unless-stopped"
    dockerfile = (REPOSITORY / "Dockerfile").read_text(encoding="utf-8")
    assert "healthcheck" in service or ("build" in service and "\nHEALTHCHECK " in dockerfile)


def test_elasticsearch_may_lock_its_memory_and_has_room_beside_its_heap() -> None:
    elasticsearch = SERVICES["elasticsearch"]
    assert elasticsearch["ulimits"]["memlock"] == {"soft": -1, "hard": -1}
    (heap,) = re.findall(r"-Xmx\$\{ES_HEAP:-(\d+)g\}", elasticsearch["environment"]["ES_JAVA_OPTS"])
    assert int(heap) * 2 <= int(elasticsearch["mem_limit"].removesuffix("g"))


def test_the_service_is_shut_in() -> None:
    service = SERVICES["service"]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert "no-new-privileges:true" in service["security_opt"]
    # Whatever it writes goes to its volume or to memory; documents cannot be changed.
    assert service["volumes"] == ["attest-data:/var/lib/attest", "${DOCUMENTS:-./documents}:/documents:ro"]


def test_what_the_variables_of_the_example_say_is_the_default_of_the_file() -> None:
    example = (REPOSITORY / ".env.example").read_text(encoding="utf-8")
    given = {n: v for n, v in re.findall(r"^([A-Z_]+)=(.*)$", example, re.MULTILINE) if v}
    for name, default in set(re.findall(r"(?<!\$)\$\{([A-Z_]+):-([^}]*)\}", TEXT)):
        assert given[name] == default
