"""Inputs of a manifest: names, normal form, drift, and which changes replace."""

import json
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from sandbox.kubernetes.helm.chart import Charts
from sandbox.kubernetes.helm.values import normalized as normalized_release
from sandbox.kubernetes.inputs import (
    AUTONAMED,
    annotation,
    api_version_and_kind,
    drifted,
    imported,
    is_patch,
    manifest,
    named,
    normalized,
)
from sandbox.kubernetes.manifests import forces_new
from sandbox.kubernetes.targets import UNKNOWN_KUBECONFIG, Settings, read_settings
from sandbox.kubernetes.validation import PLACEHOLDER, blamed, complains_of_unknown, with_placeholders, without
from sandbox.rpc import diff
from sandbox.rpc.errors import ProviderError
from sandbox.rpc.hooks import Resource
from sandbox.rpc.wire import UNKNOWN
from tests.support.cases import beside

CASES: Final = beside(__file__)

DEPLOYMENT = Resource("urn", "kubernetes:apps/v1:Deployment", "web")


@pytest.mark.parametrize(("token", "version", "kind"), CASES["tokens name group version and kind"])
def test_tokens_name_group_version_and_kind(token: str, version: str, kind: str) -> None:
    assert api_version_and_kind(token) == (version, kind)


def test_a_name_is_generated_from_the_logical_name_and_kept() -> None:
    first = named(DEPLOYMENT, {"spec": {}}, {}, b"seed")
    assert first["metadata"]["name"].startswith("web-")
    assert len(first["metadata"]["name"]) == len("web-") + 8
    assert first["metadata"]["annotations"] == {AUTONAMED: "true"}
    again = named(DEPLOYMENT, {"spec": {}}, first, b"another seed")
    assert again["metadata"]["name"] == first["metadata"]["name"]


def test_a_replacement_gets_another_name() -> None:
    names = {named(DEPLOYMENT, {}, {}, seed)["metadata"]["name"] for seed in (b"a", b"b")}
    assert len(names) == 2


@pytest.mark.parametrize("metadata", [{"name": "mine"}, {"generateName": "mine-"}])
def test_the_programs_own_name_is_kept(metadata: dict[str, str]) -> None:
    assert named(DEPLOYMENT, {"metadata": metadata}, {}, b"seed")["metadata"] == metadata


def test_an_explicit_name_does_not_count_as_generated() -> None:
    olds = {"metadata": {"name": "mine"}}
    assert named(DEPLOYMENT, {}, olds, b"seed")["metadata"]["name"] != "mine"


def test_the_inputs_of_the_program_are_not_changed() -> None:
    news: dict[str, Any] = {"metadata": {"labels": {}}}
    named(DEPLOYMENT, news, {}, b"seed")
    assert news == {"metadata": {"labels": {}}}


def test_patches_are_distinguished_from_kinds_that_end_in_patch() -> None:
    assert is_patch("kubernetes:apps/v1:DeploymentPatch", {"kind": "Deployment"})
    assert not is_patch("kubernetes:example.com/v1:EyePatch", {"kind": "EyePatch"})


def test_pulumis_own_keys_are_not_sent() -> None:
    assert manifest({"__defaults": [], "kind": "X", "spec": {}}) == {"kind": "X", "spec": {}}


@pytest.mark.parametrize("inputs", [{}, {"metadata": "unknown"}, {"metadata": {}}, {"metadata": {"annotations": None}}])
def test_a_missing_annotation_is_empty(inputs: dict[str, Any]) -> None:
    assert annotation(inputs, "a") == ""


# Inputs as the official provider keeps them.


def obj(api_version: str, kind: str, **more: Any) -> dict[str, Any]:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "x"}, **more}


