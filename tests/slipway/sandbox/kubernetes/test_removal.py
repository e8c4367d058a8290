from __future__ import annotations

import pytest

from slipway.sandbox.kubernetes import crds
from slipway.sandbox.kubernetes.client import KubeClient
from slipway.sandbox.kubernetes.objects import Object, Ref
from slipway.sandbox.kubernetes.removal import remove
from tests.slipway.sandbox.plane import crd

pytestmark = pytest.mark.sandbox


def with_finalizer(ref: Ref, **more: object) -> Object:
    obj = ref.as_object()
    obj["metadata"]["finalizers"] = ["example.com/clean-up"]
    return {**obj, **more}


def test_a_namespace_is_deleted_with_its_objects(client: KubeClient) -> None:
    definition = crd("removal.test", "Gadget", {})
    crds.install(client, definition, "test")
    space = Ref("v1", "Namespace", "doomed")
    client.apply(space.as_object(), "test")
    inside = [
        with_finalizer(Ref("v1", "ConfigMap", "held", space.name)),
        with_finalizer(Ref("removal.test/v1", "Gadget", "held", space.name), spec={}),
        {
            **Ref("v1", "PersistentVolumeClaim", "claim", space.name).as_object(),
            "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
        },
        {
            **Ref("v1", "Pod", "on-a-node", space.name).as_object(),
            "spec": {"nodeName": "somewhere", "containers": [{"name": "c", "image": "x"}]},
        },
    ]
    for obj in inside:
        client.apply(obj, "test")
    remove(client, space)
    assert client.get(space) is None
    assert [Ref.of(obj) for obj in inside if client.get(Ref.of(obj))] == []
    remove(client, Ref.of(definition))


def test_an_object_whose_controller_does_not_run_is_released(client: KubeClient, namespace: str) -> None:
    ref = Ref("v1", "ConfigMap", "held", namespace)
    client.apply(with_finalizer(ref), "test")
    remove(client, ref)
    assert client.get(ref) is None


def test_a_crd_is_deleted_with_its_objects(client: KubeClient, namespace: str) -> None:
    definition = crd("removal2.test", "Gizmo", {})
    crds.install(client, definition, "test")
    client.apply(with_finalizer(Ref("removal2.test/v1", "Gizmo", "held", namespace), spec={}), "test")
    remove(client, Ref.of(definition))
    assert client.get(Ref.of(definition)) is None
    assert not crds.is_served(client, Ref("removal2.test/v1", "Gizmo", "held", namespace))


@pytest.mark.parametrize("ref", [Ref("v1", "ConfigMap", "never", "default"), Ref("unknown.test/v1", "Thing", "x")])
def test_a_missing_object_is_not_an_error(client: KubeClient, ref: Ref) -> None:
    remove(client, ref)
