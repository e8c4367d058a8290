from __future__ import annotations

from typing import Any

import pytest

from slipway.sandbox.kubernetes.immutable import forces_new
from slipway.sandbox.kubernetes.settings import Settings
from slipway.sandbox.rpc import paths


def inputs(api_version: str, kind: str, **more: Any) -> dict[str, Any]:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "x"}, **more}


@pytest.mark.parametrize(
    ("api_version", "kind", "path", "expected"),
    [
        ("apps/v1", "Deployment", "metadata.name", True),
        ("apps/v1", "Deployment", "metadata.namespace", True),
        ("apps/v1", "Deployment", 'metadata.labels["a.b/c"]', False),
        ("apps/v1", "Deployment", "spec.selector.matchLabels.app", True),
        ("apps/v1", "Deployment", "spec.replicas", False),
        ("apps/v1", "StatefulSet", "spec.volumeClaimTemplates[0].spec", True),
        ("batch/v1", "Job", "spec.template.spec.containers[0].image", True),
        ("batch/v1", "Job", "spec.suspend", False),
        ("v1", "PersistentVolumeClaim", "spec.storageClassName", True),
        ("v1", "PersistentVolumeClaim", "spec.resources.requests.storage", False),
        ("v1", "PersistentVolumeClaim", "spec.volumeMode", False),
        ("apps/v1", "StatefulSet", "spec.revisionHistoryLimit", True),
        ("v1", "Pod", "spec.containers[0].image", False),
        ("v1", "Pod", "spec.containers[0].args[1]", True),
        ("v1", "Service", "spec.clusterIP", True),
        ("v1", "Service", "spec.ports[0].port", False),
        ("storage.k8s.io/v1", "StorageClass", "parameters.type", True),
        ("rbac.authorization.k8s.io/v1", "RoleBinding", "roleRef.name", True),
        ("rbac.authorization.k8s.io/v1", "RoleBinding", "subjects[0].name", False),
        ("v1", "Secret", "type", True),
        ("example.com/v1", "Job", "spec.template", False),
    ],
)
def test_immutable_fields_are_replaced(api_version: str, kind: str, path: str, expected: bool) -> None:
    assert forces_new(paths.parse(path), inputs(api_version, kind), Settings()) is expected


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
    assert forces_new(("data", "key"), inputs("v1", kind, **more), settings) is expected
