"""Names, labels and annotations of workloads, for queues, cost reports and autoscalers."""

import json
from collections.abc import Mapping
from typing import Any, Final

from components.base import placement
from components.workloads.pods import Pod
from components.workloads.target import Target
from spec.jobs import PODSET, PRIORITY, QUEUE
from spec.settings.addons.batch import Yunikorn
from spec.teams.labels import JOB

SKIP_AWAIT: Final = "pulumi.com/skipAwait"
"""Annotation: Pulumi doesn't await the object. A queued job becomes ready only when it has run, days later."""


def kept(pod: Pod, target: Target) -> dict[str, str]:
    """Annotations of a job's pods that keep them where they are."""
    return placement.kept(target.pools[name] for name in pod.pools if name in target.pools)


def placed(notes: Mapping[str, str], pod: Pod, target: Target) -> dict[str, str]:
    """Annotations of a pod, with the one without which a queue admits it to no pool that has a topology.

    Kueue skips flavors with a topology for pods that don't ask for one, in a queue that also has others (kueue v0.19.2,
    pkg/scheduler/flavorassigner/tas_flavorassigner.go, checkPodSetAndFlavorMatchForTAS).
    """
    asked = any(key.startswith(PODSET) for key in notes)
    if asked or not target.by_topology or not pod.pools or not target.by_topology.issuperset(pod.pools):
        return dict(notes)
    return {**notes, f"{PODSET}unconstrained-topology": "true"}


GROUP: Final = "yunikorn.apache.org/task-group"


def gang(members: int, spec: Mapping[str, Any], target: Target) -> dict[str, str]:
    """Annotations by which YuniKorn gives the pods of one owner their nodes together; none with other schedulers.

    Args:
        members: How many pods there are.
        spec: Their pod spec, with one container.
        target: The target.
    """
    if target.addons is None or Yunikorn not in target.addons:
        return {}
    resources = spec["containers"][0]["resources"]
    placement = {key: spec[key] for key in ("nodeSelector", "tolerations", "affinity") if key in spec}
    needs = {**resources.get("limits", {}), **resources.get("requests", {})}
    group = {"name": "pods", "minMember": members, "minResource": needs, **placement}
    return {f"{GROUP}-name": "pods", f"{GROUP}s": json.dumps([group], sort_keys=True)}


def labels(name: str, target: Target, more: Mapping[str, str] | None = None) -> dict[str, str]:
    """Labels of an object or a pod."""
    return {**(more or {}), **target.labels, JOB: name, "app.kubernetes.io/name": name}


def queue_labels(target: Target, priority: str) -> dict[str, str]:
    """Labels with which Kueue queues an object."""
    return {QUEUE: target.queue, PRIORITY: priority} if target.queue else {}


def metadata(
    name: str,
    target: Target,
    *,
    queued_as: str | None = None,
    annotations: Mapping[str, str] | None = None,
    more: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Metadata of a namespaced object; `queued_as` is its priority class if Kueue queues it, `more` are additional
    labels."""
    extra = {**(more or {}), **(queue_labels(target, queued_as) if queued_as else {})}
    fields: dict[str, Any] = {"name": name, "namespace": target.namespace, "labels": labels(name, target, extra)}
    return {**fields, "annotations": dict(annotations)} if annotations else fields


def pod_metadata(
    name: str,
    pod: Pod,
    target: Target,
    annotations: Mapping[str, str] | None = None,
    *,
    more: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Metadata of a pod template; `more` are additional labels."""
    notes = placed({**pod.annotations, **(annotations or {})}, pod, target)
    fields: dict[str, Any] = {"labels": labels(name, target, {**pod.labels, **(more or {})})}
    return {**fields, "annotations": notes} if notes else fields
