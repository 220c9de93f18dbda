"""Installing a Debian package when that is possible, saying how when it is not."""

import os
import shutil
import subprocess
from pathlib import Path

from .errors import StackError
from .progress import Say

_LOCK_WAIT = ("-o", "DPkg::Lock::Timeout=180")


def program(name: str, package: str, alternative: str, say: Say) -> Path:
    """Path of the program `name`; installs `package` with apt-get when it is missing and we are root.

    Raises StackError naming the package and the `alternative` when it cannot be had.
    """
    found = shutil.which(name)
    if found is None:
        _install(name, package, alternative, say)
        found = shutil.which(name)
    if found is None:
        raise StackError(f"{package} was installed, but {name} is not on PATH")
    return Path(found)


def _install(name: str, package: str, alternative: str, say: Say) -> None:
    apt_get = shutil.which("apt-get")
    how = f"install it (Debian and Ubuntu: sudo apt-get install {package}), or {alternative}"
    if apt_get is None or os.geteuid() != 0:
        raise StackError(f"{name} is missing and this command may not install it: {how}")
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for arguments in (["update", "-q"], ["install", "-q", "-y", "--no-install-recommends", package]):
        say(f"{name} is missing: apt-get {' '.join(arguments)}")
        done = subprocess.run(
            [apt_get, *_LOCK_WAIT, *arguments],
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        # A failed update is often one stale source of several; the install decides.
        if done.returncode != 0 and arguments[0] == "install":
            raise StackError(f"apt-get install {package} failed: {how}\n{done.stdout[-1500:]}")
