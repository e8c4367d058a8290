"""The answer from the objects: the layers in the order in which a workload passes them. A pure function."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from components.admission import kinds
from sandbox.nodes.spec import OWNER
from slipway.why import capacity, file, pods, podsets, queue, served
from slipway.why.answer import Answer, Evidence, Layer, Part
from slipway.why.bundle import Bundle, Object, conditions, is_true, moment, name_of
from slipway.why.judge import GPU_POOL
from slipway.why.refusals import beyond_quota, refusal
from slipway.why.runtimes import all_podsets
from slipway.why.table import part_of, said
from spec.jobs import PRIORITY, QUEUE

_FINISHED: Final = ("Complete", "Completed", "Succeeded", "Finished")
_FAILED: Final = ("Failed", "FailureTarget")  # conditions of Jobs, JobSets, TrainJobs and Kubeflow's jobs
_PHASES: Final = {
    "succeeded": Layer.FINISHED, "complete": Layer.FINISHED, "failed": Layer.FAILED, "error": Layer.FAILED,
    "stopped": Layer.FAILED,
}  # fmt: skip
"""Phases of pods and of Argo's Workflows, `jobDeploymentStatus` and `jobStatus` of RayJobs, in lower case."""
_CREATE: Final = ("FailedCreate", "FailedCreatePod", "JobCreationFailed", "FailedToCreate", "ReplicaSetCreateError")
_ORDER: Final = {layer: number for number, layer in enumerate(Layer)}


def explain(bundle: Bundle) -> Answer:
    """Why the subject waits, or that it runs or has ended: the first layer that answers."""
    subject = bundle.subject
    for layer in LAYERS:
        part = layer(bundle)
        if part is not None:
            return Answer(subject=name_of(subject), part=_beyond(part, bundle) or part, unread=tuple(bundle.unread))
    return Answer(subject=name_of(subject), part=_silent(bundle), unread=tuple(bundle.unread))


def _deleted(bundle: Bundle) -> Part | None:
    metadata = bundle.subject["metadata"]
    if not metadata.get("deletionTimestamp"):
        return None
    waits = ", ".join(metadata.get("finalizers") or ())
    return part_of("deleted", at=metadata["deletionTimestamp"], waits=f" and waits for {waits}" if waits else "")


def _ended(bundle: Bundle) -> Part | None:
    subject = bundle.subject
    status, found = subject.get("status") or {}, conditions(subject)
    for types, layer in ((_FAILED, Layer.FAILED), (_FINISHED, Layer.FINISHED)):
        for each in types:
            if is_true(subject, each):
                text = f"{found[each].get('reason', '')} {found[each].get('message', '')}".strip()
                return _end(layer, bundle, text, f"condition {each} of {name_of(subject)}")
    for field in ("phase", "jobDeploymentStatus", "jobStatus"):
        named = str(status.get(field) or "")
        if phase := _PHASES.get(named.lower()):
            text = f"{status.get('reason') or ''} {status.get('message') or ''}".strip() or named
            return _end(phase, bundle, text, f"{field} of {name_of(subject)}")
        if field == "jobDeploymentStatus" and named:
            # A Ray job that failed may be tried again: only this says that it has ended.
            return None
    return None


def _end(layer: Layer, bundle: Bundle, text: str, source: str) -> Part:
    seen = [Evidence(source, text)]
    if layer is Layer.FINISHED:
        return Part(layer=layer, cause="", evidence=seen)
    ends = [end for pod in (*bundle.pods, bundle.subject) if (end := _exit(pod))]
    code, reason = ends[-1] if ends else ("", "")
    cause = text + (f"; its last container ended with exit code {code} ({reason})" if ends else "")
    ended = said("failed", f"{reason} {text}")
    fix = ended.fix if ended else ""
    subject = bundle.subject
    if subject["kind"] == kinds.RAY_JOB.kind and any(map(_simulated, bundle.of_kind("Node"))) and not code:
        fix = (
            "try it on a cluster: in the sandbox nothing runs in pods, so no head of a Ray cluster answers KubeRay, "
            "and every RayJob fails"
        )
    return Part(layer=layer, cause=cause, fix=fix, numbers={"exitCode": code} if code else {}, evidence=seen)


