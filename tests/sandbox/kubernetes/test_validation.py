from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from sandbox.kubernetes import crds
from sandbox.kubernetes.client import KubeClient
from sandbox.kubernetes.manifests import MANAGER
from sandbox.kubernetes.objects import Ref
from sandbox.kubernetes.targets import read_settings
from sandbox.kubernetes.validation import Manifest, validate
from sandbox.rpc.errors import ProviderError
from sandbox.rpc.wire import UNKNOWN
from tests.sandbox.kubernetes.hooks import Hooks
from tests.sandbox.plane import CLUSTER, ControlPlane, crd

pytestmark = pytest.mark.sandbox

GROUP = "spare.test"
WIDGET = crd(GROUP, "Widget", {"size": {"type": "integer"}})
DEPLOYMENT = "kubernetes:apps/v1:Deployment"
POD = "kubernetes:core/v1:Pod"
POLICY = "kubernetes:admissionregistration.k8s.io/v1:MutatingAdmissionPolicy"
DEFINITION = "kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition"


def deployment(namespace: Any = "default", replicas: Any = 1, **spec: Any) -> dict[str, Any]:
    labels = {"app": "web"}
    pod = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "x"}]}}
    body = {"replicas": replicas, "selector": {"matchLabels": labels}, "template": pod, **spec}
    return {"metadata": {"name": "web", "namespace": namespace}, "spec": body}


def test_a_wrong_type_fails_with_the_api_servers_own_message(hooks: Hooks, namespace: str) -> None:
    _, reasons = hooks.check(DEPLOYMENT, deployment(namespace, replicas="two"))
    assert len(reasons) == 1
    assert reasons[0].startswith(f"failed to create typed patch object ({namespace}/web; apps/v1, Kind=Deployment)")
    assert reasons[0].endswith(".spec.replicas: expected numeric (int or float), got string")


def test_a_wrong_type_fails_before_the_cluster_exists(first_preview: Hooks) -> None:
    _, reasons = first_preview.check(DEPLOYMENT, deployment(replicas="two"))
    assert "expected numeric" in reasons[0]


@pytest.mark.parametrize("namespace", ["made-by-the-same-program", UNKNOWN])
def test_objects_in_a_namespace_of_the_same_program_are_validated(hooks: Hooks, namespace: str) -> None:
    assert hooks.check(DEPLOYMENT, deployment(namespace))[1] == []
    _, reasons = hooks.check(DEPLOYMENT, deployment(namespace, selector={"matchLabels": {"app": "other"}}))
    assert "`selector` does not match template `labels`" in reasons[0]


def test_a_wrong_type_in_a_new_namespace_is_reported_with_the_programs_names(hooks: Hooks) -> None:
    _, reasons = hooks.check(DEPLOYMENT, deployment("made-by-the-same-program", replicas="two"))
    assert reasons[0].startswith("failed to create typed patch object (made-by-the-same-program/web; apps/v1,")


def pod(namespace: str, **spec: Any) -> dict[str, Any]:
    return {
        "metadata": {"name": "pod", "namespace": namespace},
        "spec": {"containers": [{"name": "c", "image": "x"}], **spec},
    }


