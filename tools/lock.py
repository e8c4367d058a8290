"""Writes requirements.lock from pyproject.toml, or with --check says whether it still belongs to it.

The lock file names no index, so that any mirror will do, and its first line holds a digest of what pyproject.toml asks
for: the check needs no network.
"""

import argparse
import hashlib
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PYPROJECT = ROOT / "pyproject.toml"
LOCK = ROOT / "requirements.lock"

_TITLE = "# Written by `make lock` from the dependencies in pyproject.toml, sha256:"
_REQUIREMENT = re.compile(r"[A-Za-z0-9][\w.-]*==\S+( ; .+)?( --hash=sha256:[0-9a-f]{64})+")
_UNIVERSAL = ["--group", "dev", "--universal", "--python-version", "3.11", "--generate-hashes"]
_NO_ADDRESSES = ["--no-header", "--no-annotate", "--no-emit-index-url", "--no-emit-find-links"]
_COMPILE = ["uv", "pip", "compile", "--quiet", *_UNIVERSAL, *_NO_ADDRESSES, "pyproject.toml", "-o", "requirements.lock"]


def digest(pyproject: str) -> str:
    """The digest of all that decides the contents of the lock file."""
    document = tomllib.loads(pyproject)
    project = document["project"]
    asked = [project["requires-python"], project["dependencies"], document["dependency-groups"]]
    return hashlib.sha256(json.dumps(asked).encode()).hexdigest()


def requirements(lock: str) -> list[str]:
    """The requirements of a lock file, one a line with its hashes, without comments."""
    lines = lock.replace("\\\n", " ").splitlines()
    return [re.sub(r"\s+", " ", line).strip() for line in lines if line.strip() and not line.startswith("#")]


def problems(pyproject: str, lock: str) -> list[str]:
    """What is wrong with a lock file: it is out of date, a line is not pinned by hash, or an address stands in it."""
    found = []
    if lock.splitlines()[:1] != [_TITLE + digest(pyproject)]:
        found.append("requirements.lock does not belong to the dependencies in pyproject.toml: run `make lock`")
    found += [
        f"not one version with its SHA-256: {line}" for line in requirements(lock) if not _REQUIREMENT.fullmatch(line)
    ]
    found += [f"an address or option does not belong here: {line}" for line in lock.splitlines() if _is_foreign(line)]
    return found


def write() -> None:
    """Compiles the lock file anew; versions that still fit are kept."""
    subprocess.run(_COMPILE, cwd=ROOT, check=True)
    LOCK.write_text(f"{_TITLE}{digest(PYPROJECT.read_text())}\n{LOCK.read_text()}")


def _is_foreign(line: str) -> bool:
    return "://" in line or (line.lstrip().startswith("-") and not line.lstrip().startswith("--hash="))


def main() -> int:
    """Exit code 1 when the check finds anything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail when the lock file is out of date")
    if not parser.parse_args().check:
        write()
    found = problems(PYPROJECT.read_text(), LOCK.read_text())
    for problem in found:
        print(f"error: {problem}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
