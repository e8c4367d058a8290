"""GitHub's API through its own command `gh`, which a runner brings and which knows the token.

Standard library only: it runs with the runner's own Python, before and without any installation.
"""

from __future__ import annotations

import io
import json
import re
import subprocess
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

LARGEST: Final = 50_000_000
"""Bytes of an artifact that is looked at, packed; the page of a stack is below 1 MB."""
LONGEST: Final = 200_000
"""Bytes of one file in it; a comment has 65,536 characters at most (docs.github.com, REST API, seen 2026-11-21)."""
_REPOSITORY: Final = re.compile(r"[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+")


class Caller(Protocol):
    """The four calls that the scripts make; tests answer them."""

    def get(self, path: str, **query: str) -> list[Any]:
        """All pages of a list, or the one document."""

    def send(self, method: str, path: str, document: Mapping[str, Any]) -> Any:
        """Create or change something."""

    def download(self, path: str) -> bytes:
        """A file."""


@dataclass(frozen=True)
class Api:
    """Calls below one repository; paths are given without it."""

    repository: str

    def __post_init__(self) -> None:
        if not _REPOSITORY.fullmatch(self.repository):
            msg = f"GITHUB_REPOSITORY is no owner/name: {self.repository!r}"
            raise ValueError(msg)

    def get(self, path: str, **query: str) -> list[Any]:
        """All pages of a list, or the one document; values of the query are encoded by `gh`."""
        fields = [part for key, value in query.items() for part in ("--raw-field", f"{key}={value}")]
        found = self._run("--method", "GET", "--paginate", "--slurp", *fields, path=path)
        pages: list[Any] = json.loads(found)
        return [one for page in pages for one in (page if isinstance(page, list) else [page])]

    def send(self, method: str, path: str, document: Mapping[str, Any]) -> Any:
        """Create or change something; what the API answers."""
        return json.loads(
            self._run("--method", method, "--input", "-", path=path, given=json.dumps(document).encode()) or b"null"
        )

    def download(self, path: str) -> bytes:
        """A file, as bytes."""
        return self._run(path=path)

    def _run(self, *arguments: str, path: str, given: bytes = b"") -> bytes:
        done = subprocess.run(
            ["gh", "api", *arguments, f"repos/{self.repository}/{path}"], input=given, capture_output=True, check=False
        )
        if done.returncode:
            msg = f"`gh api {path}` ended with code {done.returncode}: {done.stderr.decode(errors='replace').strip()}"
            raise RuntimeError(msg)
        return done.stdout


def files(api: Caller, run: int, prefix: str, name: str) -> dict[str, str]:
    """The text of one file in each artifact of a run, by what follows the prefix in the artifact's name.

    What an artifact holds is written by whoever opened the pull request: nothing is unpacked onto the disk, and what is
    too large or is no text is left out.
    """
    pattern = re.compile(re.escape(prefix) + r"([a-z][a-z0-9-]{0,40})")
    found: dict[str, str] = {}
    for page in api.get(f"actions/runs/{run}/artifacts", per_page="100"):
        for artifact in page["artifacts"]:
            match = pattern.fullmatch(artifact["name"])
            if match is None or artifact["expired"] or artifact["size_in_bytes"] > LARGEST:
                continue
            text = member(api.download(f"actions/artifacts/{int(artifact['id'])}/zip"), name)
            if text is not None:
                found[match[1]] = text
    return found


def member(archive: bytes, name: str) -> str | None:
    """One file of a zip archive as text; None where it is not there, is too large, or the archive is damaged."""
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as opened, opened.open(name) as file:
            data = file.read(LONGEST + 1)
    except (zipfile.BadZipFile, KeyError, OSError, NotImplementedError, RuntimeError):
        return None
    return data.decode(errors="replace") if len(data) <= LONGEST else None
