"""A fake of GitHub's API, with the content that a test sets."""

import io
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest


def archive(files: Mapping[str, str | bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as opened:
        for name, text in files.items():
            opened.writestr(name, text)
    return buffer.getvalue()


@dataclass
class FakeApi:
    """Answers from `lists`, and records requests."""

    lists: dict[str, list[Any]] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)
    asked: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    sent: list[tuple[str, str, dict[str, Any]]] = field(default_factory=list)

    def get(self, path: str, **query: str) -> list[Any]:
        self.asked.append((path, query))
        return self.lists.get(path, [])

    def send(self, method: str, path: str, document: Mapping[str, Any]) -> Any:
        self.sent.append((method, path, dict(document)))
        return {}

    def download(self, path: str) -> bytes:
        return self.files[path]

    def artifact(self, run: int, name: str, content: Mapping[str, str | bytes], **more: Any) -> None:
        """Add an artifact to a run."""
        pages = self.lists.setdefault(f"actions/runs/{run}/artifacts", [{"artifacts": []}])
        number = len(self.files) + 1
        data = archive(content)
        pages[0]["artifacts"].append({"id": number, "name": name, "expired": False, "size_in_bytes": len(data), **more})
        self.files[f"actions/artifacts/{number}/zip"] = data


@pytest.fixture
def api() -> FakeApi:
    return FakeApi()