def policy(patch: str = "JSONPatch") -> dict[str, Any]:
    mutation = {"patchType": patch, "jsonPatch": {"expression": '[JSONPatch{op: "remove", path: "/metadata/labels"}]'}}
    rules = {"resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["pods"]}]}
    spec = {"reinvocationPolicy": "Never", "matchConstraints": rules, "mutations": [mutation]}
    return {"metadata": {"name": "policy"}, "spec": spec}


@pytest.mark.parametrize(("version", "served"), [("1.35", False), ("1.36", True)])
def test_a_first_preview_refuses_what_the_version_of_the_cluster_does_not_serve(
    plane: ControlPlane, first_preview: Hooks, version: str, served: bool
) -> None:
    plane.pool.expect(first_preview.resource(POLICY, "it").program, version)
    _, reasons = first_preview.check(POLICY, policy())
    unknown = 'no matches for kind "MutatingAdmissionPolicy" in version "admissionregistration.k8s.io/v1"'
    assert reasons == ([] if served else [unknown])


@pytest.fixture
def upgrading(plane: ControlPlane, hooks: Hooks) -> Iterator[Hooks]:
    """In a preview of a program that changes the version of its cluster."""
    program = hooks.resource(POLICY, "it").program
    hooks.session = replace(hooks.session, program=program)
    plane.pool.expect(program, "1.36", CLUSTER)
    yield hooks
    plane.pool.expect(program, "1.35", CLUSTER)


def test_what_comes_with_another_version_is_previewed_as_that_version_validates_it(upgrading: Hooks) -> None:
    _, api_version, kind = POLICY.split(":")
    older = {**policy(), "apiVersion": f"{api_version}beta1", "kind": kind}
    for olds in ({}, older):
        checked, reasons = upgrading.check(POLICY, policy(), olds)
        assert reasons == []
        assert "patchType: Unsupported value" in upgrading.check(POLICY, policy("Patch"), olds)[1][0]
    targets = upgrading.provider._manifests.targets
    assert validate(targets, upgrading.session, Manifest(checked, "helm", by_helm=True)).refusal == ""
    assert upgrading.noted() == {}
    assert "no matches for kind" in upgrading.check(f"{POLICY}y", policy())[1][0]


def test_what_the_version_until_then_refuses_is_noted_unless_the_next_one_refuses_it(
    plane: ControlPlane, upgrading: Hooks, namespace: str
) -> None:
    token = "kubernetes:core/v1:Service"
    service = {"metadata": {"name": "1st", "namespace": namespace}, "spec": {"ports": [{"port": 80}]}}
    assert upgrading.check(token, service)[1] == []
    assert upgrading.noted()["not validated"].startswith("Kubernetes 1.36 accepts it, and the version that runs until")
    assert "field not declared" in upgrading.check(token, {**service, "spec": {"port": 80}})[1][0]
    kept, opaque = {"name": "kept", "namespace": namespace}, {"type": "Opaque", "metadata": {}}
    secret = {"apiVersion": "v1", "kind": "Secret", **opaque, "metadata": kept}
    plane.client.apply(secret, MANAGER)
    changed = Manifest({**secret, "type": "other"}, MANAGER)
    assert "field is immutable" in validate(plane.targets, upgrading.session, changed).refusal


def test_a_kind_that_the_cluster_does_not_serve_gets_no_stand_in(hooks: Hooks, client: KubeClient) -> None:
    assert not crds.is_served(client, Ref("admissionregistration.k8s.io/v1", "MutatingAdmissionPolicy", "it"))
    inputs = {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingAdmissionPolicy"}
    resource = hooks.resource(POLICY, "it")
    with pytest.raises(ProviderError, match='no matches for kind "MutatingAdmissionPolicy"'):
        hooks.provider.create(hooks.session, resource, {**inputs, "metadata": {"name": "policy"}, "spec": {}})


def test_a_first_preview_accepts_a_pod_of_the_default_account(first_preview: Hooks) -> None:
    assert first_preview.check(POD, pod("made-by-the-same-program"))[1] == []
    assert first_preview.noted() == {}


def test_a_service_account_that_may_be_made_before_its_pod_is_noted(first_preview: Hooks, hooks: Hooks) -> None:
    for preview in (first_preview, hooks):
        assert preview.check(POD, pod("not-made-yet", serviceAccountName="train"))[1] == []
        note = "spec.serviceAccountName: there is no service account not-made-yet/train yet"
        assert preview.noted() == {"not validated": note}
        _, reasons = preview.check(POD, pod("not-made-yet", serviceAccountName="train", hostNetwork="maybe"))
        assert ".spec.hostNetwork" in reasons[0]


def test_a_pod_whose_service_account_is_still_missing_is_refused(hooks: Hooks, namespace: str) -> None:
    with pytest.raises(ProviderError, match=rf"error looking up service account {namespace}/train"):
        hooks.create(POD, pod(namespace, serviceAccountName="train"))


def test_an_unknown_value_is_not_an_error_and_is_noted_until_it_is_known(hooks: Hooks, namespace: str) -> None:
    assert hooks.check(DEPLOYMENT, deployment(namespace, replicas=UNKNOWN))[1] == []
    assert hooks.noted() == {"not validated": "spec.replicas: known only after other resources exist"}
    hooks.check(DEPLOYMENT, deployment(namespace, replicas=2))
    assert hooks.noted() == {}


def test_an_unknown_value_hides_no_other_error(hooks: Hooks, namespace: str) -> None:
    _, reasons = hooks.check(DEPLOYMENT, deployment(namespace, replicas=UNKNOWN, paused="maybe", strategy={"kind": 1}))
    assert ".spec.paused" in reasons[0]
    assert ".spec.strategy.kind" in reasons[0]
    assert "replicas" not in reasons[0]


def test_unknown_text_is_validated_with_the_rest(hooks: Hooks, namespace: str) -> None:
    found = deployment(namespace)
    found["metadata"]["annotations"] = {"role": f"arn:aws:iam::{UNKNOWN}:role/x"}
    assert hooks.check(DEPLOYMENT, found) == ({**found, "apiVersion": "apps/v1", "kind": "Deployment"}, [])
    assert hooks.noted() == {}


def test_an_unknown_custom_kind_is_accepted_and_noted(hooks: Hooks) -> None:
    assert hooks.check("kubernetes:unknown.test/v1:Thing", {"metadata": {"name": "x"}, "spec": {"a": 1}})[1] == []
    assert "no cluster serves Thing of unknown.test/v1 yet" in hooks.noted()["not validated"]


@pytest.mark.parametrize("token", ["kubernetes:apps/v1:Deploymentt", "kubernetes:core/v1:Pood"])
def test_an_unknown_kind_that_no_crd_can_define_is_refused(hooks: Hooks, token: str) -> None:
    _, reasons = hooks.check(token, {"metadata": {"name": "x"}})
    assert "no matches for kind" in reasons[0]


@pytest.mark.parametrize("which", ["hooks", "first_preview"])
def test_a_kind_is_validated_by_the_programs_own_crd(which: str, request: pytest.FixtureRequest) -> None:
    hooks: Hooks = request.getfixturevalue(which)
    group = f"{which.replace('_', '-')}.test"
    definition = crd(group, "Widget", {"size": {"type": "integer"}})
    assert hooks.check(DEFINITION, definition, name="crd")[1] == []
    metadata = {"name": "w", "namespace": "default"}
    token = f"kubernetes:{group}/v1:Widget"
    assert hooks.check(token, {"metadata": metadata, "spec": {"size": 1}})[1] == []
    _, reasons = hooks.check(token, {"metadata": metadata, "spec": {"sice": 1}})
    assert ".spec.sice: field not declared in schema" in reasons[0]


def test_a_conflict_names_the_field_its_owner_and_the_fixes(hooks: Hooks, client: KubeClient, namespace: str) -> None:
    id, _, inputs = hooks.create(DEPLOYMENT, deployment(namespace))
    client.merge(Ref("apps/v1", "Deployment", "web", namespace), {"spec": {"replicas": 5}})
    _, reasons = hooks.check(DEPLOYMENT, deployment(namespace, replicas=2), inputs)
    assert "Server-Side Apply field conflict detected" in reasons[0]
    assert ".spec.replicas" in reasons[0]
    assert "pulumi.com/patchForce" in reasons[0]
    assert id == f"{namespace}/web"


@pytest.mark.parametrize("forced", ["annotation", "provider"])
def test_a_conflict_can_be_overruled(hooks: Hooks, client: KubeClient, namespace: str, forced: str) -> None:
    _, outputs, inputs = hooks.create(DEPLOYMENT, deployment(namespace))
    client.merge(Ref("apps/v1", "Deployment", "web", namespace), {"spec": {"replicas": 5}})
    news = deployment(namespace, replicas=2)
    if forced == "annotation":
        news["metadata"]["annotations"] = {"pulumi.com/patchForce": "true"}
    else:
        hooks.session = hooks.provider.configure({"enablePatchForce": True, "kubeconfig": ""}, "test")
    checked, reasons = hooks.check(DEPLOYMENT, news, inputs)
    assert reasons == []
    assert hooks.update(DEPLOYMENT, f"{namespace}/web", outputs, inputs, checked)["spec"]["replicas"] == 2


def test_a_replacement_is_validated_as_the_new_object_it_will_be(hooks: Hooks, namespace: str) -> None:
    _, _, inputs = hooks.create(DEPLOYMENT, deployment(namespace))
    other = {"matchLabels": {"app": "other"}}
    pod = {"metadata": {"labels": {"app": "other"}}, "spec": {"containers": [{"name": "c", "image": "x"}]}}
    assert hooks.check(DEPLOYMENT, deployment(namespace, selector=other, template=pod), inputs)[1] == []
    _, reasons = hooks.check(DEPLOYMENT, deployment(namespace, selector=other), inputs)
    assert "does not match template `labels`" in reasons[0]


def test_a_change_of_an_immutable_field_is_refused_at_preview(hooks: Hooks, namespace: str) -> None:
    token = "kubernetes:storage.k8s.io/v1:StorageClass"
    inputs = {"metadata": {"name": f"class-{namespace}"}, "provisioner": "x/y", "reclaimPolicy": "Delete"}
    id, outputs, checked = hooks.create(token, inputs)
    _, reasons = hooks.check(token, {**inputs, "reclaimPolicy": "Retain"}, checked)
    assert 'reclaimPolicy: Invalid value: "Retain": field is immutable' in reasons[0]
    hooks.delete(token, id, outputs, checked)


def test_a_spare_with_an_installed_crd_is_not_adopted_and_a_deleted_cluster_leaves_nothing(plane: ControlPlane) -> None:
    """The last of the tests that need a spare, which it uses up: starting another takes 3 s (2026-11)."""
    spare, offered = plane.targets.spare(read_settings({})).client, plane.targets.preview_crds
    ref = Ref(f"{GROUP}/v1", "Widget", "w", "default")
    assert not offered.install_for(spare, ref)
    offered.offer([WIDGET])
    assert not offered.install_for(spare, Ref(f"{GROUP}/v2", "Widget", "w"))
    assert offered.install_for(spare, ref)
    assert crds.is_served(spare, ref)
    other = crd(GROUP, "Widget", {"weight": {"type": "integer"}})
    offered.offer([other])
    assert offered.install_for(spare, ref)
    served = (spare.get(Ref.of(other)) or {})["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    assert "weight" in served["properties"]["spec"]["properties"]

    assert plane.pool.create("after-preview").server != spare.server
    server = plane.pool.existing()["after-preview"]
    created = plane.targets.client(server)
    assert not crds.is_served(created, ref)
    created.apply(Ref("v1", "Namespace", "left").as_object(), "test")
    plane.pool.delete("after-preview")
    assert server.process.exit_code is not None
    assert plane.etcd.wipe(server.slot) == 0
    assert plane.client.get(Ref("v1", "Namespace", "default")) is not None


@pytest.mark.parametrize(
    ("alias", "version", "refused"),
    [("al2@latest", "1.33", True), ("al2@v20251001", "1.36", True), ("al2@latest", "1.32", False),
     ("al2023@latest", "1.36", False)],
)  # fmt: skip
def test_an_alias_of_amazon_linux_2_is_refused_where_it_has_no_image(
    first_preview: Hooks, plane: ControlPlane, monkeypatch: pytest.MonkeyPatch, alias: str, version: str, refused: bool
) -> None:
    monkeypatch.setattr(plane.targets.pool, "wanted", lambda *_: version)
    spec = {"amiSelectorTerms": [{"id": "ami-1"}, {"alias": alias}]}
    inputs = {"metadata": {"name": "gpu"}, "spec": spec}
    _, reasons = first_preview.check("kubernetes:karpenter.k8s.aws/v1:EC2NodeClass", inputs)
    assert any(f"amiSelectorTerms[1].alias: no image is {alias}. EKS has" in one for one in reasons) is refused
