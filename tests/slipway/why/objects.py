"""Objects of a cluster, for tests: with messages as the sandbox's API server, scheduler and controllers wrote them
(kubernetes 1.36.3, 2026-11-22), as Kueue v0.19.2 and Karpenter v1.14.1 format them, and as kubelets do."""

import itertools
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from components.workloads.target import Target
from infra.target import target_of
from slipway.why.bundle import Bundle
from spec.settings.pools import Provisioner
from spec.strict_yaml import read
from tests.support.stacks import platform_of

Object = dict[str, Any]
NAMESPACE: Final = "vision"
DEV: Final = target_of(platform_of("dev"), namespace=NAMESPACE)
MANAGED: Final = replace(
    DEV,
    pools={
        name: replace(pool, settings=pool.settings.model_copy(update={"provisioner": Provisioner.MANAGED}))
        for name, pool in DEV.pools.items()
    },
)
"""The same with node groups, to which the Cluster Autoscaler adds nodes."""
POOL: Final = "platform.slipway/pool"
EARLY: Final = "2026-11-22T12:00:00Z"
CASES: Final = read(Path(__file__).with_name("cases.yaml").read_text(encoding="utf-8"))
_TIMES: Final = itertools.count(1)


def _later() -> str:
    number = next(_TIMES)
    return f"2026-11-22T13:{number // 60 % 60:02}:{number % 60:02}Z"


def cases(section: str) -> pytest.MarkDecorator:
    """Runs a test with each row of a section of `cases.yaml`."""
    return pytest.mark.parametrize("row", [pytest.param(row, id=row["what"]) for row in CASES[section]])


def obj(kind: str, name: str, *, owner: Object | None = None, **fields: Any) -> Object:
    """An object with a UID, owned by another one."""
    metadata: Object = {"name": name, "namespace": NAMESPACE, "uid": f"{kind}-{name}", "creationTimestamp": EARLY}
    if owner:
        reference = {"kind": owner["kind"], "name": owner["metadata"]["name"], "uid": owner["metadata"]["uid"]}
        metadata["ownerReferences"] = [{**reference, "controller": True}]
    metadata |= fields.pop("metadata", {})
    return {"apiVersion": "v1", "kind": kind, "metadata": metadata, "spec": {}, **fields}


def condition(kind: str, status: str, reason: str = "", message: str = "") -> Object:
    """A condition."""
    return {"type": kind, "status": status, "reason": reason, "message": message}


def pod(
    name: str = "train-1", *, owner: Object | None = None, spec: Mapping[str, Any] | None = None, **status: Any
) -> Object:
    """A pod that requests one CPU."""
    container = {"name": "main", "image": "a:1", "resources": {"requests": {"cpu": "1", "memory": "1Gi"}}}
    body = {"containers": [container], **(spec or {})}
    return obj("Pod", name, owner=owner, spec=body, status={"phase": "Pending", **status})


def unscheduled(message: str, **more: Any) -> Object:
    """A pod that the scheduler has refused."""
    return pod(conditions=[condition("PodScheduled", "False", "Unschedulable", message)], **more)


def bound(**more: Any) -> Object:
    """A pod on a node."""
    spec = {"nodeName": "cpu-0", **more.pop("spec", {})}
    return pod(conditions=[condition("PodScheduled", "True")], spec=spec, **more)


def event(about: Object, reason: str, message: str, *, by: str = "", kind: str = "Warning") -> Object:
    """An event, later than those before it."""
    metadata = about["metadata"]
    involved = {"kind": about["kind"], "name": metadata["name"], "uid": metadata.get("uid")}
    return {
        "kind": "Event",
        "metadata": {"name": "e"},
        "type": kind,
        "reason": reason,
        "message": message,
        "involvedObject": involved,
        "reportingComponent": by,
        "lastTimestamp": _later(),
    }


def workload(
    message: str = "", *, owner: Object | None = None, status: Mapping[str, Any] | None = None, **spec: Any
) -> Object:
    """A Workload of Kueue without quota, for a reason."""
    conditions = [condition("QuotaReserved", "False", "Pending", message)] if message else []
    given = {"conditions": conditions, **(status or {})}
    return obj("Workload", "job-train-1a2b3", owner=owner, spec={"queueName": "default", **spec}, status=given)


def bundle(subject: Object, *objects: Object, events: tuple[Object, ...] = (), target: Target | None = DEV) -> Bundle:
    """Objects that were read about a subject."""
    return Bundle(subject=subject, objects=objects, events=events, target=target)
