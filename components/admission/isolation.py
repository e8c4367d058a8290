"""Rules for what a pod of a team may not ask for: other pools, other priorities, other volumes."""

from __future__ import annotations

from typing import Final

from components.admission import kinds, placement
from components.admission.context import StackContext
from components.admission.rule import Message, Rule, literal
from components.admission.templates import HOLDERS, JOINED, KIND, SPECS, USER
from components.base.placement import CRITICAL
from spec.jobs import PRIORITY
from spec.pools import keys
from spec.settings.pools import Role
from spec.settings.teams import PriorityName
from spec.teams.labels import PRIORITIES

_CLASSES: Final = literal([str(name) for name in PriorityName])
_CLASS: Final = f"has(s.priorityClassName) && s.priorityClassName != '' && !(s.priorityClassName in {_CLASSES})"
_OWN: Final = (
    f"(has(namespaceObject.metadata.annotations) && '{PRIORITIES}' in namespaceObject.metadata.annotations"
    f" ? namespaceObject.metadata.annotations['{PRIORITIES}'].split(',') : {_CLASSES})"
)
# Kueue queues by this label, whatever priority the pods have (Kueue, "Workload Priority Class").
_LABELLED: Final = (
    f"({HOLDERS}).map(l, l.filter(h, has(h.metadata) && has(h.metadata.labels) && '{PRIORITY}' in h.metadata.labels"
    f" && !(h.metadata.labels['{PRIORITY}'] in {_OWN})).map(h, string(h.metadata.labels['{PRIORITY}'])).join(', '))"
)
_WITHOUT_PODS: Final = (kinds.TRAIN_JOB, kinds.TRAINING_RUNTIME, kinds.INFERENCE_SERVICE)
PRIORITY_CLASS: Final = Rule(
    name="priority-class",
    kinds=(*kinds.WITH_PODS, *_WITHOUT_PODS),
    what="a pod has one of the platform's priority classes, or none, and is queued with one of its team's",
    why="with `system-node-critical` or `system-cluster-critical` it would evict the pods of every other team, and "
    "with the label of a higher class its job would take their quota",
    variables={
        "specs": f"{KIND} in {literal([kind.kind for kind in _WITHOUT_PODS])} ? [] : {SPECS}",
        "others": f"variables.specs.filter(s, {_CLASS}).map(s, string(s.priorityClassName)) + {_LABELLED}",
    },
    expression="variables.others.all(t, t == '')",
    message=Message(
        wrong="the priority class ",
        found=f"variables.others{JOINED}",
        shown="classes",
        fix=f" is not for teams: use one of {', '.join(PriorityName)}",
    ),
    metadata=("labels",),
)

ALLOWED_VOLUMES: Final = (
    "configMap", "downwardAPI", "emptyDir", "ephemeral", "image", "persistentVolumeClaim", "projected", "secret",
)  # fmt: skip
"""Those of the Pod Security level `restricted`, and `image`, without inline `csi`; host-access reports `hostPath`."""
_SOURCE: Final = " || ".join(f"has(v.{name})" for name in (*ALLOWED_VOLUMES, "hostPath"))
# `emptyDir` is the volume of no source (kubernetes, pkg/apis/core/v1/defaults.go).
_MOUNTED: Final = f"(has(s.volumes) ? s.volumes.filter(v, !({_SOURCE})).map(v, string(v.name)).join(', ') : '')"
VOLUME_SOURCES: Final = Rule(
    name="volume-sources",
    kinds=kinds.WITH_PODS,
    what="a volume is a claim, or one without a server of its own",
    why="the node mounts an inline volume (`nfs`, `iscsi`, `csi`, ...) itself, past the team's network policies",
    variables={"specs": SPECS, "mounted": f"variables.specs.map(s, {_MOUNTED})"},
    expression="variables.mounted.all(t, t == '')",
    message=Message(
        wrong="the source of volume ",
        found=f"variables.mounted{JOINED}",
        shown="volumes",
        fix=f" is not for teams: use a volume claim, or one of {', '.join(ALLOWED_VOLUMES)}",
    ),
)


def _terms(affinity: str, required: str, preferred: str) -> str:
    """Required and preferred terms of a kind of affinity, as a list: a preference for the nodes of the system would be
    met as long as they have room.

    Args:
        affinity: The kind: `nodeAffinity`.
        required: Suffix that gives the list of the required terms.
        preferred: Field of a preferred term.
    """
    at = f"s.affinity.{affinity}"
    there = f"has(s.affinity) && has({at}) && has({at}."
    must, should = (f"{how}DuringSchedulingIgnoredDuringExecution" for how in ("required", "preferred"))
    return (
        f"(({there}{must}) ? {at}.{must}{required} : []) + "
        f"({there}{should}) ? {at}.{should}.map(w, w.{preferred}) : []))"
    )


