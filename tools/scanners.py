"""Installs the scanners of tools/scanners.lock into an environment of their own, outside the tree, once per lock file.

Tests that need them are skipped, and say so, where this could not be done for want of a network.
"""

import hashlib
import subprocess
import sys
from pathlib import Path

from slipway.toolchain import cache
from tools.lock import SCANNERS

_STAMP = ".complete"


def environment(lock: Path = SCANNERS) -> Path:
    """Where the environment of a lock file is or will be."""
    return cache.root() / "scanners" / hashlib.sha256(lock.read_bytes()).hexdigest()[:12]


def find(name: str) -> Path | None:
    """A scanner's command, where it is installed."""
    path = environment() / "bin" / name
    return path if path.is_file() and (environment() / _STAMP).is_file() else None


def install() -> None:
    """Make the environment.

    Raises:
        subprocess.CalledProcessError: uv could not get the packages.
    """
    home = environment()
    if (home / _STAMP).is_file():
        return
    print(f"scanners: installing into {home}", file=sys.stderr)
    subprocess.run(["uv", "venv", "--quiet", "--clear", "--python", sys.executable, str(home)], check=True)
    python = str(home / "bin" / "python")
    subprocess.run(["uv", "pip", "sync", "--quiet", "--python", python, "--require-hashes", str(SCANNERS)], check=True)
    (home / _STAMP).touch()


def main() -> int:
    """Exit code 1 where they could not be installed."""
    try:
        install()
    except (subprocess.CalledProcessError, OSError) as error:
        print(f"scanners: not installed ({error}); tests that need them are skipped", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
