"""All rules of a stack, and the two Kubernetes objects of each: policy and binding. The guide is generated from the
same table.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final

import pulumi

from components.admission import defaults, experiments, monitoring, scheduler
from components.admission.claims import DEVICE_CLAIMS
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
from components.admission.rule import Kind, Rule
from components.admission.templates import BY_A_USER, changed
from components.admission.together import GROUPS, together
from components.admission.topology import queue_topology
from components.admission.traffic import EXTERNAL_IPS, INGRESS_SCOPE
from components.admission.variables import KIND as PARAMETERS
from components.admission.variables import REFERENCE, compact, completed, parameters
from components.admission.workflows import TRIGGER_SCOPE, WORKFLOW_LOCKS, WORKFLOW_SCOPE
from components.base.kubernetes import declare
from components.base.operator import object_of
from components.base.outputs import ClusterOutputs
from spec.catalog import kubernetes
from spec.settings.admission import Action
from spec.settings.admission import Admission as Settings
from spec.teams.labels import TEAM


def rules(context: StackContext) -> tuple[Rule, ...]:
    """All rules of a stack, those for GPUs first."""
    shared = context.parameters
    return tuple(completed(rule, shared) for rule in _rules(context))


def _rules(context: StackContext) -> tuple[Rule, ...]:
    return (
        gpu_pool(context),
        GPU_LIMITS,
        DEVICE_CLAIMS,
        JOB_BOUNDS,
        job_cost(),
        experiments.bounds(context.max_replicas),
        spot_checkpoint(),
        spot_eviction(),
        ray_cluster(context),
        *((queue_name(context), gpu_queue(context), queue_start(), queue_metadata(context)) if context.queues else ()),
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
FACTS: Final = "parameters"  # suffix of the logical name of the parameters
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


def policy(rule: Rule) -> dict[str, Any]:
    """The ValidatingAdmissionPolicy of a rule."""
    operations = ["CREATE", "UPDATE"] if rule.updates else ["CREATE"]
    # No controller makes or changes objects of some kinds.
    named = rule.parameters.get("trusted", "")
    trusted = any(f",{operation} {kind.kind} " in named for kind in rule.kinds for operation in operations)
    needed = {"by-a-user": BY_A_USER} if trusted else {}
    # The rules of a group have it in their expressions.
    if rule.updates and rule.name not in GROUPS:
        needed["changed"] = changed(*rule.changes)
    spec = {
        # An error in the expression denies the request: a rule that can't be evaluated isn't satisfied.
        "failurePolicy": "Fail",
        "paramKind": PARAMETERS,
        "matchConstraints": {"resourceRules": _resource_rules(rule, operations)},
        **({"matchConditions": _named(needed)} if needed else {}),
        "variables": _named(rule.variables),
        "validations": [
            {
                "expression": rule.expression,
                # The fallback if the message expression fails.
                "message": f"rule {rule.name}",
                "messageExpression": compact(rule.says),
            }
        ],
    }
    return object_of(API, "ValidatingAdmissionPolicy", policy_name(rule), spec=spec)


def _named(expressions: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"name": name, "expression": compact(text)} for name, text in expressions.items()]


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
    spec = {
        "policyName": policy_name(rule),
        "paramRef": REFERENCE,
        "validationActions": ACTIONS[action],
        "matchResources": {"namespaceSelector": {"matchExpressions": selected}},
    }
    name = f"{action}-{policy_name(rule)}" if only else policy_name(rule)
    return object_of(API, "ValidatingAdmissionPolicyBinding", name, spec=spec)


def _resource_rules(rule: Rule, operations: list[str]) -> list[dict[str, Any]]:
    """What is checked. For pods only creation: the fields that matter to the scheduler are immutable.

    Resources of all groups are in one entry: no resource of a kind has the name of one of another group, or the rule is
    about both.
    """
    entries: dict[tuple[str, ...], list[Kind]] = defaultdict(list)
    for kind in rule.kinds:
        entries[("CREATE",) if kind == POD and not rule.pod_updates else tuple(operations)].append(kind)
    return [
        {
            "apiGroups": sorted({kind.group for kind in kinds}),
            "apiVersions": ["*"],
            "operations": list(when),
            "resources": sorted({kind.resource for kind in kinds}),
        }
        for when, kinds in sorted(entries.items())
    ]


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
        before: list[pulumi.Resource] = []
        for key, manifest in manifests(args.settings, args.context).items():
            # Until its parameters are there, a binding refuses all that teams create; and a rule that leaves a group is
            # bound by itself before the group goes without it.
            binds = manifest["kind"].endswith("Binding")
            after = before[1:] if key in GROUPS else before[:1] if binds else []
            one = declare(
                f"{name}-{key}", manifest, pulumi.ResourceOptions.merge(child, pulumi.ResourceOptions(depends_on=after))
            )
            if key == FACTS or (binds and key.removesuffix("-binding") not in GROUPS):
                before.append(one)
        self.register_outputs({})


def manifests(settings: Settings, context: StackContext) -> dict[str, dict[str, Any]]:
    """Policy and binding of every rule that is not off, and of the defaults, by the suffix of their logical name."""
    every = rules(context)
    found = {FACTS: parameters(every)}
    on, denying = [], []
    for rule in every:
        action = settings.of(rule.name)
        others: dict[Action, list[str]] = {}
        for team in sorted(settings.teams):
            if settings.of_team(rule.name, team) is not action:
                others.setdefault(settings.of_team(rule.name, team), []).append(team)
        if {action, *others} == {Action.OFF}:
            continue
        on.append(rule)
        if {action, *others} == {Action.DENY}:
            denying.append(rule)
            continue
        found[rule.name] = policy(rule)
        if action is not Action.OFF:
            found[f"{rule.name}-binding"] = binding(rule, action, without=sorted(chain(*others.values())))
        for other, teams in others.items():
            if other is not Action.OFF:
                found[f"{rule.name}-binding-{other}"] = binding(rule, other, only=teams)
    for rule in together(denying):
        found |= {rule.name: policy(rule), f"{rule.name}-binding": binding(rule, Action.DENY)}
    if context.scheduler is not None:
        found |= scheduler.manifests(context.scheduler)
    if context.repairs_gpus and (kubernetes.minor(context.version) or 0) >= kubernetes.MUTATES:
        found |= monitoring.manifests()
    filled = defaults.manifests(on, context) if settings.defaults else {}
    if filled:
        found[FACTS]["data"] |= defaults.parameters(defaults.steps(on))
    return found | filled
