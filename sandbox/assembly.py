"""The parts of the daemon: AWS, etcd, API servers on demand, nodes, and the two providers in front of them."""

from __future__ import annotations

import json
import logging
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path
from typing import Any, Protocol

from sandbox import asked, worlds
from sandbox.aws.client import Clients, World
from sandbox.aws.moto import faults, live, tokens
from sandbox.aws.moto.server import MotoServer
from sandbox.aws.moto.server import start as start_moto
from sandbox.aws.provider import AwsProvider
from sandbox.aws.terraform.processes import TOOL, Processes
from sandbox.aws.warm import warm
from sandbox.cluster import apiserver
from sandbox.cluster.apiserver import ApiServer, ApiServerConfig, EtcdBackedServers
from sandbox.cluster.clusters import ClusterPool
from sandbox.cluster.control_plane import PROGRAMS, Controllers, ControllersConfig
from sandbox.cluster.egress import Egress
from sandbox.cluster.etcd import Etcd, start_etcd
from sandbox.cluster.pki import Pki, create_pki, read_pki, write_kubeconfig
from sandbox.cluster.process import Supervisor
from sandbox.errors import SandboxError
from sandbox.files import write_atomically
from sandbox.identity import ProcessIdentity
from sandbox.kubernetes.client import KubeClient
from sandbox.kubernetes.controllers.beside import Controllers as AddonControllers
from sandbox.kubernetes.controllers.running import Builds, Place, Report
from sandbox.kubernetes.controllers.table import BY_NAME, wanted
from sandbox.kubernetes.helm.chart import Charts
from sandbox.kubernetes.helm.managed import AddonReleases
from sandbox.kubernetes.helm.records import installed_version
from sandbox.kubernetes.helm.release import Releases
from sandbox.kubernetes.manifests import Manifests
from sandbox.kubernetes.provider import KubernetesProvider
from sandbox.kubernetes.serving import nobody
from sandbox.kubernetes.targets import Targets
from sandbox.nodes import autoscaler
from sandbox.nodes.autoscaler import Autoscaler
from sandbox.nodes.groups import MotoFacts
from sandbox.nodes.instances import Instances
from sandbox.nodes.karpenter import Followed
from sandbox.nodes.mounts import Certificates, References
from sandbox.nodes.registry import NodeRegistry
from sandbox.nodes.spec import NodeWriter
from sandbox.nodes.volumes import Provisioner
from sandbox.notes import Notes
from sandbox.rpc.provider import Served, serve
from sandbox.state import KUBERNETES, SandboxState, save, save_children

# What makes a cluster live: Kubernetes' controllers, those of add-ons, and the parts of kubelets and CSI drivers that
# KWOK has not.


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

    def schedule(self, slot: str, config: Mapping[str, Any]) -> None:
        """Configure the cluster's scheduler by EKS's `kubeSchedulerConfig`. Raises ProcessError."""
        with self._lock:
            living = self._living.get(slot)
        if living is not None:
            living.controllers.schedule(config)

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

    def resolve(self, slot: str, host: str, port: int) -> int | str:
        """The local port of the controller behind a ClusterIP of a cluster; or why there is none."""
        with self._lock:
            living = self._living.get(slot)
        if living is None or living.addons is None:
            return nobody(host, port)
        return living.addons.resolve(host, port)

    @property
    def dead(self) -> tuple[str, ...]:
        """Controllers that ended by themselves."""
        with self._lock:
            return tuple(name for living in self._living.values() for name in living.controllers.dead)


LOG = logging.getLogger(__name__)
ANY_REGION = "us-east-1"
"""Used to load moto in advance; what it loads is the same in every region."""


@dataclass(frozen=True)
class Settings:
    """Settings of a sandbox."""

    home: Path
    official: Path | None = None
    """The official Kubernetes provider, if it takes the place of the sandbox's own."""
    aws_port: int = 0
    """Port of AWS: that of a saved world, or a free one."""