@pytest.mark.parametrize(("given", "expected"), [
    (obj("v1", "Secret", stringData={"a": "1"}), obj("v1", "Secret", data={"a": "MQ=="})),
    (obj("v1", "Secret", data={"a": "MA==", "b": "Mg=="}, stringData={"a": "1"}),
        obj("v1", "Secret", data={"a": "MQ==", "b": "Mg=="})),
    (obj("scheduling.k8s.io/v1", "PriorityClass", globalDefault=False, value=0),
        obj("scheduling.k8s.io/v1", "PriorityClass", value=0)),
    (obj("v1", "PersistentVolume", spec={"storageClassName": "", "csi": {"driver": "d"}}),
        obj("v1", "PersistentVolume", spec={"csi": {"driver": "d"}})),
    (obj("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy", spec={"variables": [], "a": {}}),
        obj("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy", spec={"a": {}})),
    (obj("apps/v1", "Deployment", spec={"template": {"spec": {"containers": [{"name": "a", "env": []}]}}}),
        obj("apps/v1", "Deployment", spec={"template": {"spec": {"containers": [{"name": "a"}]}}})),
])  # fmt: skip
def test_what_is_empty_and_optional_is_dropped(given: dict[str, Any], expected: dict[str, Any]) -> None:
    assert normalized(given) == expected
    assert normalized(expected) == expected


@pytest.mark.parametrize(
    "kept",
    [
        obj("v1", "Secret", stringData={"a": UNKNOWN}),
        obj("scheduling.k8s.io/v1", "PriorityClass", globalDefault=True),
        obj("rbac.authorization.k8s.io/v1", "Role", rules=[]),
        obj("v1", "PersistentVolumeClaim", spec={"storageClassName": ""}),
        obj("v1", "PersistentVolume", spec=UNKNOWN),
        obj("v1", "PersistentVolume", spec={"storageClassName": "gp3"}),
        obj("kueue.x-k8s.io/v1beta2", "ClusterQueue", spec={"resourceGroups": []}),
        obj("karpenter.sh/v1", "NodePool", spec={"taints": []}),
        obj("apiextensions.k8s.io/v1", "CustomResourceDefinition", spec={"versions": []}),
        obj("networking.k8s.io/v1", "NetworkPolicy", spec={"podSelector": {}}),
        obj("v1", "Pod", spec={"automountServiceAccountToken": False}),
    ],
)
def test_everything_else_is_kept(kept: dict[str, Any]) -> None:
    assert normalized(kept) == kept


def test_a_release_has_every_argument_and_no_other() -> None:
    release = {"chart": "kueue", "version": "1.0.0", "atomic": True, "compat": "true", "values": {}, "skipCrds": None}
    found = normalized_release(release, Charts(None))
    assert "compat" not in found
    assert (found["atomic"], found["skipCrds"], found["keyring"], found["timeout"]) == (True, False, "", 300)
    assert "takeOwnership" not in found
    assert normalized_release({**release, "takeOwnership": True}, Charts(None))["takeOwnership"] is True
    assert (found["version"], found["values"]) == ("1.0.0", {})
    assert "timeout" not in normalized_release({**release, "skipAwait": True}, Charts(None))


def test_the_version_of_a_local_chart_is_its_own(tmp_path: Any) -> None:
    (tmp_path / "Chart.yaml").write_text("apiVersion: v2\nname: thing\nversion: 2.0.0\n", encoding="utf-8")
    release = {"chart": str(tmp_path), "version": "1.0.0", "values": {}}
    assert normalized_release(release, Charts(None))["version"] == "2.0.0"
    assert normalized_release({**release, "chart": "thing"}, Charts(tmp_path.parent))["version"] == "1.0.0"


