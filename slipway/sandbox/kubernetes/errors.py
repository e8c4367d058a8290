"""Error answers of an API server."""

from __future__ import annotations

import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

from slipway.errors import SandboxError

_ACCOUNT: Final = re.compile(r"error looking up service account (\S+/\S+): .*not found")
"""Message of kubernetes 1.36, plugin/pkg/admission/serviceaccount/admission.go."""


class ApiError(Exception):
    """A `Status` of the API server: its HTTP code, reason (`Invalid`, `Conflict`, ...), message and details."""

    def __init__(self, status: int, body: Mapping[str, Any]) -> None:
        self.status = status
        self.reason = str(body.get("reason") or "")
        self.message = str(body.get("message") or body)
        self.details: Mapping[str, Any] = body.get("details") or {}
        super().__init__(self.message)

    @property
    def not_found(self) -> bool:
        """Whether the object, its namespace or its type does not exist."""
        return self.status == HTTPStatus.NOT_FOUND

    @property
    def conflict(self) -> bool:
        """Whether another field manager owns a field, or the object changed meanwhile."""
        return self.status == HTTPStatus.CONFLICT

    @property
    def missing_namespace(self) -> str | None:
        """The name of the namespace, if the namespace was not found."""
        return str(self.details.get("name")) if self.not_found and self.details.get("kind") == "namespaces" else None

    @property
    def missing_account(self) -> str | None:
        """The service account, as `namespace/name`, for want of which a pod is refused (admission ServiceAccount)."""
        found = _ACCOUNT.search(self.message) if self.status == HTTPStatus.FORBIDDEN else None
        return found[1] if found else None


class NoSuchKindError(Exception):
    """The API server does not serve the kind: its CustomResourceDefinition is not installed."""

    def __init__(self, api_version: str, kind: str) -> None:
        self.api_version = api_version
        self.kind = kind
        super().__init__(f'no matches for kind "{kind}" in version "{api_version}"')


class UnreachableError(SandboxError):
    """The API server does not answer."""
