"""Acts about Ray: who does what, and which rule refuses it."""

from typing import Any, Final

from tests.components.admission import ray_samples as ray
from tests.components.admission import samples as make
from tests.components.admission.actors import EDIT, Act
from tests.components.admission.samples import Object, container, on, spec

WORKER: Final = on("h100")
HEAD: Final = make.labelled(make.pod(on("h100", container())))


def started(before: Object, *path: str) -> Object:
    """The merge that sets `suspend` to false below the path."""
    body: dict[str, Any] = {"suspend": False}
    for name in reversed(path):
        body = {name: body}
    return {**before, "spec": body}


HELD: Final = (
    (ray.cluster(worker=WORKER, suspend=True), ()),
    (ray.job(worker=WORKER, suspend=True), ()),
    (ray.service(worker=WORKER, suspend=True), ("rayClusterConfig",)),
)
RAY: Final = (
    *(
        Act(f"a queued {make_one().get('kind')}", EDIT, make_one(worker=WORKER))
        for make_one in (ray.cluster, ray.job, ray.service)
    ),
    Act("a GPU RayCluster without a queue", EDIT, ray.cluster(worker=WORKER, queued=False), "gpu-queue"),
    Act("a GPU RayService without a queue", EDIT, ray.service(worker=WORKER, queued=False), "gpu-queue"),
    *(
        Act(f"a held {before['kind']} resumed", actor, started(before, *path), rule, before=before, method="PATCH")
        for before, path in HELD
        for actor, rule in ((EDIT, "queue-start"), ("Kueue", ""))
    ),
    Act("the queue removed from a RayCluster", EDIT, make.labelled(ray.cluster(worker=WORKER), None), "gpu-queue",
        before=ray.cluster(worker=WORKER), method="PATCH"),
    Act("a RayCluster with a forged owner", EDIT, make.owned(ray.cluster()), "controller-reference"),
    Act("the RayCluster of a RayJob", "KubeRay", make.owned(ray.cluster(worker=WORKER, queued=False))),
    Act("the submitter of a RayJob", "KubeRay",
        make.owned(make.job(queued=False, backoffLimit=2, activeDeadlineSeconds=None, ttlSecondsAfterFinished=None))),
    Act("a GPU worker of a RayCluster", "KubeRay", make.owned(make.pod(WORKER))),
    Act("a head that the queue put on a GPU pool", "KubeRay", make.owned(HEAD)),
    Act("a bare GPU pod of a Ray image by a member", EDIT, make.pod(WORKER), "gpu-queue"),
    Act("a Service of a head with externalIPs", "KubeRay", make.service(externalIPs=["8.8.8.8"]), "external-ips"),
    Act("an Ingress of a dashboard to the internet", "KubeRay", make.ingress(scheme="internet-facing"),
        "ingress-scope"),
    Act("a head of system-node-critical", EDIT, ray.cluster(spec(priorityClassName="system-node-critical")),
        "priority-class"),
    Act("a RayCluster on system nodes", EDIT, ray.cluster(spec(nodeSelector={"platform.slipway/role": "system"})),
        "node-selection"),
    Act("an nfs volume of a Ray worker", EDIT,
        ray.job(worker=spec(volumes=[{"name": "data", "nfs": {"server": "10.0.0.1", "path": "/"}}])), "volume-sources"),
    Act("a host path of a submitter", EDIT, ray.selecting(spec(volumes=[{"name": "root", "hostPath": {"path": "/"}}])),
        "host-access"),
)  # fmt: skip
