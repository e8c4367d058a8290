"""Waits until an API server's cache of quotas is current.

Its admission plugin reads quotas from a cache that a watch updates (k8s.io/apiserver, plugin resourcequota), so a new
status is enforced a moment later. On EKS that is the same and doesn't matter to users, but a test without the wait
would be flaky.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, Final

import pytest

from slipway.sandbox.kubernetes.client import KubeClient
from slipway.sandbox.kubernetes.errors import ApiError

SECONDS: Final = 20.0
_MANAGER: Final = "probe"


def until_refused(client: KubeClient, manifest: Mapping[str, Any], words: str) -> None:
    """Wait until the object would be refused with these words; it is never created."""
    _wait(lambda: words in _refusal(client, manifest), f"not refused with {words!r}")


def until_accepted(client: KubeClient, manifest: Mapping[str, Any]) -> None:
    """Wait until the object would be accepted; it isn't created."""
    _wait(lambda: not _refusal(client, manifest), "still refused")


def _refusal(client: KubeClient, manifest: Mapping[str, Any]) -> str:
    try:
        client.create(manifest, _MANAGER, dry_run=True)
    except ApiError as error:
        return str(error)
    return ""


def _wait(done: Callable[[], bool], otherwise: str) -> None:
    ends = time.monotonic() + SECONDS
    while not done():
        if time.monotonic() > ends:
            pytest.fail(f"{otherwise} within {SECONDS:.0f} s")
        time.sleep(0.05)
