import json
import threading
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from sandbox.cluster.pki import kubeconfig
from sandbox.kubernetes import crds, waiting
from sandbox.kubernetes.client import KubeClient, UnreachableError
from sandbox.kubernetes.objects import Object, Ref
from sandbox.kubernetes.waiting import until
from sandbox.rpc.errors import PartialFailureError, ProviderError
from tests.sandbox.kubernetes.hooks import Hooks, make_hooks
from tests.sandbox.plane import ControlPlane, crd
from tests.support.patience import SECONDS

pytestmark = pytest.mark.sandbox
CLAIM = "kubernetes:core/v1:PersistentVolumeClaim"


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "READY_SECONDS", 1.0)
    monkeypatch.setattr(waiting, "GONE_SECONDS", 1.0)


def with_finalizer(ref: Ref, **more: object) -> Object:
    obj = ref.as_object()
    obj["metadata"]["finalizers"] = ["example.com/clean-up"]
    return {**obj, **more}


def claim(namespace: str, **spec: Any) -> Object:
    resources = {"requests": {"storage": "1Gi"}}
    return {
        "metadata": {"name": "disk", "namespace": namespace},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": resources, **spec},
    }


def volume(namespace: str) -> Object:
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": f"{namespace}-disk"}, "spec": {
            "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}, "storageClassName": "",
            "claimRef": {"namespace": namespace, "name": "disk"},
            "csi": {"driver": "fsx.csi.aws.com", "volumeHandle": "fs-1"}}}  # fmt: skip


def test_a_namespace_is_gone_with_its_objects(client: KubeClient) -> None:
    definition = crd("awaits.test", "Gadget", {})
    crds.install(client, definition, "test")
    space = Ref("v1", "Namespace", "doomed")
    client.apply(space.as_object(), "test")
    inside = [
        Ref("v1", "ConfigMap", "plain", space.name).as_object(),
        {**Ref("awaits.test/v1", "Gadget", "one", space.name).as_object(), "spec": {}},
        {"apiVersion": "v1", "kind": "PersistentVolumeClaim", **claim(space.name)},
    ]
    for obj in inside:
        client.apply(obj, "test")
    waiting.delete(client, space)
    assert client.get(space) is None
    assert [Ref.of(obj) for obj in inside if client.get(Ref.of(obj))] == []
    waiting.delete(client, Ref.of(definition))
    assert not crds.is_served(client, Ref("awaits.test/v1", "Gadget", "one", space.name))


@pytest.mark.usefixtures("impatient")
def test_a_finalizer_that_nobody_removes_is_named(client: KubeClient, namespace: str) -> None:
    ref = Ref("v1", "ConfigMap", "held", namespace)
    client.apply(with_finalizer(ref), "test")
    with pytest.raises(TimeoutError, match=r"ConfigMap .*/held is still there \(finalizer example.com/clean-up is not"):
        waiting.delete(client, ref)
    client.merge(ref, {"metadata": {"finalizers": None}})


def test_a_deployment_is_gone_after_its_replica_sets(client: KubeClient, namespace: str) -> None:
    labels = {"app": "web"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "main", "image": "x"}]}}
    ref = Ref("apps/v1", "Deployment", "web", namespace)
    spec = {"replicas": 0, "selector": {"matchLabels": labels}, "template": template}
    client.apply({**ref.as_object(), "spec": spec}, "test")
    path = f"/apis/apps/v1/namespaces/{namespace}/replicasets"
    until(lambda: client.get_path(path)["items"] or None, SECONDS, "no replica set")
    waiting.delete(client, ref)
    assert client.get_path(path)["items"] == []


@pytest.mark.parametrize("ref", [Ref("v1", "ConfigMap", "never", "default"), Ref("unknown.test/v1", "Thing", "x")])
def test_a_missing_object_is_not_an_error(client: KubeClient, ref: Ref) -> None:
    waiting.delete(client, ref)