class Sandbox:
    """All running parts. Created by `Sandbox.start`, ended by `stop`."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._supervisor = Supervisor(self._children_changed)
        self._stops: list[tuple[str, Callable[[], object]]] = [("child processes", self._supervisor.stop_all)]
        self._state: SandboxState | None = None
        self._clients: Clients | None = None
        self._publishing = threading.Lock()
        self._pki: Pki
        self._processes: Processes
        self._addons: AddonReleases
        self._etcd: Etcd
        self._kubernetes: str
        self.pool: ClusterPool
        self.targets: Targets
        self.registry: NodeRegistry

    @classmethod
    def start(cls, settings: Settings) -> Sandbox:
        """Start all parts; if one fails, those already started are stopped."""
        sandbox = cls(settings)
        try:
            sandbox._start()
        except BaseException:
            sandbox.stop()
            raise
        return sandbox

    def warm(self) -> None:
        """Begin to load what the first stack needs, while its engine and program are still starting."""
        if self._clients is not None:
            named = (os.environ.get(name) for name in ("AWS_REGION", "AWS_DEFAULT_REGION"))
            warm(self._clients, next(filter(None, named), ANY_REGION))

    def stop(self) -> None:
        """Stop all parts, in reverse order."""
        for name, stop in reversed(self._stops):
            try:
                stop()
            except Exception:
                LOG.exception("%s did not stop cleanly", name)
        self._stops.clear()

    def _start(self) -> None:
        home = self._settings.home
        with ThreadPoolExecutor(1, thread_name_prefix="start-aws") as beside:
            # Importing moto takes longer than everything else together.
            starting = beside.submit(start_moto, self._settings.aws_port)
            # The code as it is now: it may be another when a world is saved.
            beside.submit(worlds.made_from)
            saved = home / worlds.MEMORY
            self._pki = (read_pki if saved.exists() else create_pki)(home / "pki")
            log = home / "logs" / "etcd.log"
            self._etcd = start_etcd(apiserver.require("etcd"), home / "etcd", log, self._supervisor, self._pki)
            self._start_clusters(self._etcd)
            moto = starting.result()
        self._stops.append(("moto", moto.stop))
        notes, charts = Notes(home), Charts(lambda: asked.charts(home))
        self._supervisor.keep()
        aws, kubernetes = self._serve_aws(moto, notes, charts), self._serve_kubernetes(notes, charts)
        if saved.exists():
            self._resume(saved)
        self._publish(moto, aws, kubernetes)

    def _resume(self, saved: Path) -> None:
        """Go on as the sandbox that was saved: its files are in the home."""
        from sandbox.aws.moto import memory  # noqa: PLC0415 - moto reads the environment at import

        (slots, clusters), self.registry.memory, outcomes = memory.load(saved.read_bytes())
        saved.unlink()
        self._addons.outcomes.update(outcomes)
        self.pool.resume(slots, clusters)

    def _save(self, name: str) -> None:
        """Write the world as it is now, for `_resume`. Raises SandboxError."""
        from sandbox.aws.moto import memory  # noqa: PLC0415 - moto reads the environment at import

        if self._state is None:
            msg = "the sandbox is still starting: save it when it runs"
            raise SandboxError(msg)
        home, state, versions = self._settings.home, self._state, worlds.made_from()
        with live.turn():
            live.require_idle()
            worlds.require_idle(home)
            slots, clusters = self.pool.saved()
            ports = {name: one.port for name, one in clusters.items()}
            ports["AWS"] = int(state.aws_endpoint.rpartition(":")[2])
            world = worlds.World(name, worlds.now(), versions, state.official, ports)
            pickled = memory.dumped(((slots, clusters), self.registry.memory, self._addons.outcomes))
            with self._etcd.process.frozen():
                worlds.write(home, world, pickled)

    def _start_clusters(self, etcd: Etcd) -> None:
        home = self._settings.home

        def resolve(slot: str, host: str, port: int) -> int | str:
            return life.resolve(slot, host, port)

        egress = Egress(home / "egress", resolve)
        self._stops.append(("egress", egress.stop))
        binary = apiserver.require("kube-apiserver")
        self._kubernetes = apiserver.version("kube-apiserver", binary)
        config = ApiServerConfig(
            binary,
            self._kubernetes,
            etcd.url,
            self._pki,
            home / "logs",
            egress=egress.configuration,
            tokens=self._tokens,
        )
        servers = EtcdBackedServers(config, etcd, self._supervisor, self._used)
        programs = {name: apiserver.require(name) for name in PROGRAMS}
        controllers = ControllersConfig(programs, self._pki, home / "clusters", home / "logs")
        life = Life(controllers, self._supervisor, self._client, self._follow, self._place(), self._nodes)
        self._stops.append(("the life of clusters", life.end_all))
        self.pool = ClusterPool(servers, self._clusters_changed, life)
        self.targets = Targets(self.pool, self._pki)
        writer = NodeWriter(self.targets.of_cluster)

        def elastic(cluster: str) -> bool:
            server = self.pool.existing().get(cluster)
            return server is not None and life.has(server.slot, BY_NAME["karpenter"].name)

        self.registry = NodeRegistry(MotoFacts(), writer.write, writer.remove, elastic, writer.drain)

    def _place(self) -> Place:
        """Where controllers of add-ons run."""
        home = self._settings.home
        return Place(self._supervisor, Builds(home / "logs"), Report(home), home / "controllers", home / "logs")

    def _tokens(self, slot: str) -> Path:
        """How an API server asks who has a token of EKS."""
        if self._clients is None:
            msg = "no API server starts before the AWS does"
            raise RuntimeError(msg)
        path = self._settings.home / "pki" / f"tokens-{slot}.json"
        # JSON is YAML.
        write_atomically(path, json.dumps(tokens.configuration(self._clients.endpoint, slot)))
        return path

    def _disturb(self, part: str, seconds: float, how: str) -> None:
        if how == faults.FULL:
            self._etcd.fill(seconds)
        else:
            self._supervisor.pause(part, seconds, breathing=how == faults.SLOW)

    def _serve_aws(self, moto: MotoServer, notes: Notes, charts: Charts) -> Served:
        self._clients = moto.clients
        addons = self._addons = AddonReleases(self.targets, charts)
        moto.attach(self.pool, self.registry, addons, self._of_slot, self._save, self._disturb)
        self._processes = Processes(self._settings.home / "logs" / f"{TOOL}.log")
        self._stops.append(("the providers", self._processes.stop))
        world = World(self._clients, self.pool, addons, notes, self._processes)
        return self._served("the aws provider", serve(AwsProvider(world)))

    def _serve_kubernetes(self, notes: Notes, charts: Charts) -> Served:
        manifests = Manifests(self.targets, notes)
        releases = Releases(self.targets, notes, charts)
        return self._served("the kubernetes provider", serve(KubernetesProvider(manifests, releases)))

    def _served(self, name: str, served: Served) -> Served:
        self._stops.append((name, served.stop))
        return served

    def _publish(self, moto: MotoServer, aws: Served, kubernetes: Served) -> None:
        """Everything is ready: write the state file."""
        settings = self._settings
        self._state = SandboxState(
            home=settings.home,
            daemon=ProcessIdentity.of("daemon", os.getpid()),
            aws_endpoint=moto.endpoint,
            aws_provider_port=aws.port,
            kubernetes_provider_port=kubernetes.port,
            official=str(settings.official) if settings.official else None,
            versions={
                "pulumi-aws": AwsProvider.version,
                "pulumi-kubernetes": KubernetesProvider.version,
                "moto": metadata.version("moto"),
                KUBERNETES: self._kubernetes,
            },
            in_moto=sorted(self._processes.types.tokens()),
        )
        self._clusters_changed()

    def _client(self, server: ApiServer) -> KubeClient:
        return self.targets.client(server)

    def _follow(self, server: ApiServer) -> Followed:
        """What reports Karpenter's objects."""
        return Followed(self.targets.client(server), lambda: self._name(server), self.registry)

    def _name(self, server: ApiServer) -> str | None:
        """The name of the cluster of an API server; None before it is ready."""
        return self._of_slot(server.slot)

    def _of_slot(self, slot: str) -> str | None:
        return next((name for name, one in self.pool.existing().items() if one.slot == slot), None)

    def _nodes(self, server: ApiServer) -> Sequence[Beside]:
        """What makes nodes of what Karpenter and the Cluster Autoscaler launch, where they run."""
        client, home = self.targets.client(server), self._settings.home

        def ended(node: str) -> None:
            if name := self._name(server):
                self.registry.instance_ended(name, node)

        def repairs(group: str) -> bool:
            name = self._name(server)
            return name is not None and self.registry.repairs(name, group)

        instances = Instances(client, server.version, home, MotoFacts().subnets, ended, repairs)
        if not wanted(autoscaler.NAME):
            return (instances,)
        return instances, Autoscaler(client, lambda: self._name(server), self.registry, home)

    def _used(self, server: ApiServer) -> bool:
        return self.targets.used(server)

    def _clusters_changed(self) -> None:
        """A cluster was added or removed: update the files that list the clusters."""
        with self._publishing:
            existing = {name: server.endpoint for name, server in self.pool.existing().items()}
            self.targets.forget_stopped()
            self.registry.existing_clusters(existing)
            write_kubeconfig(self._settings.home / "kubeconfig", existing, self._pki.admin_token)
            if self._state is not None:
                clusters = {name: endpoint.server for name, endpoint in existing.items()}
                self._state = replace(self._state, clusters=clusters)
                save(self._state)

    def _children_changed(self) -> None:
        # A home that was deleted is why this process ends: no failure on the way.
        with self._publishing, suppress(FileNotFoundError):
            save_children(self._settings.home, self._supervisor.identities())
