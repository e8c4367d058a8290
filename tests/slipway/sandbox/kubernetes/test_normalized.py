"""Inputs as the official provider keeps them."""

from __future__ import annotations

from typing import Any

import pytest

from slipway.sandbox.kubernetes.helm.chart import Charts
from slipway.sandbox.kubernetes.helm.inputs import normalized as normalized_release
from slipway.sandbox.kubernetes.normalized import normalized
from slipway.sandbox.rpc.wire import UNKNOWN


def obj(api_version: str, kind: str, **more: Any) -> dict[str, Any]:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "x"}, **more}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (obj("v1", "Secret", stringData={"a": "1"}), obj("v1", "Secret", data={"a": "MQ=="})),
        (
            obj("v1", "Secret", data={"a": "MA==", "b": "Mg=="}, stringData={"a": "1"}),
            obj("v1", "Secret", data={"a": "MQ==", "b": "Mg=="}),
        ),
        (
            obj("scheduling.k8s.io/v1", "PriorityClass", globalDefault=False, value=0),
            obj("scheduling.k8s.io/v1", "PriorityClass", value=0),
        ),
        (
            obj("v1", "PersistentVolume", spec={"storageClassName": "", "csi": {"driver": "d"}}),
            obj("v1", "PersistentVolume", spec={"csi": {"driver": "d"}}),
        ),
        (
            obj("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy", spec={"variables": [], "a": {}}),
            obj("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy", spec={"a": {}}),
        ),
        (
            obj("apps/v1", "Deployment", spec={"template": {"spec": {"containers": [{"name": "a", "env": []}]}}}),
            obj("apps/v1", "Deployment", spec={"template": {"spec": {"containers": [{"name": "a"}]}}}),
        ),
    ],
)
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
