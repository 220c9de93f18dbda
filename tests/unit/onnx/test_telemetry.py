"""The model runtime tells nobody anything: it would from the moment it is imported, were it not told otherwise."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

# What the runtime takes for a wish to be left alone, or for a test machine.
QUIETENING = {"CI", "ORT_DISABLE_TELEMETRY", "ORT_RUNNING_UNIT_TESTS", "GITHUB_ACTIONS", "TF_BUILD"}
OURS = """
from service.bootstrap import EMBEDDERS
from service.onnx.session import open_session
open_session(EMBEDDERS / "multilingual-e5-small" / "model.onnx", 1)
"""
THEIRS = "import onnxruntime"
# Should the runtime try to send after all, it meets a port where nobody listens.
NOWHERE = dict.fromkeys(("http_proxy", "https_proxy", "HTTPS_PROXY", "ALL_PROXY"), "http://127.0.0.1:9")


def files_after(program: str, home: Path) -> list[str]:
    """The files that a fresh process leaves in its home; the runtime keeps a device id and unsent events there."""
    environment = {k: v for k, v in os.environ.items() if k not in QUIETENING and not k.startswith("XDG_")}
    subprocess.run(
        [sys.executable, "-c", program],
        env={**environment, **NOWHERE, "HOME": str(home)},
        check=True,
        timeout=60,
    )
    return sorted(path.relative_to(home).as_posix() for path in home.rglob("*") if path.is_file())


def test_opening_a_model_leaves_no_trace(tmp_path: Path) -> None:
    assert files_after(OURS, tmp_path) == []


def test_the_runtime_alone_would_leave_one(tmp_path: Path) -> None:
    """Where this fails, onnxruntime keeps its records elsewhere or none: the test above then proves nothing."""
    assert any("onnxruntime" in name for name in files_after(THEIRS, tmp_path))