def _simulated(node: Object) -> bool:
    return OWNER in (node["metadata"].get("annotations") or {})


def _exit(pod: Object) -> tuple[str, str] | None:
    """Exit code of a pod's container, and why: the pod's reason, such as Evicted, says more than its container's."""
    status = pod.get("status") or {}
    own = ": ".join(str(status[key]) for key in ("reason", "message") if status.get("reason") and status.get(key))
    for one in status.get("containerStatuses") or ():
        ended = (one.get("state") or {}).get("terminated")
        if ended and ended.get("exitCode"):
            return str(ended["exitCode"]), own or str(ended.get("reason") or "Error")
    return None


def _queued(bundle: Bundle) -> Part | None:
    for workload in bundle.workloads:
        part = queue.held(workload, bundle)
        if part is not None:
            return part
    return None


_WAITS: Final = (Layer.QUEUE, Layer.QUOTA, Layer.POOL_LIMIT)


def _beyond(part: Part, bundle: Bundle) -> Part | None:
    """That waiting does not help: all its pods never run at once, or those that it waits for are its own old ones.

    Of a job with several pod sets Kueue reports the flavors that it tried last: its message may name a taint of the
    first set, and not that the second exceeds the quota."""
    if part.layer not in _WAITS or (part.never and part.layer is not Layer.QUEUE) or bundle.target is None:
        return None
    family = (*reversed(list(bundle.owners(bundle.subject))), bundle.subject)
    whole = next((one for one in family if all_podsets(one, bundle.target)), bundle.subject)
    for one in file.beyond(whole, bundle.target, updating=bool(bundle.pods)):
        numbers = {"requested": str(one.problem.value)}
        return replace(one.part, never=True, numbers=numbers, evidence=part.evidence)
    return None


def _not_created(bundle: Bundle) -> Part | None:
    """What the API server refuses to controllers, unless a pod was created since."""
    newest = max((str(pod["metadata"].get("creationTimestamp") or "") for pod in bundle.pods), default="")
    below = [one for one in bundle.family if one["kind"] != "Pod"]
    for event in reversed(bundle.events_of(*below)):
        message = str(event.get("message") or "")
        found = refusal(message) if event["reason"] in _CREATE or event.get("type") == "Warning" else None
        if found is not None and moment(event) >= newest:
            about = event["involvedObject"]
            which = f"all but {len(bundle.pods)} of its pods" if bundle.pods else "its pods"
            source = f"event {event['reason']} of {about['kind'].lower()}/{about['name']} at {moment(event)}"
            found = beyond_quota(_nearer(found, bundle), message, _together(bundle))
            return replace(found, cause=f"{which} are not created: {found.cause}").seen(Evidence(source, message))
    return None


def _together(bundle: Bundle) -> list[podsets.PodSet]:
    """Every pod set of the workload that the subject is, or belongs to."""
    family = (*reversed(list(bundle.owners(bundle.subject))), *bundle.family)
    return next((found for one in family if (found := podsets.podsets(one))), [])


def _nearer(part: Part, bundle: Bundle) -> Part:
    """For pods that fit no pool: what the nearest pool lacks, instead of the general advice of the rule."""
    if GPU_POOL not in part.cause:
        return part
    for one in podsets.podsets(bundle.subject):
        if (wrong := capacity.unfit(one.spec, bundle)) is not None:
            return replace(part, cause=f"{part.cause}; {wrong.cause}", fix=wrong.fix)
    return part


