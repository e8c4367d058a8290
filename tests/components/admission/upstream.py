"""Samples of others for Dynamic Resource Allocation, as objects in a team's namespace."""

from typing import Any, Final

from spec import strict_yaml
from tests.components.admission import samples as make
from tests.components.admission.samples import GPU, GPU_TAINT, POOL, Object, container, pool_taint
from tests.support.cases import beside

DATA: Final = beside(__file__)
ROWS: Final[list[dict[str, Any]]] = strict_yaml.beside(__file__, "upstream_claims")
POOL_NAME: Final = "claimed"
CLAIMED: Final[dict[str, Any]] = {
    "role": "inference", "provisioner": "managed", "instanceTypes": ["g6.12xlarge"], "min": 2, "max": 2,
    "gpuAllocation": "dra",
}  # fmt: skip
"""A pool with four GPUs on each of two nodes."""
PARTED: Final[dict[str, Any]] = {**CLAIMED, **DATA["pool of MIG instances"]}
SAYS: Final = {
    "class": "deviceClassName", "config": "config", "capacity": "capacity", "first-available": "firstAvailable",
    "all": "allocationMode All", "admin-access": "adminAccess", "shared-claim": "resourceClaimName",
    "mig": "no pool fits this pod", "name": "2 in a template named for 1",
}  # fmt: skip
"""A part of the message, by the outcome."""


def claims_of(row: dict[str, Any]) -> list[Object]:
    """Its template, or its claim; none of a sample that requests an extended resource."""
    if "requests" not in row:
        return []
    devices = {"requests": row["requests"], **({"config": [_CONFIG]} if row.get("config") else {})}
    kind, spec = (
        ("ResourceClaim", {"devices": devices})
        if "claim" in row
        else ("ResourceClaimTemplate", {"spec": {"devices": devices}})
    )
    return [
        {
            "apiVersion": f"resource.k8s.io/{row.get('api', 'v1')}",
            "kind": kind,
            "metadata": {"name": row.get("claim") or row["template"]},
            "spec": spec,
        }
    ]


_CONFIG: Final = DATA["configuration"]


def workload_of(row: dict[str, Any]) -> Object:
    """What makes its pods, in the team's queue and on the pool."""
    key = "resourceClaimName" if "claim" in row else "resourceClaimTemplateName"
    named = row.get("claims") or [name for name in (row.get("claim"), row.get("template")) if name]
    claims = [{"name": f"gpu{at}", key: name} for at, name in enumerate(named)]
    resources = (
        {"claims": [{"name": one["name"]} for one in claims]}
        if claims
        else {"limits": {key: str(count) for key, count in row["devices"].items()}}
    )
    body = make.spec(
        container(resources=resources), nodeSelector={POOL: POOL_NAME}, tolerations=[pool_taint(POOL_NAME), GPU_TAINT]
    )
    if claims:
        body["resourceClaims"] = claims
    if row["kind"] == "Deployment":
        body["restartPolicy"] = "Always"
        return make.labelled(make.deployment(body, replicas=1))
    # Kueue's webhook holds a pod without a job.
    return make.job(body) if row["kind"] == "Job" else make.gated(make.pod(body))


__all__ = ["CLAIMED", "GPU", "POOL_NAME", "ROWS", "SAYS", "claims_of", "workload_of"]
