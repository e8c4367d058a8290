"""What Kueue says about a workload: conditions of its Workload, in the words of kueue v0.19.2.

Without the feature gate UnadmittedWorkloadsObservability, which is off by default, the reason of the condition
QuotaReserved is `Pending` or `Inadmissible`, and only the message says more
(pkg/controller/core/workload_controller.go, pkg/scheduler/scheduler.go).
"""

import re
from dataclasses import replace
from typing import Any, Final

from components.queues import LOCAL_QUEUE
from slipway.why import messages
from slipway.why.answer import Evidence, Layer, Part
from slipway.why.bundle import Bundle, Object, conditions, is_true, moment, name_of
from slipway.why.messages import FlavorReason
from slipway.why.table import part_of, said
from spec.pools import keys

_STOPPED: Final = re.compile(r"(LocalQueue|ClusterQueue) (\S+) is (stopped|inactive)")
_MISSING: Final = re.compile(r"(LocalQueue|ClusterQueue) (\S+) (?:doesn't exist|not found|is terminating or missing)")
_BY_TOPOLOGY: Final = re.compile(r'Flavor "([^"]+)" supports only TopologyAwareScheduling')
"""pkg/scheduler/flavorassigner/tas_flavorassigner.go: the queue has other flavors as well, so it is not implied."""
_PREEMPTING: Final = re.compile(r"Pending the preemption of (\d+) workload\(s\)")


def held(workload: Object, bundle: Bundle) -> Part | None:
    """Why a Workload is not admitted; None if it is, or has finished."""
    if is_true(workload, "Finished") or is_true(workload, "Admitted"):
        return None
    found = conditions(workload)
    reserved = found.get("QuotaReserved") or {}
    evidence = [
        _evidence(workload, each, found[each]) for each in ("QuotaReserved", "Evicted", "Preempted") if each in found
    ]
    checks = _checks(workload)
    if not workload["spec"].get("active", True):
        part = _inactive(found.get("Evicted") or {})
    elif (found.get("Requeued") or {}).get("status") == "False":
        part = _backoff(workload, found["Requeued"], bundle)
    elif checks and reserved.get("status") == "True":
        part = checks
    else:
        part = _pending(str(reserved.get("message") or ""), workload, bundle)
        if not reserved:
            part = _like_another(workload, bundle) or part
    preempted = found.get("Preempted") or {}
    if preempted.get("status") == "True" and (by := said("preempted", str(preempted.get("reason")))):
        waits = "" if str(reserved.get("message", "")).startswith("Preempted") else f"; {part.cause}"
        part = replace(part, cause=f"it was preempted by {by.cause}{waits}", fix=by.fix)
    return part.seen(*evidence, *_queue(workload, bundle))


def _evidence(workload: Object, kind: str, condition: Object) -> Evidence:
    text = f"{condition['status']} ({condition.get('reason', '')}) {condition.get('message', '')}"
    return Evidence(f"condition {kind} of {name_of(workload)}", text)


def _queue(workload: Object, bundle: Bundle) -> list[Evidence]:
    queue = bundle.named("LocalQueue", str(workload["spec"].get("queueName", "")))
    if queue is None:
        return []
    status = queue.get("status") or {}
    counts = [f"{status[key]} {text}" for key, text in _COUNTS.items() if key in status]
    return [Evidence(name_of(queue), ", ".join(counts))] if counts else []


_COUNTS: Final = {"pendingWorkloads": "pending", "reservingWorkloads": "with quota", "admittedWorkloads": "admitted"}


def _inactive(evicted: Object) -> Part:
    return part_of("deactivated", why=str(evicted.get("message") or "The workload is deactivated").rstrip("."))


def _like_another(workload: Object, bundle: Bundle) -> Part | None:
    """What Kueue says of an equal Workload of the queue: it evaluates one of them, and writes nothing on the others
    (feature SchedulingEquivalenceHashing, on by default; pkg/cache/queue/cluster_queue.go, handleInadmissibleHash)."""
    for other in bundle.of_kind("Workload"):
        message = str((conditions(other).get("QuotaReserved") or {}).get("message") or "")
        if messages.flavor_reasons(message) and _shape(other) == _shape(workload):
            seen = _evidence(other, "QuotaReserved", conditions(other)["QuotaReserved"])
            return _pending(message, other, bundle).seen(seen)
    return None


def _shape(workload: Object) -> Any:
    """What the scheduler looks at: equal Workloads get equal answers."""
    spec = workload["spec"]
    groups = [
        (one.get("count"), template.get("nodeSelector"), template.get("tolerations"), requested)
        for one in spec.get("podSets") or ()
        for template in [(one.get("template") or {}).get("spec") or {}]
        for requested in [[each.get("resources") for each in template.get("containers") or ()]]
    ]
    return spec.get("queueName"), spec.get("priority"), groups


