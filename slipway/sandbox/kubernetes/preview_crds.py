"""CRDs that previews use before a cluster serves them: those of available charts, and of the program itself.

To validate a manifest of such a kind, its CRD is installed in the spare, which no cluster adopts afterwards. So a first
preview finds a wrong field in a ClusterQueue before Kueue is installed anywhere. Installing CRDs is in `crds`.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable

from slipway.sandbox.kubernetes import crds
from slipway.sandbox.kubernetes.client import KubeClient
from slipway.sandbox.kubernetes.objects import Object, Ref


class PreviewCrds:
    """The known CRDs, by group and kind; a later one replaces an earlier one."""

    def __init__(self) -> None:
        self._offered: dict[tuple[str, str], Object] = {}
        self._installed: dict[tuple[str, str], Object] = {}
        """The CRD that was installed last, by server and name."""
        self._lock = threading.Lock()

    def offer(self, offered: Iterable[Object]) -> None:
        """Let previews use these CRDs."""
        with self._lock:
            for crd in offered:
                self._offered[crd["spec"]["group"], crd["spec"]["names"]["kind"]] = crd

    def offers(self, ref: Ref) -> bool:
        """Whether the CRD of an object's kind and version is known."""
        return self._find(ref) is not None

    def install_for(self, spare: KubeClient, ref: Ref) -> bool:
        """Install the CRD of an object's kind in the spare, unless it is there; False if the CRD is not known."""
        crd = self._find(ref)
        if crd is None:
            return False
        place = (spare.server, str(crd["metadata"]["name"]))
        if self._installed.get(place) == crd and crds.is_served(spare, ref):
            return True
        self._installed[place] = crd
        crds.install(spare, crd, crds.MANAGER)
        return True

    def used(self, server: str) -> bool:
        """Whether a CRD was installed in the API server at a URL."""
        return any(at == server for at, _ in tuple(self._installed))

    def forget(self, servers: Collection[str]) -> None:
        """Forget the installations on all servers but these: another server may get their port."""
        for place in [place for place in tuple(self._installed) if place[0] not in servers]:
            self._installed.pop(place, None)

    def _find(self, ref: Ref) -> Object | None:
        with self._lock:
            crd = self._offered.get((ref.group, ref.kind))
        return crd if crd is not None and ref.api_version in served_versions(crd) else None


def served_versions(crd: Object) -> tuple[str, ...]:
    """The apiVersions that a CRD serves."""
    return tuple(f"{crd['spec']['group']}/{each['name']}" for each in crd["spec"]["versions"] if each.get("served"))
