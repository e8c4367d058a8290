"""Emptying a cluster, on a real API server: what is deleted, what is waited for, and what is left."""

from typing import Any

import pytest

from sandbox.kubernetes import crds
from sandbox.kubernetes.client import KubeClient, UnreachableError
from sandbox.kubernetes.objects import Ref
from slipway.teardown.inside import Emptied, empty
from tests.sandbox.plane import ControlPlane, crd

pytestmark = pytest.mark.sandbox

SPACE = "teardown"
DONE: dict[str, Any] = {"metadata": {"finalizers": None}}


class Cluster:
    """A namespace with objects, and a clock that a test moves."""

    def __init__(self, client: KubeClient) -> None:
        self.client = client
        self.said: list[str] = []
        self.now = 0.0
        self.connected = 0
        self.after: dict[int, Any] = {}
        self.polls = 0

    def make(self, api_version: str, kind: str, name: str, spec: dict[str, Any], **metadata: Any) -> Ref:
        obj = {
            "apiVersion": api_version,
            "kind": kind,
            "metadata": {"name": name, "namespace": SPACE, **metadata},
            "spec": spec,
        }
        return Ref.of(self.client.apply(obj, "test"))

    def exists(self, ref: Ref) -> bool:
        return self.client.get(ref) is not None

    def _connect(self) -> KubeClient:
        self.connected += 1
        return self.client

    def _sleep(self, seconds: float) -> None:
        self.now += seconds
        self.polls += 1
        self.after.pop(self.polls, lambda: None)()

    def empty(self, seconds: float = 3600) -> Emptied:
        return empty(self._connect, self.said.append, seconds, sleep=self._sleep, clock=lambda: self.now)


@pytest.fixture(scope="module")
def own(plane: ControlPlane) -> KubeClient:
    """An API server of its own: emptying concerns every namespace."""
    plane.pool.create(SPACE)
    client = plane.targets.of_cluster(SPACE)
    assert client is not None
    return client


@pytest.fixture
def cluster(own: KubeClient) -> Cluster:
    client = own
    client.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SPACE}}, "test")
    return Cluster(client)


def service(cluster: Cluster, name: str, kind: str, **metadata: Any) -> Ref:
    return cluster.make("v1", "Service", name, {"type": kind, "ports": [{"port": 80}]}, **metadata)


def claim(cluster: Cluster, name: str, provisioner: str = "ebs.csi.aws.com") -> Ref:
    annotations = {"volume.kubernetes.io/storage-provisioner": provisioner}
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, "storageClassName": "gp3"}
    return cluster.make("v1", "PersistentVolumeClaim", name, spec, annotations=annotations)


def test_load_balancers_and_ingresses_go_and_other_services_stay(cluster: Cluster) -> None:
    balanced, plain = service(cluster, "ui", "LoadBalancer"), service(cluster, "db", "ClusterIP")
    backend = {"service": {"name": "db", "port": {"number": 80}}}
    ingress = cluster.make("networking.k8s.io/v1", "Ingress", "models", {"defaultBackend": backend})
    assert cluster.empty().left == ()
    assert not cluster.exists(balanced)
    assert not cluster.exists(ingress)
    assert cluster.exists(plain)
    assert cluster.said[-1] == "the cluster keeps none"


def test_it_waits_until_controllers_are_done(cluster: Cluster) -> None:
    """A controller removes its finalizer when the load balancer is gone; a token lasts 14 minutes."""
    held = service(cluster, "held", "LoadBalancer", finalizers=["service.k8s.aws/resources"])
    cluster.after[70] = lambda: cluster.client.merge(held, DONE)
    assert cluster.empty().left == ()
    assert cluster.polls == 70
    assert cluster.connected == 2


def test_a_connection_that_breaks_while_it_waits_is_no_failure(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = service(cluster, "slow", "LoadBalancer", finalizers=["service.k8s.aws/resources"])
    call = KubeClient.call

    def broken(*arguments: Any, **more: Any) -> Any:
        if cluster.polls == 2:
            msg = "the API server does not answer"
            raise UnreachableError(msg)
        return call(*arguments, **more)

    monkeypatch.setattr(KubeClient, "call", broken)
    cluster.after[4] = lambda: cluster.client.merge(held, DONE)
    assert cluster.empty().left == ()
    assert "does not answer" in cluster.said[1]


def test_what_is_left_at_the_deadline_is_listed(cluster: Cluster) -> None:
    held = service(cluster, "stuck", "LoadBalancer", finalizers=["service.k8s.aws/resources"])
    try:
        (left,) = cluster.empty(seconds=60).left
        assert "Service" in left
        assert "stuck" in left
        assert cluster.now == 60
    finally:
        cluster.client.merge(held, DONE)


def test_unmounted_claims_of_ebs_go_and_volumes_of_deleted_claims_are_known(cluster: Cluster) -> None:
    free, mounted = claim(cluster, "free"), claim(cluster, "mounted")
    shared = claim(cluster, "shared", "efs.csi.aws.com")
    volume = {"name": "data", "persistentVolumeClaim": {"claimName": "mounted"}}
    pod = {"containers": [{"name": "c", "image": "i"}], "volumes": [volume]}
    cluster.client.apply(
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default", "namespace": SPACE}}, "test"
    )
    cluster.make("v1", "Pod", "user", pod)
    for name, policy in (("deleted", "Delete"), ("kept", "Retain")):
        csi = {"driver": "ebs.csi.aws.com", "volumeHandle": f"vol-{name}"}
        cluster.make(
            "v1",
            "PersistentVolume",
            f"teardown-{name}",
            {
                "accessModes": ["ReadWriteOnce"],
                "capacity": {"storage": "1Gi"},
                "csi": csi,
                "persistentVolumeReclaimPolicy": policy,
            },
            namespace="",
        )
    volumes = cluster.empty().volumes
    assert "vol-deleted" in volumes
    assert "vol-kept" not in volumes
    gone = cluster.client.get(free)
    assert gone is None or gone["metadata"]["deletionTimestamp"]
    for ref in (mounted, shared):
        live = cluster.client.get(ref)
        assert live is not None
        assert "deletionTimestamp" not in live["metadata"]


def test_pools_of_karpenter_are_deleted_and_their_instances_waited_for(cluster: Cluster) -> None:
    """A stand-in for Karpenter's CRDs: its own need the release."""
    for kind in ("NodePool", "NodeClaim"):
        crds.install(cluster.client, crd("karpenter.sh", kind, {}, namespaced=False), "test")
    pool = cluster.make("karpenter.sh/v1", "NodePool", "cpu", {}, namespace="")
    instance = cluster.make("karpenter.sh/v1", "NodeClaim", "cpu-1", {}, namespace="")
    cluster.after[3] = lambda: cluster.client.delete(instance)
    assert cluster.empty().left == ()
    assert not cluster.exists(pool)
    assert cluster.polls == 3
