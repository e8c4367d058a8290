"""All rules of a stack, and the two Kubernetes objects of each: policy and binding. The guide is generated from the
same table.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final

import pulumi

from components.admission import defaults, experiments, scheduler
from components.admission.context import StackContext
from components.admission.costs import job_cost
from components.admission.gpus import GPU_LIMITS, gpu_pool, spot_checkpoint, spot_eviction
from components.admission.isolation import PRIORITY_CLASS, VOLUME_SOURCES, node_selection
from components.admission.jobs import JOB_BOUNDS, ray_cluster, scale_bounds
from components.admission.kinds import POD
from components.admission.monitors import MONITOR_FILES, MONITOR_SCOPE
from components.admission.objects import OBJECT_REACH, OBJECT_SIZE
from components.admission.pods import CONTROLLER_REFERENCE, DEVICES, HOST_ACCESS, IMAGE_TAG, TEAM_LABELS
from components.admission.queues import gpu_queue, queue_metadata, queue_name, queue_start
from components.admission.rule import Kind, Rule, literal
from components.admission.templates import KIND, USER, changed
from components.admission.topology import queue_topology
from components.admission.traffic import EXTERNAL_IPS, INGRESS_SCOPE
from components.admission.workflows import TRIGGER_SCOPE, WORKFLOW_LOCKS, WORKFLOW_SCOPE
from components.base.kubernetes import declare
from components.base.outputs import ClusterOutputs
from spec.settings.admission import Action
from spec.settings.admission import Admission as Settings
from spec.teams.labels import TEAM


def rules(context: StackContext) -> tuple[Rule, ...]:
    """All rules of a stack, those for GPUs first."""
    return (
        gpu_pool(context),
        GPU_LIMITS,
        JOB_BOUNDS,
        job_cost(context),
        experiments.bounds(context.max_replicas),
        spot_checkpoint(context),
        spot_eviction(context),
        ray_cluster(context),
        *(
            (queue_name(context), gpu_queue(context), queue_start(context), queue_metadata(context))
            if context.queues
            else ()
        ),
        *((queue_topology(context),) if context.queues and context.by_topology else ()),
        IMAGE_TAG,
        HOST_ACCESS,
        scale_bounds(context.max_replicas),
        CONTROLLER_REFERENCE,
        *((scheduler.rule(context.scheduler),) if context.scheduler else ()),
        PRIORITY_CLASS,
        node_selection(context),
        VOLUME_SOURCES,
        EXTERNAL_IPS,
        INGRESS_SCOPE,
        TRIGGER_SCOPE,
        MONITOR_FILES,
        MONITOR_SCOPE,
        WORKFLOW_LOCKS,
        WORKFLOW_SCOPE,
        DEVICES,
        OBJECT_SIZE,
        OBJECT_REACH,
        TEAM_LABELS,
    )


API: Final = "admissionregistration.k8s.io/v1"
DOMAIN: Final = "platform.slipway"
ACTIONS: Final = {
    Action.DENY: ["Deny"],
    # The user sees a warning; the audit log records it.
    Action.WARN: ["Warn", "Audit"],
    Action.AUDIT: ["Audit"],
}


def policy_name(rule: Rule) -> str:
    """Name of a rule's policy; an error message begins with it."""
    return f"{rule.name}.{DOMAIN}"


def policy(rule: Rule, context: StackContext) -> dict[str, Any]:
    """The ValidatingAdmissionPolicy of a rule."""
    operations = ["CREATE", "UPDATE"] if rule.updates else ["CREATE"]
    conditions = [{"name": "not-by-a-controller", "expression": _not_by_a_controller(rule, context)}]
    if rule.updates:
        conditions.append(
            {
                "name": "spec-changed",
                "expression": changed(*(f"metadata.{each}" for each in rule.metadata), *rule.fields),
            }
        )
    return {
        "apiVersion": API,
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": policy_name(rule)},
        "spec": {
            # An error in the expression denies the request: a rule that can't be evaluated isn't satisfied.
            "failurePolicy": "Fail",
            "matchConstraints": {"resourceRules": _resource_rules(rule, operations)},
            "matchConditions": conditions,
            "variables": [{"name": name, "expression": text} for name, text in rule.variables.items()],
            "validations": [
                {
                    "expression": rule.expression,
                    # The fallback if the message expression fails.
                    "message": f"{rule.what}",
                    "messageExpression": rule.message.expression,
                    "reason": "Invalid",
                }
            ],
        },
    }


