"""Where Pulumi keeps a stack's state when it works on AWS, and what encrypts its secrets."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from slipway.engine.project import Project
from slipway.engine.stacks import stack_file
from slipway.engine.stored import StoredState
from spec import strict_yaml


@dataclass(frozen=True)
class Backend:
    """The backend of a stack."""

    url: str = ""  # `s3://BUCKET`, `https://api.pulumi.com`, `file://...`; empty if nobody has logged in
    secrets_provider: str = ""  # `awskms://alias/NAME`; empty for a passphrase or the service's own key


def current(project: Project, stack: str, environment: Mapping[str, str]) -> Backend:
    """The backend that the Pulumi CLI would use (Pulumi, "Managing state and backends", order of precedence):
    PULUMI_BACKEND_URL, the project's `backend.url`, the last `pulumi login`."""
    url = environment.get("PULUMI_BACKEND_URL") or _project_url(project) or _login(environment)
    document = _yaml(stack_file(project.stacks, stack))
    return Backend(url, str(document.get("secretsprovider") or ""))


FILE: Final = "file://"


def folder(url: str, start: Path = Path()) -> Path:
    """The folder of a `file://` backend, whose URL may end with options (`?metadata=skip`); a relative one is below the
    directory in which the CLI starts (pulumi v3.258.0, pkg/backend/diy/backend.go, massageBlobPath)."""
    return start / Path(url.removeprefix(FILE).partition("?")[0]).expanduser()


def stored(project: Project, stack: str, environment: Mapping[str, str]) -> StoredState | None:
    """The stack's state, if its backend is a folder; None for any other.

    Objects of S3 are written whole or not at all; the bucket's versioning keeps the older ones.
    """
    url = current(project, stack, environment).url
    return StoredState(folder(url, project.root), stack) if url.startswith(FILE) else None


def _project_url(project: Project) -> str:
    backend = _yaml(project.root / "Pulumi.yaml").get("backend") or {}
    return str(backend.get("url") or "")


def _login(environment: Mapping[str, str]) -> str:
    home = Path(environment.get("PULUMI_HOME") or Path(environment.get("HOME") or Path.home()) / ".pulumi")
    try:
        document = json.loads((home / "credentials.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return ""
    return str(document.get("current") or "") if isinstance(document, dict) else ""


def _yaml(path: Path) -> Mapping[str, Any]:
    document = strict_yaml.one(strict_yaml.text_of(path))
    return document if isinstance(document, dict) else {}