_ALL_TERMS: Final = _terms("nodeAffinity", ".nodeSelectorTerms", "preference")
_DRAINS: Final = (
    "node.kubernetes.io/unschedulable", "karpenter.sh/disrupted",
    "ToBeDeletedByClusterAutoscaler", "DeletionCandidateOfClusterAutoscaler",
)  # fmt: skip
"""Taints of nodes that are drained, by kubectl, by Karpenter (karpenter.sh, "Disruption") or by the Cluster Autoscaler
(kubernetes/autoscaler 1.35, utils/taints/taints.go)."""
_SINGLE: Final = ("kubernetes.io/hostname", "eks.amazonaws.com/nodegroup", keys.NODE_POOL)
"""Labels that name one node or one group of nodes, those of the system as well."""


# The scheduler keeps every pod, whosever it is, off the nodes whose pods repel it (kubernetes.io, "Assigning Pods to
# Nodes": namespace selector).
_POD_TERMS: Final = " + ".join(_terms(kind, "", "podAffinityTerm") for kind in ("podAffinity", "podAntiAffinity"))
_ABROAD: Final = (
    f"({_POD_TERMS}).exists(t, has(t.namespaceSelector) || "
    "(has(t.namespaces) && t.namespaces.exists(n, n != request.namespace)))"
)


def node_selection(context: StackContext) -> Rule:
    """A pod runs on nodes for teams, and on GPU nodes only if it needs one."""
    systems = [spec for spec in context.pools.values() if spec.role is Role.SYSTEM]
    own = {CRITICAL["key"], *(taint.key for spec in systems for taint in spec.taints)}
    others = {taint.key for spec in context.pools.values() if spec.role is not Role.SYSTEM for taint in spec.taints}
    system_taints, names = literal(sorted(own - others)), literal(sorted(spec.name for spec in systems))
    role, system = f"'{keys.ROLE}'", f"'{Role.SYSTEM}'"
    named = f"'{keys.POOL}' in s.nodeSelector && s.nodeSelector['{keys.POOL}'] in {names}"
    selector = f"has(s.nodeSelector) && (({role} in s.nodeSelector && s.nodeSelector[{role}] == {system}) || ({named}))"
    affinity = (
        f"{_ALL_TERMS}.exists(t, has(t.matchExpressions) && t.matchExpressions.exists(e, "
        f"(e.key == {role} && (e.operator != 'In' || {system} in e.values)) || "
        f"(e.key == '{keys.POOL}' && e.operator == 'In' && e.values.exists(v, v in {names}))))"
    )
    tolerated = f"has(s.tolerations) && s.tolerations.exists(o, !has(o.key) || o.key == '' || o.key in {system_taints})"
    # The launcher of an MPIJob runs on the pool of its workers: one pod of the object must need a GPU.
    idle = (
        f"has(s.tolerations) && s.tolerations.exists(o, has(o.key) && o.key in ['{keys.POOL}', '{keys.GPU}']) && "
        f"!variables.specs.exists(s, {placement.ASKS}) && "
        f"!({KIND} == 'Pod' && {USER} in {literal(context.makers[kinds.POD.kind])})"
    )
    lasting = f"has(s.tolerations) && s.tolerations.exists(o, has(o.key) && o.key in {literal(list(_DRAINS))})"
    single = literal(list(_SINGLE))
    alone = (
        f"(has(s.nodeSelector) && {single}.exists(k, k in s.nodeSelector)) || {_ALL_TERMS}.exists(t, "
        f"(has(t.matchFields) && t.matchFields.size() > 0) || "
        f"(has(t.matchExpressions) && t.matchExpressions.exists(e, e.key in {single})))"
    )
    parts = {
        "has(s.nodeName) && s.nodeName != ''": "nodeName",
        selector: "nodeSelector of the system pools",
        affinity: "nodeAffinity to the system pools",
        tolerated: "a toleration of all taints or of the system pools",
        alone: f"a selector of single nodes or groups of nodes ({', '.join(_SINGLE)}, matchFields)",
        _ABROAD: "an affinity to pods of other namespaces (namespaces, namespaceSelector)",
        lasting: "a toleration of a drain",
        idle: "a toleration of a GPU pool without a GPU request",
    }
    found = " + ".join(f"({condition} ? ['{text}'] : [])" for condition, text in parts.items())
    return Rule(
        name="node-selection",
        kinds=kinds.WITH_PODS,
        what="a pod selects and tolerates nodes of pools for teams, and those with GPUs only with a request for GPUs",
        why="it would take the nodes of controllers, keep GPUs from the jobs that pay for them, or keep the pods of "
        "all teams off a node, a zone or the cluster by an anti-affinity",
        variables={"specs": SPECS, "beyond": f"variables.specs.map(s, ({found}).join(', '))"},
        expression="variables.beyond.all(t, t == '')",
        message=Message(
            wrong="these nodes are not for this pod: remove ",
            found=f"variables.beyond{JOINED}",
            shown="fields",
            fix=f". Select a pool with nodeSelector {{{keys.POOL}: POOL}} and tolerate its taints by key",
        ),
    )