def test_a_claim_is_awaited_until_it_is_bound(hooks: Hooks, client: KubeClient, namespace: str) -> None:
    client.apply(volume(namespace), "test")
    _, outputs, _ = hooks.create(CLAIM, claim(namespace, storageClassName="", volumeName=f"{namespace}-disk"))
    assert outputs["status"]["phase"] == "Bound"


def test_a_claim_that_nobody_binds_is_in_the_state_with_the_reason(
    hooks: Hooks, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    absent = 'storageclass.storage.k8s.io "absent" not found'

    def once_it_is_said(poll: Any, _: float, what: Any, **__: float) -> None:
        """The controller's event may come late."""
        until(lambda: poll() or (absent in what()) or None, SECONDS, what)
        until(poll, 0, what)

    monkeypatch.setattr(waiting, "until", once_it_is_said)
    with pytest.raises(PartialFailureError) as failed:
        hooks.create(CLAIM, claim(namespace, storageClassName="absent"))
    assert failed.value.id == f"{namespace}/disk"
    (reason,) = failed.value.reasons
    assert "the claim (storage class absent) is Pending, not Bound" in reason
    assert absent in reason


@pytest.mark.usefixtures("impatient")
def test_a_claim_that_waits_for_its_first_pod_is_not_awaited(hooks: Hooks, client: KubeClient, namespace: str) -> None:
    name = f"lazy-{namespace}"
    storage_class = Ref("storage.k8s.io/v1", "StorageClass", name).as_object()
    lazy = {**storage_class, "provisioner": "ebs.csi.aws.com", "volumeBindingMode": "WaitForFirstConsumer"}
    client.apply(lazy, "test")
    assert hooks.create(CLAIM, claim(namespace, storageClassName=name))[0] == f"{namespace}/disk"


@pytest.mark.usefixtures("impatient")
def test_the_program_can_turn_waiting_off(hooks: Hooks, namespace: str) -> None:
    unbound = claim(namespace, storageClassName="absent")
    unbound["metadata"]["annotations"] = {waiting.SKIP: "true"}
    assert hooks.create(CLAIM, unbound)[0] == f"{namespace}/disk"


@pytest.mark.parametrize(
    ("api_version", "kind", "skipped"),
    [
        ("v1", "Namespace", True),
        ("batch/v1", "Job", True),
        ("apps/v1", "Deployment", True),
        ("v1", "PersistentVolumeClaim", False),
        ("networking.k8s.io/v1", "Ingress", False),
    ],
)
def test_deletion_is_not_awaited_of_what_pulumi_does_not_await(api_version: str, kind: str, skipped: bool) -> None:
    obj = Ref(api_version, kind, "it", "ns").as_object()
    assert not waiting.skipped_at_deletion(obj)
    obj["metadata"]["annotations"] = {waiting.SKIP: "true"}
    assert waiting.skipped_at_deletion(obj) is skipped


def test_a_deletion_ends_with_its_cluster(plane: ControlPlane, tmp_path: Path) -> None:
    endpoint = plane.pool.create("short-lived", "1.35")
    hooks = make_hooks(plane, tmp_path, kubeconfig=json.dumps(kubeconfig({"short-lived": endpoint}, "of-no-use")))
    held = with_finalizer(Ref("v1", "ConfigMap", "held", "default"))
    created = hooks.create("kubernetes:core/v1:ConfigMap", held)
    end = threading.Timer(1.0, plane.pool.delete, ("short-lived",))
    end.start()
    try:
        hooks.delete("kubernetes:core/v1:ConfigMap", *created)
    finally:
        end.join()
    assert plane.pool.get("short-lived") is None


def test_a_deletion_fails_while_its_cluster_does_not_answer(
    hooks: Hooks, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    created = hooks.create("kubernetes:core/v1:ConfigMap", Ref("v1", "ConfigMap", "kept", namespace).as_object())

    monkeypatch.setattr(waiting, "delete", Mock(side_effect=UnreachableError("the API server does not answer")))
    with pytest.raises(ProviderError, match="does not answer"):
        hooks.delete("kubernetes:core/v1:ConfigMap", *created)