def binding(rule: Rule, action: Action, *, only: Sequence[str] = (), without: Sequence[str] = ()) -> dict[str, Any]:
    """The ValidatingAdmissionPolicyBinding for team namespaces, with an action other than `off`.

    Args:
        rule: The rule.
        action: Its action.
        only: Teams in whose namespaces it has this action; all if empty.
        without: Teams that have another.
    """
    selected: list[dict[str, Any]] = [
        {"key": TEAM, "operator": "In", "values": list(only)} if only else {"key": TEAM, "operator": "Exists"}
    ]
    if without:
        selected.append({"key": TEAM, "operator": "NotIn", "values": list(without)})
    return {
        "apiVersion": API,
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": f"{action}-{policy_name(rule)}" if only else policy_name(rule)},
        "spec": {
            "policyName": policy_name(rule),
            "validationActions": ACTIONS[action],
            "matchResources": {"namespaceSelector": {"matchExpressions": selected}},
        },
    }


def _resource_rules(rule: Rule, operations: list[str]) -> list[dict[str, Any]]:
    """Kinds by group. For pods only creation: the fields that matter to the scheduler are immutable."""
    groups: dict[tuple[str, tuple[str, ...]], list[Kind]] = defaultdict(list)
    for kind in rule.kinds:
        groups[kind.group, ("CREATE",) if kind == POD and not rule.pod_updates else tuple(operations)].append(kind)
    return [
        {
            "apiGroups": [group],
            "apiVersions": ["*"],
            "operations": list(when),
            "resources": sorted(kind.resource for kind in kinds),
        }
        for (group, when), kinds in sorted(groups.items())
    ]


def _not_by_a_controller(rule: Rule, context: StackContext) -> str:
    """Whether someone else asks than a controller that the kind's parent, or an earlier check, vouches for.

    Pods are always checked: a runtime or a workflow is complete only in its pods.
    """
    kinds = {kind.kind for kind in rule.kinds} - {POD.kind}
    made = {kind: names for kind, names in context.makers.items() if kind in kinds}
    changed = {kind: names for kind, names in context.changers.items() if kind in kinds}
    makes = f"{KIND} in {literal(made)} && {USER} in {literal(made)}[{KIND}]"
    changes = f"request.operation == 'UPDATE' && {KIND} in {literal(changed)} && {USER} in {literal(changed)}[{KIND}]"
    found = [text for names, text in ((made, makes), (changed, changes)) if names]
    return " && ".join(f"!({text})" for text in found) or "true"


@dataclass(frozen=True, kw_only=True)
class AdmissionArgs:
    """Inputs of `Admission`.

    Attributes:
        settings: Action of each rule: deny, warn, audit or off.
        context: The facts of the stack that they depend on.
        cluster: The cluster.
    """

    settings: Settings
    context: StackContext
    cluster: ClusterOutputs


class Admission(pulumi.ComponentResource):
    """A ValidatingAdmissionPolicy and its binding for every enabled rule. They need no controller."""

    PULUMI_TYPE: Final = "slipway:admission:Admission"

    def __init__(self, name: str, args: AdmissionArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(self.PULUMI_TYPE, name, None, opts)
        child = pulumi.ResourceOptions(
            parent=self, depends_on=list(args.cluster.access), deleted_with=args.cluster.resource
        )
        for key, manifest in manifests(args.settings, args.context).items():
            declare(f"{name}-{key}", manifest, child)
        self.register_outputs({})


def manifests(settings: Settings, context: StackContext) -> dict[str, dict[str, Any]]:
    """Policy and binding of every rule that is not off, and of the defaults, by the suffix of their logical name."""
    found = {}
    for rule in rules(context):
        action = settings.of(rule.name)
        others: dict[Action, list[str]] = {}
        for team in sorted(settings.teams):
            if settings.of_team(rule.name, team) is not action:
                others.setdefault(settings.of_team(rule.name, team), []).append(team)
        if {action, *others} == {Action.OFF}:
            continue
        found[rule.name] = policy(rule, context)
        if action is not Action.OFF:
            found[f"{rule.name}-binding"] = binding(rule, action, without=sorted(chain(*others.values())))
        for other, teams in others.items():
            if other is not Action.OFF:
                found[f"{rule.name}-binding-{other}"] = binding(rule, other, only=teams)
    on = [rule for rule in rules(context) if rule.name in found]
    if context.scheduler is not None:
        found |= scheduler.manifests(context.scheduler)
    return found | (defaults.manifests(on, context) if settings.defaults else {})
