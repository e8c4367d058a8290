"""MultiKueue on a manager cluster: manifests of the worker clusters that its queues dispatch to.

A worker needs none of these: it has the same teams in its own stack file, and so the namespaces and queues for the
manager's copies of jobs. The kubeconfig of a worker is in a Secret that is created outside the stack, because it is a
credential.
"""

from __future__ import annotations

from typing import Any, Final

from spec.settings.queues import Queues

API: Final = "kueue.x-k8s.io/v1beta2"
NAME: Final = "multikueue"
"""Name of the AdmissionCheck and of its configuration."""


def remote_manifests(settings: Queues) -> dict[str, dict[str, Any]]:
    """Workers, their order, and the AdmissionCheck that dispatches to them, by the suffix of the logical name; empty if
    there are no workers."""
    if not settings.workers:
        return {}
    clusters = {f"worker-{name}": _cluster(name, worker.secret) for name, worker in sorted(settings.workers.items())}
    parameters = {"apiGroup": "kueue.x-k8s.io", "kind": "MultiKueueConfig", "name": NAME}
    check = {"controllerName": "kueue.x-k8s.io/multikueue", "parameters": parameters}
    return {
        **clusters,
        "workers": _manifest("MultiKueueConfig", NAME, {"clusters": sorted(settings.workers)}),
        "check": _manifest("AdmissionCheck", NAME, check),
    }


def admission_checks(settings: Queues) -> dict[str, Any]:
    """The part of a ClusterQueue that dispatches its workloads to workers, for all or some flavors."""
    if not settings.workers:
        return {}
    check: dict[str, Any] = {"name": NAME}
    if settings.remote_pools:
        check["onFlavors"] = sorted(settings.remote_pools)
    return {"admissionChecksStrategy": {"admissionChecks": [check]}}


def _cluster(name: str, secret: str) -> dict[str, Any]:
    source = {"kubeConfig": {"location": secret, "locationType": "Secret"}}
    return _manifest("MultiKueueCluster", name, {"clusterSource": source})


def _manifest(kind: str, name: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": API, "kind": kind, "metadata": {"name": name}, "spec": spec}
