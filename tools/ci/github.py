"""GitHub's API through its command `gh`, which runners have and which reads the token.

Standard library only: it runs with the runner's own Python, without any installation.
"""

import io
import json
import re
import subprocess
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

LARGEST: Final = 50_000_000  # maximum size of an artifact in bytes, compressed; the page of a stack is below 1 MB
LONGEST: Final = 200_000
"""Maximum size of one file in bytes; a comment has 65,536 characters at most (docs.github.com, REST, 2026-11-21)."""
_REPOSITORY: Final = re.compile(r"[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+")


class Caller(Protocol):
    """The calls that the scripts make, which tests fake."""

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
            msg = f"GITHUB_REPOSITORY must be owner/name: {self.repository!r}"
            raise ValueError(msg)

    def get(self, path: str, **query: str) -> list[Any]:
        """All pages of a list, or the one document; values of the query are encoded by `gh`."""
        fields = [part for key, value in query.items() for part in ("--raw-field", f"{key}={value}")]
        answer = self._run("--method", "GET", "--paginate", "--slurp", *fields, path=path)
        pages: list[Any] = json.loads(answer)
        return [one for page in pages for one in (page if isinstance(page, list) else [page])]

    def send(self, method: str, path: str, document: Mapping[str, Any]) -> Any:
        """Create or change something; returns the API's answer."""
        content = json.dumps(document).encode()
        return json.loads(self._run("--method", method, "--input", "-", path=path, content=content) or b"null")

    def download(self, path: str) -> bytes:
        """A file, as bytes."""
        return self._run(path=path)

    def _run(self, *arguments: str, path: str, content: bytes = b"") -> bytes:
        command = ["gh", "api", *arguments, f"repos/{self.repository}/{path}"]
        done = subprocess.run(command, input=content, capture_output=True, check=False)
        if done.returncode:
            msg = f"`gh api {path}` ended with code {done.returncode}: {done.stderr.decode(errors='replace').strip()}"
            raise RuntimeError(msg)
        return done.stdout


def files(api: Caller, run: int, prefix: str, name: str) -> dict[str, str]:
    """The text of one file in each artifact of a run, by the rest of the artifact's name after the prefix.

    The author of the pull request controls the content of artifacts: nothing is unpacked onto the disk, and files that
    are too large are left out.
    """
    pattern = re.compile(re.escape(prefix) + r"([a-z][a-z0-9-]{0,40})")
    texts: dict[str, str] = {}
    for page in api.get(f"actions/runs/{run}/artifacts", per_page="100"):
        for artifact in page["artifacts"]:
            match = pattern.fullmatch(artifact["name"])
            if match is None or artifact["expired"] or artifact["size_in_bytes"] > LARGEST:
                continue
            text = member(api.download(f"actions/artifacts/{int(artifact['id'])}/zip"), name)
            if text is not None:
                texts[match[1]] = text
    return texts


def member(archive: bytes, name: str) -> str | None:
    """One file of a zip archive as text; None if it is missing or too large, or the archive is damaged."""
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as opened, opened.open(name) as file:
            data = file.read(LONGEST + 1)
    except (zipfile.BadZipFile, KeyError, OSError, NotImplementedError, RuntimeError):
        return None
    return data.decode(errors="replace") if len(data) <= LONGEST else None
