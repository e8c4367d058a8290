"""Waits until an API server's cache of quotas is current.

Its admission plugin reads quotas from a cache that a watch updates (k8s.io/apiserver, plugin resourcequota), so a new
status is enforced a moment later. On EKS that is the same and doesn't matter to users, but a test without the wait
would be flaky.
"""

from collections.abc import Mapping
from typing import Any, Final

from sandbox.kubernetes.client import ApiError, KubeClient
from sandbox.kubernetes.waiting import until
from tests.support.patience import SECONDS

_MANAGER: Final = "probe"


def until_refused(client: KubeClient, manifest: Mapping[str, Any], words: str) -> None:
    """Wait until the object would be refused with these words; it is never created."""
    until(lambda: words in _refusal(client, manifest) or None, SECONDS, f"not refused with {words!r}")


def until_accepted(client: KubeClient, manifest: Mapping[str, Any]) -> None:
    """Wait until the object would be accepted; it isn't created."""
    until(lambda: not _refusal(client, manifest) or None, SECONDS, "still refused")


def _refusal(client: KubeClient, manifest: Mapping[str, Any]) -> str:
    try:
        client.create(manifest, _MANAGER, dry_run=True)
    except ApiError as error:
        return str(error)
    return ""
