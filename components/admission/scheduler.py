"""The scheduler of the pods of teams, where it isn't kube-scheduler: the API server writes it and the queue of the team
into each pod, whoever makes the pod, and a rule refuses a pod that has others.

Other than the fields of rules (`components.admission.defaults`) these are the platform's to say and not the user's, so
they replace what is there. Both need Kubernetes 1.36 (`spec.settings.checks.schedulers`).
"""

from __future__ import annotations

from typing import Any, Final

from components.admission import kinds
from components.admission.rule import Rule, literal
from components.admission.templates import KIND, O
from components.base.controllers import Scheduler
from components.base.operator import object_of
from spec.teams.labels import TEAM

NAME: Final = "scheduler.platform.slipway"
_API: Final = "admissionregistration.k8s.io/v1"
_TEAM: Final = f"namespaceObject.metadata.labels['{TEAM}']"
_OWNERS: Final = (
    "(has(object.metadata.ownerReferences) ? object.metadata.ownerReferences.filter(r, has(r.controller) && "
    "r.controller) : [])"
)


def _has(holder: str, key: str) -> str:
    return f"(has({O}.metadata.{holder}) && '{key}' in {O}.metadata.{holder})"


def _queue(scheduler: Scheduler) -> str:
    return f"{literal(scheduler.parent)} + {_TEAM}" if scheduler.parent else _TEAM


def _written(holder: str, key: str, value: str) -> str:
    """A JSON patch that sets one label or annotation."""
    pointer = f"/metadata/{holder}/{key.replace('/', '~1')}"
    made = f"(has({O}.metadata.{holder}) ? [] : [JSONPatch{{op: 'add', path: '/metadata/{holder}', value: {{}}}}])"
    return f"{made} + [JSONPatch{{op: 'add', path: '{pointer}', value: {value}}}]"


def manifests(scheduler: Scheduler) -> dict[str, dict[str, Any]]:
    """The MutatingAdmissionPolicy and its binding, by the suffix of their logical name."""
    pod = f"{KIND} == '{kinds.POD.kind}'"
    patches = [
        f"{pod} ? [JSONPatch{{op: 'add', path: '/spec/schedulerName', value: {literal(scheduler.name)}}}] : []",
        f"{pod} ? {_written(scheduler.holder, scheduler.queue, _queue(scheduler))} : []",
    ]
    if scheduler.app:
        # The pods of one owner are one application. A label has at most 63 characters: 26 of the namespace, and a UID.
        ours = f"request.namespace + '.' + {_OWNERS}[0].uid"
        absent = f"{pod} && {_OWNERS}.size() > 0 && !{_has('labels', scheduler.app)}"
        patches.append(f"{absent} ? {_written('labels', scheduler.app, ours)} : []")
    if scheduler.pod_groups:
        group = f"{KIND} == '{kinds.POD_GROUP.kind}'"
        patches.append(f"{group} ? [JSONPatch{{op: 'add', path: '/spec/queue', value: {_queue(scheduler)}}}] : []")
    matched = [
        {"apiGroups": [kind.group], "apiVersions": ["*"], "operations": ["CREATE"], "resources": [kind.resource]}
        for kind in _kinds(scheduler)
    ]
    policy = {
        "failurePolicy": "Fail",
        "reinvocationPolicy": "IfNeeded",
        "matchConstraints": {"resourceRules": matched},
        "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": each}} for each in patches],
    }
    selected = {"namespaceSelector": {"matchExpressions": [{"key": TEAM, "operator": "Exists"}]}}
    bound = {"policyName": NAME, "matchResources": selected}
    return {
        "scheduler-given": object_of(_API, "MutatingAdmissionPolicy", NAME, spec=policy),
        "scheduler-given-binding": object_of(_API, "MutatingAdmissionPolicyBinding", NAME, spec=bound),
    }


def rule(scheduler: Scheduler) -> Rule:
    """Pods are placed by the scheduler that counts them, in the queue of their team."""
    named = f"has({O}.spec.schedulerName) && {O}.spec.schedulerName == {literal(scheduler.name)}"
    queued = f"{_has(scheduler.holder, scheduler.queue)} && {O}.metadata.{scheduler.holder}[{literal(scheduler.queue)}]"
    pod = f"{named} && {queued} == {_queue(scheduler)}"
    if scheduler.app:
        own = f"{O}.metadata.labels[{literal(scheduler.app)}].startsWith(request.namespace + '.')"
        others = " || ".join(_has(holder, key) for key in scheduler.other_apps for holder in ("labels", "annotations"))
        pod += f" && ({_has('labels', scheduler.app)} ? {own} : !({others}))"
    expression = pod
    if scheduler.pod_groups:
        group = f"has({O}.spec.queue) && {O}.spec.queue == {_queue(scheduler)}"
        expression = f"{KIND} == '{kinds.POD.kind}' ? ({pod}) : ({group})"
    application = f", and begin {scheduler.app} with the name of the namespace and a dot" if scheduler.app else ""
    return Rule(
        name="scheduler",
        kinds=_kinds(scheduler),
        expression=expression,
        names={"name": scheduler.name, "queue": scheduler.queue, "application": application},
        # Nothing of it changes in a pod that exists.
        updates=False,
    )


def _kinds(scheduler: Scheduler) -> tuple[Any, ...]:
    return (kinds.POD, kinds.POD_GROUP) if scheduler.pod_groups else (kinds.POD,)
