"""What makes a cluster live: Kubernetes' controllers, those of add-ons, and the parts of kubelets and CSI drivers that
KWOK has not."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from slipway.sandbox.cluster.apiserver import ApiServer
from slipway.sandbox.cluster.controllers import Controllers, ControllersConfig
from slipway.sandbox.cluster.supervisor import Supervisor
from slipway.sandbox.controllers.beside import Controllers as AddonControllers
from slipway.sandbox.controllers.running import Place
from slipway.sandbox.kubernetes.client import KubeClient
from slipway.sandbox.kubernetes.helm.records import installed_version
from slipway.sandbox.nodes.certificates import Certificates
from slipway.sandbox.nodes.followed import Followed
from slipway.sandbox.nodes.references import References
from slipway.sandbox.nodes.volumes import Provisioner


class Beside(Protocol):
    """What follows one cluster."""

    def start(self) -> None:
        """Begin."""

    def stop(self) -> None:
        """End."""


@dataclass(frozen=True)
class _Living:
    controllers: Controllers
    references: References
    provisioner: Provisioner
    followed: Followed | None
    addons: AddonControllers | None
    nodes: Sequence[Beside]

    def end(self) -> None:
        if self.addons is not None:
            self.addons.stop()
        for each in self.nodes:
            each.stop()
        if self.followed is not None:
            self.followed.stop()
        self.references.stop()
        self.provisioner.stop()
        self.controllers.stop()


class Life:
    """Begins and ends the life of clusters, for any number of threads."""

    def __init__(
        self,
        config: ControllersConfig,
        supervisor: Supervisor,
        client_of: Callable[[ApiServer], KubeClient],
        follow: Callable[[ApiServer], Followed | None] = lambda _: None,
        place: Place | None = None,
        nodes: Callable[[ApiServer], Sequence[Beside]] = lambda _: (),
    ) -> None:
        """Without a `place`, controllers of add-ons don't run; `nodes` makes nodes that autoscalers launch."""
        self._config = config
        self._supervisor = supervisor
        self._client_of = client_of
        self._follow = follow
        self._place = place
        self._nodes = nodes
        self._living: dict[str, _Living] = {}
        self._lock = threading.Lock()

    def begin(self, slot: str, server: ApiServer) -> None:
        """Start everything beside an API server, and wait until its controllers are healthy. Raises ProcessError."""
        controllers = Controllers(self._config, server, self._supervisor)
        controllers.start()
        client = self._client_of(server)
        addons = AddonControllers(self._place, slot, client, installed_version) if self._place is not None else None
        references = References(client, Certificates(client), addons.holding if addons is not None else lambda _: None)
        nodes = self._nodes(server)
        living = _Living(controllers, references, Provisioner(client), self._follow(server), addons, nodes)
        if living.addons is not None:
            living.addons.start()
        for each in living.nodes:
            each.start()
        living.references.start()
        living.provisioner.start()
        if living.followed is not None:
            living.followed.start()
        with self._lock:
            self._living[slot] = living

    def end(self, slot: str) -> None:
        """Stop it again; nothing where nothing lives."""
        with self._lock:
            living = self._living.pop(slot, None)
        if living is not None:
            living.end()

    def has(self, slot: str, controller: str) -> bool:
        """Whether a controller of an add-on belongs to a cluster, built or not."""
        with self._lock:
            living = self._living.get(slot)
        return living is not None and living.addons is not None and living.addons.has(controller)

    def end_all(self) -> None:
        """Stop all of it."""
        with self._lock:
            slots = list(self._living)
        for slot in slots:
            self.end(slot)

    def resolve(self, slot: str, host: str, port: int) -> int | None:
        """The local port of the controller behind a ClusterIP of a cluster; None if there is none."""
        with self._lock:
            living = self._living.get(slot)
        return living.addons.resolve(host, port) if living is not None and living.addons is not None else None

    @property
    def dead(self) -> tuple[str, ...]:
        """Controllers that ended by themselves."""
        with self._lock:
            return tuple(name for living in self._living.values() for name in living.controllers.dead)
