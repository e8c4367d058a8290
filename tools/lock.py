"""Writes the lock files from pyproject.toml, or with --check reports whether they are up to date.

`requirements.lock` is for the project. `tools/scanners.lock` is for its scanners, `tools/site.lock` for the website of
its documentation and `tools/awscli.lock` for the AWS CLI of a test; these have environments of their own. A lock file
names no index, so that any mirror works, and its first line has a digest of the dependencies in pyproject.toml: the
check needs no network.
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
SCANNERS = ROOT / "tools" / "scanners.lock"
SITE = ROOT / "tools" / "site.lock"
AWSCLI = ROOT / "tools" / "awscli.lock"

_TITLE = "# Written by `make lock` from the dependencies in pyproject.toml, sha256:"
_REQUIREMENT = re.compile(r"[A-Za-z0-9][\w.-]*==\S+( ; .+)?( --hash=sha256:[0-9a-f]{64})+")
_UNIVERSAL = ["--universal", "--python-version", "3.11", "--generate-hashes"]
_NO_ADDRESSES = ["--no-header", "--no-annotate", "--no-emit-index-url", "--no-emit-find-links"]
_COMPILE = ["uv", "pip", "compile", "--quiet", *_UNIVERSAL, *_NO_ADDRESSES]
_ARGUMENTS = {
    LOCK: ["--all-extras", "--group", "dev", "pyproject.toml"],
    **{path: ["--group", f"pyproject.toml:{path.stem}"] for path in (SCANNERS, SITE, AWSCLI)},
}


def digest(pyproject: str, path: Path = LOCK) -> str:
    """The digest of everything in pyproject.toml that determines a lock file."""
    document = tomllib.loads(pyproject)
    project, groups = document["project"], document["dependency-groups"]
    ours = [project["requires-python"], project["dependencies"], project["optional-dependencies"], groups["dev"]]
    inputs = [project["requires-python"], groups[path.stem]] if path != LOCK else ours
    return hashlib.sha256(json.dumps(inputs).encode()).hexdigest()


def requirements(lock: str) -> list[str]:
    """The requirements of a lock file, one per line with its hashes, without comments."""
    lines = lock.replace("\\\n", " ").splitlines()
    return [re.sub(r"\s+", " ", line).strip() for line in lines if line.strip() and not line.startswith("#")]


def problems(pyproject: str, lock: str, path: Path = LOCK) -> list[str]:
    """The problems of a lock file: it is out of date, a line is not pinned by hash, or it contains an address."""
    lines = []
    if lock.splitlines()[:1] != [_TITLE + digest(pyproject, path)]:
        lines.append(f"{path.name} is out of date with the dependencies in pyproject.toml: run `make lock`")
    lines += [
        f"not one version with its SHA-256: {line}" for line in requirements(lock) if not _REQUIREMENT.fullmatch(line)
    ]
    lines += [f"an address or option is not allowed here: {line}" for line in lock.splitlines() if _is_foreign(line)]
    return lines


def write() -> None:
    """Compiles the lock files; versions that still satisfy the dependencies are kept."""
    for path, arguments in _ARGUMENTS.items():
        subprocess.run([*_COMPILE, *arguments, "-o", str(path.relative_to(ROOT))], cwd=ROOT, check=True)
        path.write_text(f"{_TITLE}{digest(PYPROJECT.read_text(), path)}\n{path.read_text()}")


def _is_foreign(line: str) -> bool:
    return "://" in line or (line.lstrip().startswith("-") and not line.lstrip().startswith("--hash="))


def main() -> int:
    """Exit code 1 if there are problems."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail when the lock file is out of date")
    if not parser.parse_args().check:
        write()
    pyproject = PYPROJECT.read_text()
    lines = [line for path in _ARGUMENTS for line in problems(pyproject, path.read_text(), path)]
    for line in lines:
        print(f"error: {line}", file=sys.stderr)
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