def _pods(bundle: Bundle) -> Part | None:
    """The pods: if several wait, those that have come least far."""
    alive = [pod for pod in bundle.pods if (pod.get("status") or {}).get("phase") not in pods.ENDED]
    if not alive:
        return None
    parts = [(pod, part) for pod in alive if (part := pods.held(pod, bundle)) is not None]
    if not parts:
        lacking = podsets.lacking(bundle)
        if lacking is not None:
            return lacking
        if (unready := _unready(bundle)) is not None:
            return unready
        nodes = Counter(str(pod["spec"].get("nodeName")) for pod in alive)
        where = ", ".join(sorted(nodes))
        return Part(layer=Layer.RUNS, cause=f"{len(alive)} of {len(alive)} pods, on {where}")
    # What can never run comes before what only has to wait.
    pod, part = min(parts, key=lambda one: (not one[1].never, _ORDER[one[1].layer]))
    if len(alive) > 1:
        same = sum(one.layer is part.layer for _, one in parts)
        cause = f"{same} of {len(alive)} pods, {name_of(pod)} first: {part.cause}"
        numbers = {**part.numbers, "pods": str(len(alive)), "waiting": str(len(parts))}
        return replace(part, cause=cause, numbers=numbers)
    return part


_SERVES: Final = frozenset({kinds.RAY_SERVICE.kind, kinds.INFERENCE_SERVICE.kind})
"""Kinds that run only once their condition Ready is true, whatever their pods do (kuberay v1.6.1, RayServiceReady;
kserve, InferenceService)."""


def _unready(bundle: Bundle) -> Part | None:
    """What a subject says of itself although its pods run: that it is not ready."""
    subject = bundle.subject
    found = conditions(subject)
    for kind in ("Ready", "Available"):
        one = found.get(kind)
        if one is None and (kind != "Ready" or subject["kind"] not in _SERVES):
            continue
        if one is not None and one["status"] == "True":
            continue
        text = str((one or {}).get("message") or (one or {}).get("reason") or "it has not reported")
        simulated = subject["kind"] == kinds.RAY_SERVICE.kind and any(map(_simulated, bundle.of_kind("Node")))
        fields = {"pods": len(bundle.pods), "what": kind.lower(), "text": text, "name": name_of(subject)}
        part = part_of("not ready in the sandbox" if simulated else "not ready", **fields)
        return part.seen(Evidence(f"condition {kind} of {name_of(subject)}", text))
    return None


def _latest_run(bundle: Bundle) -> Part | None:
    """A CronJob: its newest Job."""
    if bundle.subject["kind"] != "CronJob":
        return None
    if bundle.subject["spec"].get("suspend"):
        return part_of("schedule suspended")
    runs = [one for one in bundle.family if one["kind"] == "Job"]
    if not runs:
        return part_of("no run", schedule=bundle.subject["spec"].get("schedule"))
    newest = max(runs, key=lambda one: str(one["metadata"].get("creationTimestamp")))
    found = explain(replace(bundle, subject=newest))
    cause = f"its newest run {found.subject}" + (f": {found.part.cause}" if found.part.cause else "")
    return replace(found.part, cause=cause)


def _suspended(bundle: Bundle) -> Part | None:
    """Suspended, and no Workload: Kueue does not know it."""
    spec = bundle.subject.get("spec") or {}
    suspended = any((each or {}).get("suspend") for each in (spec, spec.get("runPolicy"), spec.get("rayClusterConfig")))
    if not suspended or bundle.workloads:
        return None
    label = (bundle.subject["metadata"].get("labels") or {}).get(QUEUE)
    if not label:
        return part_of("suspended without a queue", label=QUEUE)
    priority = str((bundle.subject["metadata"].get("labels") or {}).get(PRIORITY) or "")
    if bundle.target is not None and priority and priority not in bundle.target.priorities:
        known = ", ".join(bundle.target.priorities)
        return part_of("no such priority", {"priority": priority}, label=PRIORITY, known=known)
    return part_of("no Workload", {"queue": str(label)})


def _claim(bundle: Bundle) -> Part | None:
    """A claim: its volume, the pod whose node it waits for, or why it gets none."""
    claim, status = bundle.subject, bundle.subject.get("status") or {}
    if claim["kind"] != "PersistentVolumeClaim":
        return None
    if status.get("phase") == "Bound":
        return Part(layer=Layer.RUNS, cause=f"it is bound to volume {claim['spec'].get('volumeName')}")
    used = [pod for pod in bundle.of_kind("Pod") if claim["metadata"]["name"] in pods.claims_of(pod["spec"])]
    part = pods.unbound(claim, bundle)
    if part.never or not pods.waits_for_pod(claim, bundle):
        return part
    for pod in used:
        if (held := pods.held(pod, bundle)) is not None:
            return replace(held, cause=f"{name_of(pod)}, which mounts it, has no node: {held.cause}")
    cause = "nothing uses it yet, and its volume is made for the first pod that does"
    return replace(part, cause=cause, fix="create what mounts it: nothing is wrong with the claim")


