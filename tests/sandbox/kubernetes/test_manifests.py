import re
from typing import Any

import pytest

from sandbox.errors import GOES_ON
from sandbox.kubernetes import crds, waiting
from sandbox.kubernetes.client import ApiError, KubeClient
from sandbox.kubernetes.objects import Ref
from sandbox.rpc.errors import PartialFailureError, ProviderError
from tests.sandbox.kubernetes.hooks import Hooks
from tests.sandbox.plane import CLUSTER, ControlPlane, crd, existing

pytestmark = pytest.mark.sandbox

CONFIG_MAP = "kubernetes:core/v1:ConfigMap"
JOB = "kubernetes:batch/v1:Job"
SECRET = "kubernetes:core/v1:Secret"
JSON_PATCH = "application/json-patch+json"


def config_map(namespace: str, **data: str) -> dict[str, Any]:
    return {"metadata": {"name": "map", "namespace": namespace}, "data": data}


def test_an_object_is_created_updated_and_deleted(hooks: Hooks, client: KubeClient, namespace: str) -> None:
    id, outputs, inputs = hooks.create(CONFIG_MAP, config_map(namespace, a="1", b="2"))
    assert id == f"{namespace}/map"
    assert outputs["metadata"]["uid"]
    assert "managedFields" not in outputs["metadata"]
    checked, _ = hooks.check(CONFIG_MAP, config_map(namespace, a="9"), inputs)
    updated = hooks.update(CONFIG_MAP, id, outputs, inputs, checked)
    assert updated["data"] == {"a": "9"}
    hooks.delete(CONFIG_MAP, id, updated, checked)
    assert client.get(Ref("v1", "ConfigMap", "map", namespace)) is None
    assert hooks.read(CONFIG_MAP, id, updated, checked) is None


def test_an_existing_object_is_not_taken_over(hooks: Hooks, client: KubeClient, namespace: str) -> None:
    ref = Ref("v1", "ConfigMap", "map", namespace)
    client.apply({**ref.as_object(), "data": {"theirs": "1"}}, "another-manager")
    with pytest.raises(ProviderError, match=r"v1 ConfigMap .*/map already exists.*alias.*import"):
        hooks.create(CONFIG_MAP, config_map(namespace, a="1"))
    hooks.session = hooks.provider.configure({"upsertExistingObjects": True}, "test")
    assert hooks.create(CONFIG_MAP, config_map(namespace, a="1"))[1]["data"] == {"theirs": "1", "a": "1"}


@pytest.mark.parametrize("name", ["name", "generateName"])
def test_a_creation_that_was_given_up_goes_on_with_what_exists(
    hooks: Hooks, client: KubeClient, namespace: str, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    checked, _ = hooks.check(CONFIG_MAP, {"metadata": {name: "map", "namespace": namespace}, "data": {"a": "1"}})
    call = client._object

    def late(*arguments: Any) -> Any:
        call(*arguments)
        raise ApiError(504, {"message": f"Timeout: {GOES_ON}"})

    monkeypatch.setattr(client, "_object", lambda *rest: (late if rest[0] == "PATCH" else call)(*rest))
    with pytest.raises(ProviderError, match=GOES_ON):
        hooks.provider.create(hooks.session, hooks.resource(CONFIG_MAP, "it"), checked)
    monkeypatch.undo()
    assert hooks.provider.create(hooks.session, hooks.resource(CONFIG_MAP, "it"), checked)[1]["data"] == {"a": "1"}


def test_a_replacement_is_validated_as_a_new_object(hooks: Hooks, namespace: str) -> None:
    def job(image: str, **more: Any) -> dict[str, Any]:
        containers = [{"name": "main", "image": image, **more}]
        spec = {"template": {"spec": {"containers": containers, "restartPolicy": "Never"}}}
        return {"metadata": {"name": "job", "namespace": namespace}, "spec": spec}

    hooks.create(JOB, job("one"))
    # The engine checks a replacement without the old inputs, while the old object still exists.
    assert hooks.check(JOB, job("two"))[1] == []
    (reason,) = hooks.check(JOB, job("two", imagePullPolicy="Sometimes"))[1]
    assert 'imagePullPolicy: Unsupported value: "Sometimes"' in reason
    assert "immutable" not in reason
    hooks.session = hooks.provider.configure({"upsertExistingObjects": True}, "test")
    assert "field is immutable" in hooks.check(JOB, job("two"))[1][0]


def test_an_unchanged_object_does_not_drift(hooks: Hooks, namespace: str) -> None:
    inputs = {"metadata": {"name": "s", "namespace": namespace}, "stringData": {"password": "hunter2"}}
    id, outputs, checked = hooks.create(SECRET, inputs)
    found = hooks.found(SECRET, id, outputs, checked)
    assert (found.id, found.inputs) == (id, checked)


POLICY = "kubernetes:admissionregistration.k8s.io/v1:ValidatingAdmissionPolicy"
RULE = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}


