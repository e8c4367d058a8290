from collections.abc import Iterator

import pytest

from sandbox.kubernetes import crds, waiting
from sandbox.kubernetes.client import KubeClient, NoSuchKindError
from sandbox.kubernetes.objects import Object, Ref, without_conversion_webhook, without_descriptions
from tests.sandbox.plane import crd

GROUP = "crds.test"
WIDGET = crd(GROUP, "Widget", {"size": {"type": "integer"}})


def widget(namespace: str, **spec: object) -> Object:
    return {**Ref(f"{GROUP}/v1", "Widget", "w", namespace).as_object(), "spec": spec}


@pytest.fixture
def clean(client: KubeClient) -> Iterator[KubeClient]:
    yield client
    waiting.delete(client, Ref.of(WIDGET))


@pytest.mark.parametrize(
    ("kind", "plural"),
    [("ClusterQueue", "clusterqueues"), ("NodeClass", "nodeclasses"), ("Policy", "policies"), ("Gateway", "gateways")],
)
def test_a_stand_in_guesses_the_english_plural(kind: str, plural: str) -> None:
    stand_in = crds.stand_in_for({"apiVersion": "x.test/v1", "kind": kind, "metadata": {"name": "a"}})
    assert stand_in["metadata"]["name"] == f"{plural}.x.test"
    assert crds.is_stand_in(stand_in)


def test_the_scope_of_a_stand_in_is_that_of_the_object() -> None:
    obj = {"apiVersion": "x.test/v1", "kind": "Thing", "metadata": {"name": "a", "namespace": "n"}}
    assert crds.stand_in_for(obj)["spec"]["scope"] == "Namespaced"
    assert crds.stand_in_for({**obj, "metadata": {"name": "a"}})["spec"]["scope"] == "Cluster"


def test_only_descriptions_are_removed_from_schemas() -> None:
    text = {"type": "string", "description": "text"}
    schema = {"type": "object", "description": "text", "properties": {"description": text,
            "many": {"type": "array", "items": text},
            "any": {"anyOf": [text, {"type": "integer"}], "default": {"description": "a value"}}},
        "additionalProperties": False,
        "x-kubernetes-validations": [{"rule": "self.description != ''", "message": "wanted"}]}  # fmt: skip
    definition = crd("crds.test", "Described", {})
    definition["spec"]["versions"][0]["schema"] = {"openAPIV3Schema": schema}
    bare = {"type": "string"}
    (version,) = without_descriptions(definition)["spec"]["versions"]
    assert version["schema"]["openAPIV3Schema"] == {
        "type": "object",
        "properties": {
            "description": bare,
            "many": {"type": "array", "items": bare},
            "any": {"anyOf": [bare, {"type": "integer"}], "default": {"description": "a value"}},
        },
        "additionalProperties": False,
        "x-kubernetes-validations": [{"rule": "self.description != ''", "message": "wanted"}],
    }
    assert version["served"] is True


def test_the_conversion_webhook_is_removed() -> None:
    spec = {**WIDGET["spec"], "conversion": {"strategy": "Webhook"}}
    assert "conversion" not in without_conversion_webhook({**WIDGET, "spec": spec})["spec"]


@pytest.mark.sandbox
def test_a_real_crd_without_the_version_is_not_extended(clean: KubeClient, namespace: str) -> None:
    crds.install(clean, WIDGET, "test")
    with pytest.raises(NoSuchKindError):
        crds.ensure_stand_in(clean, {**widget(namespace), "apiVersion": f"{GROUP}/v9"})


@pytest.mark.sandbox
def test_a_stand_in_serves_every_requested_version(clean: KubeClient, namespace: str) -> None:
    for version in ("v1", "v2"):
        obj = {**widget(namespace), "apiVersion": f"{GROUP}/{version}"}
        crds.ensure_stand_in(clean, obj)
        assert clean.apply(obj, "test", force=True)


@pytest.mark.sandbox
def test_stand_ins_work_for_groups_of_the_kubernetes_community(client: KubeClient, namespace: str) -> None:
    snapshot = Ref("snapshot.storage.k8s.io/v1", "VolumeSnapshot", "s", namespace).as_object()
    crds.ensure_stand_in(client, snapshot)
    assert client.apply(snapshot, "test")
    waiting.delete(client, Ref.of(crds.stand_in_for(snapshot)))
