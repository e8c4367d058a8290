"""Rules for workloads on manifests, as charts are rendered to them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from policies.manifests import findings_for_manifests, read, resource, token
from policies.suppressions import Suppressions
from tests.support.day import TODAY

POD: dict[str, Any] = {
    "securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
    "serviceAccountName": "controller",
    "containers": [
        {
            "name": "manager",
            "image": "registry.k8s.io/kueue/kueue:v0.19.2",
            "resources": {"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"memory": "1Gi"}},
            "securityContext": {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
            },
        }
    ],
}
DEPLOYMENT: dict[str, Any] = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "controller"},
    "spec": {"replicas": 2, "template": {"metadata": {"labels": {"app": "x"}}, "spec": POD}},
}


def ids(*manifests: dict[str, Any], namespace: str = "kueue-system") -> set[str]:
    found = findings_for_manifests(
        manifests, stack="prod", today=TODAY, namespace=namespace, suppressions=Suppressions()
    )
    return {one.id for one in found}


def changed(**pod: Any) -> dict[str, Any]:
    return {**DEPLOYMENT, "spec": {"template": {"spec": {**POD, **pod}}}}


def test_a_good_deployment_passes() -> None:
    assert ids(DEPLOYMENT) == set()


@pytest.mark.parametrize(
    ("pod", "found"),
    [
        ({"hostNetwork": True}, "pod-isolated/host-network"),
        ({"securityContext": {}}, "pod-restricted/non-root"),
        ({"serviceAccountName": None}, "pod-hygiene/token"),
        ({"containers": [{**POD["containers"][0], "image": "someone/x"}]}, "pod-trusted-image/registry"),
        ({"containers": [{**POD["containers"][0], "resources": {}}]}, "pod-sized/memory-limit"),
    ],
)
def test_a_rendered_pod_is_judged_like_a_declared_one(pod: dict[str, Any], found: str) -> None:
    assert found in ids(changed(**pod))


def test_objects_without_a_namespace_are_where_the_release_is() -> None:
    assert "pod-isolated/host-network" not in ids(changed(hostNetwork=True), namespace="kube-system")
    assert resource(DEPLOYMENT, "prod", "kueue-system").urn.endswith(
        "::kubernetes:apps/v1:Deployment::kueue-system/controller"
    )


def test_roles_and_credentials_in_manifests_are_found() -> None:
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "x"}}
    assert ids({**role, "rules": [{"verbs": ["*"], "resources": ["jobs"]}]}) == {"rbac-least/wildcard"}
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}, "data": {"token": "hf_" + "x" * 34}}
    assert ids(config) == {"no-plaintext-secrets/credential"}


def test_levels_are_those_of_the_stack() -> None:
    found = findings_for_manifests([changed(securityContext={})], stack="dev", today=TODAY)
    assert {one.rule for one in found} >= {"pod-restricted"}


ODD: tuple[dict[str, Any], ...] = (
    {},
    {"kind": "Deployment", "apiVersion": "apps/v1"},
    {"apiVersion": "x/v1", "kind": "New", "spec": [1, {"containers": [2]}]},
)


@pytest.mark.parametrize("document", ODD)
def test_odd_documents_crash_nothing(tmp_path: Path, document: dict[str, Any]) -> None:
    (tmp_path / "odd.yaml").write_text(yaml.safe_dump(document))
    findings_for_manifests(read(tmp_path), stack="prod", today=TODAY)


def test_a_folder_is_read_with_all_its_documents_and_lists(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    (tmp_path / "below/two.yaml").write_text("---\n" + yaml.safe_dump_all([DEPLOYMENT, None, DEPLOYMENT]))
    (tmp_path / "list.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [DEPLOYMENT]}))
    (tmp_path / "notes.txt").write_text("kind: Deployment")
    assert [token(one) for one in read(tmp_path)] == ["kubernetes:apps/v1:Deployment"] * 3


def test_a_file_that_is_no_yaml_is_named(tmp_path: Path) -> None:
    (tmp_path / "broken.yaml").write_text("a: [")
    with pytest.raises(ValueError, match=r"broken\.yaml: no YAML"):
        list(read(tmp_path))
