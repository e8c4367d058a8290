"""What the API server fills in: on a real one, beside what `slipway why FILE --fix` writes."""

from __future__ import annotations

import copy
import time
from typing import Any

import pytest

from components.admission import defaults, rules
from sandbox.kubernetes.client import KubeClient
from tests.components.admission.samples import CONTEXT, CUSTOM, Object, definition, spec
from tests.sandbox.plane import ControlPlane
from tests.support.definitions import define
from tests.support.patience import SECONDS

pytestmark = pytest.mark.sandbox

TEAM = "platform.slipway/team"
STEPS = defaults.steps(rules(CONTEXT))
CLUSTER = "defaults"


def create(client: KubeClient, manifest: Object, namespace: str = "filled") -> Object:
    """What the API server would store."""
    body = copy.deepcopy(manifest)
    body["metadata"]["namespace"] = namespace
    resource = client.discovery.find(body["apiVersion"], body["kind"])
    found: Object = client.call("POST", resource.path(namespace), body, {"dryRun": "All"})
    return found


@pytest.fixture(scope="module")
def client(plane: ControlPlane) -> KubeClient:
    plane.pool.create(CLUSTER, "1.36")
    client = plane.targets.of_cluster(CLUSTER)
    assert client is not None
    define(client, [definition(kind) for kind in CUSTOM])
    for manifest in (defaults.policy(STEPS, CONTEXT), defaults.binding(), *defaults.notice(STEPS)):
        client.apply(manifest, "test")
    for name, level in (("filled", "baseline"), ("strict", "restricted")):
        labels = {TEAM: "vision", "pod-security.kubernetes.io/enforce": level}
        client.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}, "test")
    end = time.monotonic() + SECONDS
    while "activeDeadlineSeconds" not in create(client, bare())["spec"]:
        assert time.monotonic() < end, f"nothing is filled in after {SECONDS} s"
        time.sleep(0.1)
    return client


def bare(body: Object | None = None, **more: Any) -> Object:
    fields = {"template": {"spec": body or spec()}, **more}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "it"}, "spec": fields}


def test_a_job_gets_its_bounds_and_queue(client: KubeClient) -> None:
    made = create(client, bare())
    print(made)
    assert made["spec"]["activeDeadlineSeconds"] == 86400
    assert made["spec"]["ttlSecondsAfterFinished"] == 86400
    assert made["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "default"
    assert "spec.activeDeadlineSeconds: 86400" in made["metadata"]["annotations"][defaults.NOTE]


def test_a_restricted_namespace_gets_the_context(client: KubeClient) -> None:
    made = create(client, bare(), "strict")["spec"]["template"]["spec"]
    assert made["securityContext"] == {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
    assert made["containers"][0]["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
    }
