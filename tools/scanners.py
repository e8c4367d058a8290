"""Installs the scanners of tools/scanners.lock, and the AWS CLI, into separate environments, outside the checkout, once
per lock file.

Without a network, the tests that need them are skipped with a reason.
"""

import hashlib
import subprocess
import sys
from pathlib import Path

from sandbox.toolchain import cache
from tools.lock import AWSCLI, SCANNERS

_STAMP = ".complete"


def environment(lock: Path = SCANNERS) -> Path:
    """The path of the environment for a lock file, whether it exists or not."""
    return cache.root() / lock.stem / hashlib.sha256(lock.read_bytes()).hexdigest()[:12]


def find(name: str, lock: Path = SCANNERS) -> Path | None:
    """A command of the environment; None if it is not installed."""
    path = environment(lock) / "bin" / name
    return path if path.is_file() and (environment(lock) / _STAMP).is_file() else None


def install(lock: Path = SCANNERS) -> None:
    """Create the environment of a lock file.

    Raises:
        subprocess.CalledProcessError: uv can't download the packages.
    """
    path = environment(lock)
    if (path / _STAMP).is_file():
        return
    print(f"{lock.stem}: installing into {path}", file=sys.stderr)
    subprocess.run(["uv", "venv", "--quiet", "--clear", "--python", sys.executable, str(path)], check=True)
    python = str(path / "bin" / "python")
    subprocess.run(["uv", "pip", "sync", "--quiet", "--python", python, "--require-hashes", str(lock)], check=True)
    (path / _STAMP).touch()


def main() -> int:
    """Exit code 1 if they can't be installed."""
    try:
        for lock in (SCANNERS, AWSCLI):
            install(lock)
    except (subprocess.CalledProcessError, OSError) as error:
        print(f"scanners: not installed ({error}); tests that need them are skipped", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