INPUTS: dict[str, Any] = {
    "metadata": {"name": "web", "labels": {"app": "web"}},
    "spec": {"replicas": 2, "cpu": "1000m", "args": ["a", "b"],
        "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]},
}  # fmt: skip
RECORDED: dict[str, Any] = {
    "metadata": {"name": "web", "labels": {"app": "web", "added": "by-admission"}, "uid": "1"},
    "spec": {"replicas": 2, "cpu": "1", "args": ["a", "b"],
        "env": [{"name": "A", "value": "1", "default": True}, {"name": "B", "value": "2", "default": True}],
        "strategy": "defaulted"},
}  # fmt: skip


def live(**spec: Any) -> dict[str, Any]:
    return {**RECORDED, "spec": {**RECORDED["spec"], **spec}}


def test_defaults_and_other_spellings_of_the_api_server_are_not_drift() -> None:
    assert drifted(INPUTS, RECORDED, RECORDED) == INPUTS


@pytest.mark.parametrize(("change", "expected"), [
    ({"replicas": 5}, {"replicas": 5}),
    ({"cpu": "2"}, {"cpu": "2"}),
    ({"args": ["a"]}, {"args": ["a"]}),
    ({"args": ["a", "b", "c"]}, {"args": ["a", "b", "c"]}),
    ({"env": [{"name": "A", "value": "1", "default": True}]}, {"env": [{"name": "A", "value": "1"}]}),
    ({"env": [{"name": "A", "value": "9", "default": True}, RECORDED["spec"]["env"][1]]},
        {"env": [{"name": "A", "value": "9"}, {"name": "B", "value": "2"}]}),
    ({"env": [*RECORDED["spec"]["env"], {"name": "C", "value": "3"}]},
        {"env": [*INPUTS["spec"]["env"], {"name": "C", "value": "3"}]}),
    ({"strategy": "changed"}, {}),
    ({"new": 1}, {}),
])  # fmt: skip
def test_only_changes_of_fields_that_the_program_set_are_shown(
    change: dict[str, Any], expected: dict[str, Any]
) -> None:
    found = drifted(INPUTS, RECORDED, live(**change))
    assert found == {**INPUTS, "spec": {**INPUTS["spec"], **expected}}


def test_a_removed_field_is_missing_in_the_inputs() -> None:
    spec = {key: value for key, value in RECORDED["spec"].items() if key != "replicas"}
    assert "replicas" not in drifted(INPUTS, RECORDED, {**RECORDED, "spec": spec})["spec"]


def test_a_field_that_the_api_server_never_returned_is_kept() -> None:
    inputs = {**INPUTS, "emptyThing": {}}
    assert drifted(inputs, RECORDED, RECORDED)["emptyThing"] == {}


def test_only_changes_of_the_programs_own_labels_are_drift() -> None:
    metadata = {"name": "web", "labels": {"app": "other", "added": "x"}}
    assert drifted(INPUTS, RECORDED, {**RECORDED, "metadata": metadata})["metadata"]["labels"] == {"app": "other"}


def test_an_imported_object_is_described_without_server_metadata() -> None:
    metadata = {"name": "a", "uid": "1", "resourceVersion": "2"}
    live = {"kind": "X", "metadata": metadata, "status": {}, "spec": {"a": 1}}
    assert imported(live) == {"kind": "X", "metadata": {"name": "a"}, "spec": {"a": 1}}


@pytest.mark.parametrize(("api_version", "kind", "path", "expected"), CASES["immutable fields are replaced"])
def test_immutable_fields_are_replaced(api_version: str, kind: str, path: str, expected: bool) -> None:
    assert forces_new(diff.parse(path), obj(api_version, kind), Settings()) is expected


@pytest.mark.parametrize(
    ("kind", "settings", "more", "expected"),
    [
        ("ConfigMap", Settings(), {}, True),
        ("ConfigMap", Settings(config_map_mutable=True), {}, False),
        ("ConfigMap", Settings(config_map_mutable=True), {"immutable": True}, True),
        ("Secret", Settings(config_map_mutable=True), {}, True),
        ("Secret", Settings(secret_mutable=True), {}, False),
    ],
)
def test_contents_are_replaced_unless_the_provider_allows_updates(
    kind: str, settings: Settings, more: dict[str, Any], expected: bool
) -> None:
    assert forces_new(("data", "key"), obj("v1", kind, **more), settings) is expected


DOCUMENT: dict[str, Any] = {
    "current-context": "a",
    "clusters": [{"name": "one", "cluster": {"server": "https://127.0.0.1:1/"}},
        {"name": "two", "cluster": {"server": "https://127.0.0.1:2"}}],
    "contexts": [{"name": "a", "context": {"cluster": "one", "user": "u", "namespace": "team"}},
        {"name": "b", "context": {"cluster": "two", "user": "u"}}],
    "users": [{"name": "u", "user": {"exec": {"command": "aws", "args": ["eks", "get-token"]}}}],
}  # fmt: skip


@pytest.mark.parametrize("text", [json.dumps(DOCUMENT), yaml.safe_dump(DOCUMENT)])
def test_a_kubeconfig_may_be_json_or_yaml(text: str) -> None:
    settings = read_settings({"kubeconfig": text})
    assert (settings.server, settings.namespace, settings.ambient) == ("https://127.0.0.1:1", "team", False)


def test_a_kubeconfig_may_be_a_path(tmp_path: Path) -> None:
    path = tmp_path / "config"
    path.write_text(json.dumps(DOCUMENT))
    assert read_settings({"kubeconfig": str(path)}).server == "https://127.0.0.1:1"


@pytest.mark.parametrize(("key", "value"), [("context", "b"), ("cluster", "two")])
def test_context_and_cluster_can_be_chosen(key: str, value: str) -> None:
    assert read_settings({"kubeconfig": json.dumps(DOCUMENT), key: value}).server == "https://127.0.0.1:2"


def test_the_providers_namespace_precedes_that_of_the_context() -> None:
    assert read_settings({"kubeconfig": json.dumps(DOCUMENT), "namespace": "mine"}).namespace == "mine"


def test_an_unknown_kubeconfig_names_no_server_and_is_not_the_sandboxs_own() -> None:
    settings = read_settings({"kubeconfig": UNKNOWN_KUBECONFIG})
    assert (settings.server, settings.ambient) == ("", False)


def test_without_a_kubeconfig_the_sandboxs_own_is_used() -> None:
    assert read_settings({}).ambient


def test_flags_may_be_booleans_or_strings() -> None:
    config = {"enablePatchForce": "true", "upsertExistingObjects": True, "enableSecretMutable": "false"}
    settings = read_settings(config)
    assert (settings.patch_force, settings.upsert, settings.secret_mutable) == (True, True, False)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"kubeconfig": "/no/such/file"}, "neither the contents of a kubeconfig nor the path"),
        ({"kubeconfig": "a: [\n"}, "not valid YAML or JSON"),
        ({"kubeconfig": "- a\n- b\n"}, "a map with clusters"),
        ({"kubeconfig": json.dumps(DOCUMENT), "context": "c"}, "no context 'c'; it has: a, b"),
        ({"kubeconfig": json.dumps(DOCUMENT), "cluster": "three"}, "no cluster 'three' with a server"),
        ({"renderYamlToDirectory": "out"}, "does not support renderYamlToDirectory"),
    ],
)
def test_invalid_arguments_are_refused(config: dict[str, Any], message: str) -> None:
    with pytest.raises(ProviderError, match=message):
        read_settings(config)