def test_an_object_that_was_adopted_without_its_live_state_does_not_drift_by_defaults(
    hooks: Hooks, client: KubeClient
) -> None:
    """`slipway state repair` puts what a killed run had created into the state, with the inputs as outputs."""
    spec = {"matchConstraints": {"resourceRules": [RULE]}, "validations": [{"expression": "true"}]}
    name = "adopted.slipway.example"
    id, _, inputs = hooks.create(POLICY, {"metadata": {"name": name}, "spec": spec})
    live = existing(client, Ref("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy", name))
    assert live["spec"]["matchConstraints"]["resourceRules"] == [{**RULE, "scope": "*"}]
    found = hooks.found(POLICY, id, {**inputs, "id": id}, inputs)
    assert found.inputs == inputs
    assert found.outputs["metadata"]["uid"]
    client.merge(Ref.of(live), {"spec": {"failurePolicy": "Ignore", "validations": [{"expression": "false"}]}})
    changed = hooks.found(POLICY, id, {**inputs, "id": id}, inputs)
    assert changed.inputs["spec"]["validations"] == [{"expression": "false"}]


def test_drift_is_read_and_reverted_by_an_update(hooks: Hooks, client: KubeClient, namespace: str) -> None:
    id, outputs, inputs = hooks.create(CONFIG_MAP, config_map(namespace, a="1", b="2"))
    patch = [{"op": "replace", "path": "/data/a", "value": "changed"}, {"op": "remove", "path": "/data/b"}]
    path = f"/api/v1/namespaces/{namespace}/configmaps/map"
    client.call("PATCH", path, patch, {"fieldManager": "kubectl-patch"}, JSON_PATCH)
    found = hooks.found(CONFIG_MAP, id, outputs, inputs)
    assert found.inputs["data"] == {"a": "changed"}
    hooks.session = hooks.provider.configure({"enablePatchForce": True}, "test")
    assert hooks.update(CONFIG_MAP, id, dict(found.outputs), dict(found.inputs), inputs)["data"] == {"a": "1", "b": "2"}


def test_an_object_is_imported_with_inputs_that_describe_it(hooks: Hooks, client: KubeClient, namespace: str) -> None:
    ref = Ref("v1", "ConfigMap", "map", namespace)
    client.apply({**ref.as_object(), "data": {"a": "1"}}, "another-manager")
    assert hooks.found(CONFIG_MAP, f"{namespace}/map", {}, {}).inputs == {**ref.as_object(), "data": {"a": "1"}}


def test_the_server_can_generate_a_name(hooks: Hooks, namespace: str) -> None:
    id, outputs, inputs = hooks.create(CONFIG_MAP, {"metadata": {"generateName": "made-", "namespace": namespace}})
    assert id.startswith(f"{namespace}/made-")
    updated = hooks.update(CONFIG_MAP, id, outputs, inputs, {**inputs, "data": {"a": "1"}})
    assert updated["metadata"]["name"] == outputs["metadata"]["name"]


def test_the_providers_namespace_is_the_default(plane: ControlPlane, hooks: Hooks, namespace: str) -> None:
    hooks.session = hooks.provider.configure(plane.config(namespace=namespace), "test")
    checked, _ = hooks.check(CONFIG_MAP, {"metadata": {"name": "map"}})
    assert checked["metadata"]["namespace"] == namespace
    checked, _ = hooks.check("kubernetes:core/v1:Namespace", {"metadata": {"name": "n"}})
    assert "namespace" not in checked["metadata"]


def test_a_replacement_of_the_same_name_deletes_the_old_object_first(hooks: Hooks, namespace: str) -> None:
    olds = hooks.check(CONFIG_MAP, config_map(namespace, a="1"))[0]
    news = hooks.check(CONFIG_MAP, config_map(namespace, a="2"))[0]
    assert hooks.replaced(CONFIG_MAP, olds, news) == ({"data"}, True)
    made = {"metadata": {"namespace": namespace}, "data": {"a": "1"}}
    olds = hooks.check(CONFIG_MAP, made)[0]
    news = hooks.check(CONFIG_MAP, {**made, "data": {"a": "2"}}, olds)[0]
    assert hooks.replaced(CONFIG_MAP, olds, news) == ({"data"}, False)
    moved = {**olds, "metadata": {**olds["metadata"], "namespace": "other"}}
    assert hooks.replaced(CONFIG_MAP, olds, moved) == ({"metadata"}, False)


def test_a_patch_owns_only_its_fields_and_releases_them(hooks: Hooks, client: KubeClient, namespace: str) -> None:
    ref = Ref("v1", "ConfigMap", "map", namespace)
    client.apply({**ref.as_object(), "data": {"theirs": "1"}}, "another-manager")
    token = "kubernetes:core/v1:ConfigMapPatch"
    id, outputs, inputs = hooks.create(
        token, {"kind": "ConfigMap", "apiVersion": "v1", **config_map(namespace, ours="2")}
    )
    assert outputs["data"] == {"theirs": "1", "ours": "2"}
    hooks.delete(token, id, outputs, inputs)
    assert existing(client, ref)["data"] == {"theirs": "1"}