def _autoscaler(bundle: Bundle) -> Part | None:
    """An autoscaler: why it can't scale, or how many pods it wants (kubernetes 1.36, podautoscaler/horizontal.go)."""
    subject, status, found = bundle.subject, bundle.subject.get("status") or {}, conditions(bundle.subject)
    if subject["kind"] != kinds.AUTOSCALER.kind or not found:
        return None
    counts = f"{status.get('currentReplicas', 0)} pods, and it wants {status.get('desiredReplicas', 0)}"
    for kind in ("AbleToScale", "ScalingActive"):
        if found.get(kind, {}).get("status") == "False":
            text = str(found[kind].get("message"))
            seen = [Evidence(f"condition {kind} of {name_of(subject)}", text)]
            fix = "create what it scales; let its containers request what is measured, by the type Resource"
            wrong = next(served.metrics(subject, bundle.target), None) if bundle.target else None
            cause, fix = (wrong.problem.rule, f"{wrong.part.fix}.") if wrong else (text, fix)
            return Part(layer=Layer.CONTROLLER, cause=f"it does not scale: {cause}", fix=fix, evidence=seen)
    limited = found.get("ScalingLimited", {})
    more = f": {limited.get('message')}" if limited.get("status") == "True" else ""
    return Part(layer=Layer.RUNS, cause=counts + more)


def _budget(bundle: Bundle) -> Part | None:
    """A PodDisruptionBudget: how many pods an eviction may take (kubernetes 1.36, policy/v1)."""
    status = bundle.subject.get("status") or {}
    if bundle.subject["kind"] != "PodDisruptionBudget" or "expectedPods" not in status:
        return None
    if not status["expectedPods"]:
        return part_of("budget of no pods")
    counts = dict.fromkeys(("currentHealthy", "desiredHealthy", "disruptionsAllowed"))
    return part_of("budget", **{**counts, **status})


LAYERS: Final[tuple[Callable[[Bundle], Part | None], ...]] = (
    _deleted,
    _ended,
    _claim,
    _autoscaler,
    _budget,
    _latest_run,
    _queued,
    _not_created,
    _pods,
    _suspended,
)


def _silent(bundle: Bundle) -> Part:
    """Nothing above answers: the newest warning, a condition that is false, or nothing at all."""
    subject, see = bundle.subject, "see what it names"
    warnings = [one for one in bundle.events_of(*bundle.family) if one.get("type") == "Warning"]
    for event in warnings[-1:]:
        about, text = event["involvedObject"], " ".join(str(event.get("message") or "").split())
        source = f"event {event['reason']} of {about['kind'].lower()}/{about['name']} at {moment(event)}"
        return Part(layer=Layer.CONTROLLER, cause=text, fix=see, evidence=[Evidence(source, text)])
    if is_true(subject, "Ready", "Available", "Running"):
        return Part(layer=Layer.RUNS, cause="")
    for kind, one in conditions(subject).items():
        if kind != "Suspended" and one["status"] == "False" and one.get("message"):
            seen = [Evidence(f"condition {kind} of {name_of(subject)}", str(one["message"]))]
            return Part(layer=Layer.CONTROLLER, cause=f"{kind} is false: {one['message']}", fix=see, evidence=seen)
    ended = [one for one in bundle.pods if (one.get("status") or {}).get("phase") in pods.ENDED]
    if ended:
        return part_of("pods ended", count=len(ended))
    return part_of(
        "no pods" if subject["kind"] in _MAKES_PODS else "unread", kind=subject["kind"], name=name_of(subject)
    )


_OF_PODS: Final = (*kinds.WITH_PODS, *kinds.WORKFLOWS, kinds.TRAIN_JOB, kinds.EXPERIMENT, kinds.INFERENCE_SERVICE)
_MAKES_PODS: Final = {"Workload", *(one.kind for one in _OF_PODS)}
