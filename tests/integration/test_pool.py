"""Which candidates go on after fusion, on both engines."""

from __future__ import annotations

from pathlib import Path

import pytest

from service.bootstrap import Services
from tests.integration.world import ALICE, FILES, WARRANTY, World, found

pytestmark = pytest.mark.slow


def test_sixty_equal_documents_push_no_other_out(services: Services, tmp_path: Path) -> None:
    """The pool is cut by differing texts: the copies take one place and not all fifty."""
    folder = tmp_path / "sources"
    folder.mkdir()
    world = World.of(services, folder)
    copy = "# Warranty\n\nHow long is the warranty period? The warranty period is 12 months.\n"
    world.write(FILES | {f"copy{number:02}.md": copy for number in range(60)})
    world.ingest()
    world.publish()
    documents = found(world.search(ALICE, WARRANTY))
    assert documents >= {"warranty.md", "kitchen.md"}
    assert len([name for name in documents if name.startswith("copy")]) == 1