def test_a_custom_resource_without_its_crd_gets_a_stand_in_that_is_reported(
    hooks: Hooks, client: KubeClient, namespace: str
) -> None:
    token = "kubernetes:orphans.test/v1:Orphan"
    inputs = {"metadata": {"name": "o", "namespace": namespace}, "spec": {"anything": [1]}}
    id, outputs, checked = hooks.create(token, inputs)
    assert outputs["spec"] == {"anything": [1]}
    assert "Orphan of orphans.test/v1 has no CRD here" in hooks.noted()["stand-in"]
    definition = crd("orphans.test", "Orphan", {"anything": {"type": "array", "items": {"type": "integer"}}})
    crd_token = "kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition"
    _, crd_outputs, crd_inputs = hooks.create(crd_token, definition, name="crd")
    assert not crds.is_stand_in(existing(client, Ref.of(definition)))
    assert existing(client, Ref.of(checked))["spec"] == {"anything": [1]}
    hooks.update(token, id, outputs, checked, checked)
    assert hooks.noted() == {}
    hooks.delete(token, id, outputs, checked)
    hooks.delete(crd_token, "orphans.orphans.test", crd_outputs, crd_inputs, name="crd")
    assert client.get(Ref.of(definition)) is None


def test_a_stand_in_is_removed_with_the_last_object_that_needs_it(hooks: Hooks, client: KubeClient) -> None:
    token = "kubernetes:lonely.test/v1:Lonely"
    stand_in = Ref("apiextensions.k8s.io/v1", "CustomResourceDefinition", "lonelies.lonely.test")
    for id, outputs, inputs in [hooks.create(token, {"metadata": {"name": name}}) for name in ("first", "last")]:
        assert client.get(stand_in) is not None
        hooks.delete(token, id, outputs, inputs)
    assert client.get(stand_in) is None


def test_a_crd_that_refuses_existing_objects_is_kept_in_the_state(
    hooks: Hooks, client: KubeClient, namespace: str
) -> None:
    token = "kubernetes:late.test/v1:Late"
    hooks.create(token, {"metadata": {"name": "l", "namespace": namespace}, "spec": {"size": "large"}})
    definition = crd("late.test", "Late", {"size": {"type": "integer"}})
    with pytest.raises(PartialFailureError) as failed:
        hooks.create("kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition", definition, name="crd")
    assert failed.value.id == "lates.late.test"
    assert re.search(rf"Late {namespace}/l: .*size", failed.value.reasons[0])
    assert not crds.is_stand_in(existing(client, Ref.of(definition)))
    waiting.delete(client, Ref.of(definition))


def test_a_definition_that_somebody_else_changed_is_overwritten_only_by_force(hooks: Hooks, client: KubeClient) -> None:
    token = "kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition"
    definition = crd("fought.test", "Fought", {"size": {"type": "integer"}})
    id, outputs, inputs = hooks.create(token, definition)
    try:
        client.merge(Ref.of(definition), {"spec": {"names": {"kind": "Fought", "shortNames": ["fo"]}}})
        names = {**definition["spec"]["names"], "shortNames": ["fg"]}
        wanted = {**definition, "spec": {**definition["spec"], "names": names}}
        with pytest.raises(ProviderError, match=r"1 conflict: .*\.spec\.names\.shortNames"):
            hooks.update(token, id, outputs, inputs, wanted)
        forced = {**wanted, "metadata": {**wanted["metadata"], "annotations": {"pulumi.com/patchForce": "true"}}}
        assert hooks.update(token, id, outputs, inputs, forced)["spec"]["names"]["shortNames"] == ["fg"]
    finally:
        waiting.delete(client, Ref.of(definition))


def test_without_its_cluster_objects_are_missing_and_cannot_be_created(plane: ControlPlane, hooks: Hooks) -> None:
    lost = plane.kubeconfig().replace(plane.client.server, "https://127.0.0.1:9")
    hooks.session = hooks.provider.configure({"kubeconfig": lost}, "test")
    checked, _ = hooks.check(CONFIG_MAP, config_map("default"))
    with pytest.raises(ProviderError, match=rf"server is https://127.0.0.1:9, .*running: {CLUSTER}"):
        hooks.provider.create(hooks.session, hooks.resource(CONFIG_MAP, "it"), checked)
    assert hooks.read(CONFIG_MAP, "default/map", {}, checked) is None
    hooks.delete(CONFIG_MAP, "default/map", checked, checked)


def test_the_token_of_the_kubeconfig_is_ignored(plane: ControlPlane, hooks: Hooks) -> None:
    assert "of-no-use" in plane.kubeconfig()
    assert hooks.check(CONFIG_MAP, config_map("default"))[1] == []