def _backoff(workload: Object, requeued: Object, bundle: Bundle) -> Part:
    state = (workload.get("status") or {}).get("requeueState") or {}
    count, at = state.get("count", 0), state.get("requeueAt", "")
    evicted = conditions(workload).get("Evicted") or {}
    why = str(evicted.get("message") or requeued.get("message") or requeued.get("reason") or "").rstrip(".")
    again = f", and queues it again at {at}" if at else ""
    owner = next((str(one["name"]) for one in workload["metadata"].get("ownerReferences") or ()), "")
    reported = [one for one in bundle.events_about("Pod", f"{owner}-") if one.get("type") == "Warning"] if owner else []
    because = [Evidence(f"event {one['reason']} of its pod at {moment(one)}", str(one["message"])) for one in reported]
    last = " ".join(because[-1].text.split()) if because else ""
    numbers = {"evictions": str(count), "requeueAt": str(at)}
    part = part_of("evicted with a warning" if because else "evicted", numbers, why=why, again=again, last=last)
    return part.seen(*because[-1:])


def _checks(workload: Object) -> Part | None:
    states = (workload.get("status") or {}).get("admissionChecks") or ()
    waiting = [one for one in states if one.get("state") != "Ready"]
    if not waiting:
        return None
    names = ", ".join(
        f"{one['name']} is {one['state']}" + (f" ({one['message']})" if one.get("message") else "") for one in waiting
    )
    return Part(layer=Layer.QUEUE, cause=f"it has quota, but admission check {names}", fix="wait for the check")


def _pending(message: str, workload: Object, bundle: Bundle) -> Part:
    queue = str(workload["spec"].get("queueName", ""))
    if match := _MISSING.search(message):
        return _missing(match[1], match[2], bundle)
    if match := _STOPPED.search(message):
        return part_of("queue stopped", kind=match[1], name=match[2], state=match[3])
    if (match := _BY_TOPOLOGY.search(message)) and not messages.unused_or_exceeded(message):
        return part_of("topology required", {"pool": match[1]})
    if (found := said("kueue", message)) is not None and found.never and not messages.unused_or_exceeded(message):
        return _other(message, queue)
    groups = [reasons for part in messages.by_pod_set(message) if (reasons := messages.flavor_reasons(part))]
    if groups:
        # Every pod set needs a flavor: what can't be admitted at all comes before what only has to wait.
        parts = [_flavors(reasons, message, queue) for reasons in groups]
        return min(parts, key=lambda part: "missing" in part.numbers)
    return _other(message, queue)


def _other(message: str, queue: str) -> Part:
    """Messages that concern neither a queue nor a flavor's quota."""
    if not message:
        return part_of("not looked at by Kueue", queue=queue)
    part = said("kueue", message)
    assert part is not None  # noqa: S101 - its last row matches everything
    match = messages.UNAVAILABLE.search(message)
    return replace(part, numbers={"resource": match[1], "limit": "0"}) if match else part


def _missing(kind: str, name: str, bundle: Bundle) -> Part:
    known = sorted(one["metadata"]["name"] for one in bundle.of_kind(kind))
    return part_of(f"no such {kind}", name=name, there=", ".join(known) or LOCAL_QUEUE)


def _flavors(reasons: list[FlavorReason], message: str, queue: str) -> Part:
    """The flavor on which it comes closest to admission: one that is in use, then one too small, then a taint."""
    # Of another resource a flavor may never have enough (flavorassigner.go tries them in turn).
    never = {one.flavor for one in reasons if one.limit}
    waits = (one for one in reasons if one.missing and one.flavor not in never)
    unused = sorted(waits, key=lambda one: "/" not in one.resource)
    # CPU and memory come with the devices: those say why.
    exceeded = sorted((one for one in reasons if one.limit not in ("", "0")), key=lambda one: "/" not in one.resource)
    tainted = [one for one in reasons if one.taint]
    offered = [one for one in reasons if one.limit == "0"]
    if unused:
        first = unused[0]
        numbers = {"resource": first.resource, "missing": first.missing, "pool": first.flavor}
        match = _PREEMPTING.search(message)
        return (
            part_of("quota in use, preempting", numbers, count=match[1]) if match else part_of("quota in use", numbers)
        )
    if exceeded:
        first = exceeded[0]
        numbers = {"resource": first.resource, "requested": first.requested, "limit": first.limit, "pool": first.flavor}
        return part_of("more than the quota", numbers)
    if tainted:
        pools = ", ".join(sorted({one.flavor for one in tainted}))
        return part_of("taint of a flavor", {"taint": tainted[0].taint, "pool": pools}, key=keys.GPU)
    if offered:
        first = offered[0]
        numbers = {"resource": first.resource, "requested": first.requested, "limit": "0"}
        return part_of("nothing of a resource", numbers)
    return part_of("no flavor selected", queue=queue, pools=", ".join(sorted({one.flavor for one in reasons})))
