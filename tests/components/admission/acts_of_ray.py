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
        Act(what=f"a queued {make_one().get('kind')}", actor=EDIT, manifest=make_one(worker=WORKER))
        for make_one in (ray.cluster, ray.job, ray.service)
    ),
    Act(
        what="a GPU RayCluster without a queue",
        actor=EDIT,
        manifest=ray.cluster(worker=WORKER, queued=False),
        rule="gpu-queue",
    ),
    Act(
        what="a GPU RayService without a queue",
        actor=EDIT,
        manifest=ray.service(worker=WORKER, queued=False),
        rule="gpu-queue",
    ),
    *(
        Act(
            what=f"a held {before['kind']} resumed",
            actor=actor,
            before=before,
            method="PATCH",
            manifest=started(before, *path),
            rule=rule,
        )
        for before, path in HELD
        for actor, rule in ((EDIT, "queue-start"), ("Kueue", ""))
    ),
    Act(
        what="the queue removed from a RayCluster",
        actor=EDIT,
        before=ray.cluster(worker=WORKER),
        method="PATCH",
        manifest=make.labelled(ray.cluster(worker=WORKER), None),
        rule="gpu-queue",
    ),
    Act(
        what="a RayCluster with a forged owner",
        actor=EDIT,
        manifest=make.owned(ray.cluster()),
        rule="controller-reference",
    ),
    Act(
        what="the RayCluster of a RayJob",
        actor="KubeRay",
        manifest=make.owned(ray.cluster(worker=WORKER, queued=False)),
    ),
    Act(
        what="the submitter of a RayJob",
        actor="KubeRay",
        manifest=make.owned(
            make.job(queued=False, backoffLimit=2, activeDeadlineSeconds=None, ttlSecondsAfterFinished=None)
        ),
    ),
    Act(what="a GPU worker of a RayCluster", actor="KubeRay", manifest=make.owned(make.pod(WORKER))),
    Act(what="a head that the queue put on a GPU pool", actor="KubeRay", manifest=make.owned(HEAD)),
    Act(what="a bare GPU pod of a Ray image by a member", actor=EDIT, manifest=make.pod(WORKER), rule="gpu-queue"),
    Act(
        what="a Service of a head with externalIPs",
        actor="KubeRay",
        manifest=make.service(externalIPs=["8.8.8.8"]),
        rule="external-ips",
    ),
    Act(
        what="an Ingress of a dashboard to the internet",
        actor="KubeRay",
        manifest=make.ingress(scheme="internet-facing"),
        rule="ingress-scope",
    ),
    Act(
        what="a head of system-node-critical",
        actor=EDIT,
        manifest=ray.cluster(spec(priorityClassName="system-node-critical")),
        rule="priority-class",
    ),
    Act(
        what="a RayCluster on system nodes",
        actor=EDIT,
        manifest=ray.cluster(spec(nodeSelector={"platform.slipway/role": "system"})),
        rule="node-selection",
    ),
    Act(
        what="an nfs volume of a Ray worker",
        actor=EDIT,
        manifest=ray.job(worker=spec(volumes=[{"name": "data", "nfs": {"server": "10.0.0.1", "path": "/"}}])),
        rule="volume-sources",
    ),
    Act(
        what="a host path of a submitter",
        actor=EDIT,
        manifest=ray.selecting(spec(volumes=[{"name": "root", "hostPath": {"path": "/"}}])),
        rule="host-access",
    ),
)
