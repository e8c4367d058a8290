"""What a pod can't start without, and what is reported of it."""

from __future__ import annotations

from typing import Any

import pytest

from slipway.sandbox.nodes.references import Reference, event, references


def pod(volumes: list[dict[str, Any]] | None = None, **container: Any) -> dict[str, Any]:
    return {
        "metadata": {"name": "train", "namespace": "vision", "uid": "u-1"},
        "spec": {
            "nodeName": "n-0",
            "volumes": volumes or [],
            "containers": [{"name": "main", "image": "x", **container}],
        },
    }


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (pod(), []),
        (pod([{"name": "v", "emptyDir": {}}]), []),
        (pod([{"name": "v", "secret": {"secretName": "s"}}]), [Reference("Secret", "s", volume="v")]),
        (pod([{"name": "v", "secret": {"secretName": "s", "optional": True}}]), []),
        (pod([{"name": "v", "configMap": {"name": "c"}}]), [Reference("ConfigMap", "c", volume="v")]),
        (pod(env=[{"name": "X", "value": "1"}]), []),
        (
            pod(env=[{"name": "X", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}]),
            [Reference("Secret", "s", key="k")],
        ),
        (pod(env=[{"name": "X", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]), []),
        (pod(envFrom=[{"configMapRef": {"name": "c"}}]), [Reference("ConfigMap", "c")]),
        (pod(envFrom=[{"secretRef": {"name": "s", "optional": True}}]), []),
    ],
)
def test_references_are_what_is_mounted_or_read_and_not_optional(
    made: dict[str, Any], expected: list[Reference]
) -> None:
    assert list(references(made)) == expected


def test_the_token_and_certificate_of_every_pod_are_no_references() -> None:
    sources = [
        {"serviceAccountToken": {"path": "token"}},
        {"configMap": {"name": "kube-root-ca.crt", "items": []}},
        {"downwardAPI": {"items": []}},
    ]
    assert list(references(pod([{"name": "kube-api-access", "projected": {"sources": sources}}]))) == []
    assert list(references(pod([{"name": "v", "projected": {"sources": [{"secret": {"name": "s"}}]}}]))) == [
        Reference("Secret", "s", volume="v")
    ]


def test_containers_that_run_first_are_looked_at_as_well() -> None:
    made = pod()
    made["spec"]["initContainers"] = [{"name": "init", "image": "x", "envFrom": [{"secretRef": {"name": "s"}}]}]
    assert list(references(made)) == [Reference("Secret", "s")]


def test_the_event_is_that_of_a_kubelet() -> None:
    mounted = event(pod(), *Reference("Secret", "s", volume="v").reason)
    assert (mounted["reason"], mounted["message"]) == (
        "FailedMount",
        'MountVolume.SetUp failed for volume "v" : secret "s" not found',
    )
    assert mounted["involvedObject"]["uid"] == "u-1"
    read = event(pod(), *Reference("ConfigMap", "c", key="k").reason)
    assert (read["reason"], read["message"]) == ("Failed", 'Error: configmap "c" not found (key "k")')