OBJECT: dict[str, Any] = {
    "metadata": {"name": "x", "annotations": {"a.b/role": f"arn:{UNKNOWN}:role"}},
    "spec": {"replicas": UNKNOWN, "ports": [{"port": 80}, {"port": UNKNOWN}]},
}
PLACES = (("metadata", "annotations", "a.b/role"), ("spec", "replicas"), ("spec", "ports", 1, "port"))


def test_every_unknown_is_replaced_by_a_placeholder() -> None:
    obj, places = with_placeholders(OBJECT)
    assert places == PLACES
    assert obj["metadata"]["annotations"]["a.b/role"] == f"arn:{PLACEHOLDER}:role"
    assert OBJECT["spec"]["replicas"] == UNKNOWN


def test_an_object_without_unknowns_is_unchanged() -> None:
    known = {"a": 1}
    assert with_placeholders(known) == (known, ())


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (".spec.replicas: expected numeric (int or float), got string", (PLACES[1],)),
        ('.spec.ports[name="x"].port: expected numeric', (PLACES[2],)),
        ("spec.ports[1].port: Invalid value", (PLACES[2],)),
        (".spec.replicasMax: expected numeric", ()),
        (".spec.foo: field not declared in schema", ()),
    ],
)
def test_a_message_is_attributed_to_its_unknown(message: str, expected: tuple[Any, ...]) -> None:
    assert blamed(message, PLACES) == expected


def test_a_message_that_quotes_the_placeholder_is_about_an_unknown() -> None:
    assert complains_of_unknown(f'Invalid value: "{PLACEHOLDER}"', ())
    assert not complains_of_unknown("Required value", ())


def test_paths_are_removed_without_moving_the_others() -> None:
    obj = {"list": ["a", "b", "c", "d"], "map": {"x": 1, "y": 2}}
    assert without(obj, [("list", 1), ("list", 3), ("map", "x")]) == {"list": ["a", "c"], "map": {"y": 2}}
    assert obj["list"] == ["a", "b", "c", "d"]
