"""Rules for what a pod of a team may not ask for: other pools, other priorities, other volumes."""

from __future__ import annotations

from typing import Final

from components.admission import kinds, placement
from components.admission.context import StackContext
from components.admission.rule import Fill, Message, Rule, literal
from components.admission.templates import (
    EVERY_SPEC,
    HOLDERS,
    KIND,
    METADATA_PATHS,
    PARTIAL,
    RUNTIMES,
    SPECS,
    USER,
    O,
    below,
    joined,
)
from components.base.placement import CRITICAL
from spec.jobs import PRIORITY
from spec.pools import keys
from spec.settings.pools import Role
from spec.settings.teams import PriorityName
from spec.teams.labels import PRIORITIES

_CLASSES: Final = literal([str(name) for name in PriorityName])
_OWN: Final = (
    f"(has(namespaceObject.metadata.annotations) && '{PRIORITIES}' in namespaceObject.metadata.annotations"
    f" ? namespaceObject.metadata.annotations['{PRIORITIES}'].split(',') : {_CLASSES})"
)
# Without a label Kueue queues by the class of the pods (Kueue, "Workload Priority Class").
_CLASS: Final = f"has(s.priorityClassName) && s.priorityClassName != '' && !(s.priorityClassName in {_OWN})"
# Kueue queues by this label, whatever priority the pods have.
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
        "specs": f"{KIND} in {literal([kind.kind for kind in _WITHOUT_PODS])} ? {PARTIAL} : [{SPECS}]",
        "others": f"variables.specs.map(l, l.filter(s, {_CLASS}).map(s, string(s.priorityClassName)).join(', '))"
        f" + {_LABELLED}",
    },
    expression="variables.others.all(t, t == '')",
    message=Message(
        wrong="the priority class ",
        found=joined("variables.others"),
        shown="classes",
        fix=f" is not for teams: use one of {', '.join(PriorityName)} that its namespace lists in the annotation "
        f"{PRIORITIES}",
    ),
    metadata=("labels",),
    fills=(
        Fill(paths=EVERY_SPEC, removes=f"{_CLASS} ? ['priorityClassName'] : []",
        ),
        Fill(
            paths=below(METADATA_PATHS, "labels"),
            removes=f"s.filter(k, k == '{PRIORITY}' && !(s[k] in {_OWN}))",
        ),
    ),
)  # fmt: skip

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
        found=joined("variables.mounted"),
        shown="volumes",
        fix=f" is not for teams: use a volume claim, or one of {', '.join(ALLOWED_VOLUMES)}",
    ),
    fills=(
        # Empty, instead of what only the node or another server has.
        Fill(
            paths=below(EVERY_SPEC, "volumes[]"), field="emptyDir", value="{}",
            removes=f"s.exists(k, k in {literal(list(ALLOWED_VOLUMES))}) ? [] : s.filter(k, k != 'name')",
        ),
    ),
)  # fmt: skip


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

KARPENTER: Final = "karpenter.k8s.aws/instance-"
KINDS_OF_NODES: Final = (
    "kubernetes.io/arch", "kubernetes.io/os", "topology.kubernetes.io/region", "topology.kubernetes.io/zone",
    keys.CAPACITY_TYPE, "eks.amazonaws.com/capacityType",
    *(f"{KARPENTER}{name}" for name in ("category", "cpu-manufacturer", "family", "generation")),
)  # fmt: skip
"""Labels that say what a node is, not how large it is (karpenter.sh, "Well-Known Labels", 1.14)."""
DOMAINS: Final = ("nvidia.com/", "feature.node.kubernetes.io/", "topology.k8s.aws/")
"""Prefixes of labels of GPUs, of features of a node, and of its place in the network."""
SIZES: Final = {
    "node.kubernetes.io/instance-type": r"^[a-z0-9-]+\.(nano|micro|small|medium|large|[234]?xlarge)$",
    f"{KARPENTER}size": "^(nano|micro|small|medium|large|[234]?xlarge)$",
    f"{KARPENTER}cpu": "^([1-9]|1[0-6])$",
}
"""Labels of the size of a node, with values of up to 16 vCPUs: of a larger one, a pod without GPUs says what it
requests, and gets the smallest node that has it."""
EXCLUSIVE: Final = "alpha.jobset.sigs.k8s.io/exclusive-topology"
NODE: Final = "kubernetes.io/hostname"
"""The only topology that a JobSet may have for itself: a zone or a pool is every team's."""
_JOB_KEYS: Final = ("jobset.sigs.k8s.io/job-key", "jobset.sigs.k8s.io/priority")
"""Labels by which JobSet's webhook keeps the pods of other JobSets off the nodes of one (jobset v0.12.0,
pkg/webhooks/pod_webhook.go, setExclusiveAffinities); it gives later pods of a job the node of the first."""


# The scheduler keeps every pod, whosever it is, off the nodes whose pods repel it (kubernetes.io, "Assigning Pods to
# Nodes": namespace selector).
_POD_TERMS: Final = " + ".join(_terms(kind, "", "podAffinityTerm") for kind in ("podAffinity", "podAntiAffinity"))
_OF_JOB_SET: Final = (
    f"variables.placedByJobSet && t.topologyKey == '{NODE}' && has(t.labelSelector) && "
    "!has(t.labelSelector.matchLabels) && has(t.labelSelector.matchExpressions) && "
    f"t.labelSelector.matchExpressions.exists(e, e.key == '{_JOB_KEYS[0]}') && "
    f"t.labelSelector.matchExpressions.all(e, e.key in {literal(list(_JOB_KEYS))})"
)
_ABROAD: Final = (
    f"({_POD_TERMS}).exists(t, (has(t.namespaceSelector) || "
    f"(has(t.namespaces) && t.namespaces.exists(n, n != request.namespace))) && !({_OF_JOB_SET}))"
)
_NOTES: Final = "has(h.metadata) && has(h.metadata.annotations)"
_APART: Final = (
    f"({HOLDERS}).map(l, l.exists(h, {_NOTES} && '{EXCLUSIVE}' in h.metadata.annotations && "
    f"h.metadata.annotations['{EXCLUSIVE}'] != '{NODE}') ? '{EXCLUSIVE} other than {NODE}' : '')"
)


def _good(key: str, known: str) -> str:
    """Whether a label is one of pools for teams, whatever its value."""
    return f"({key} in {known} || {literal(list(DOMAINS))}.exists(d, {key}.startsWith(d)))"


def _selected(known: str) -> str:
    """Labels by which pod `s` selects nodes and that aren't for teams, as a list: those of a node's size, and those of
    nodes that no pool has.

    Args:
        known: CEL list of the labels that are.
    """
    sizes = literal(SIZES)
    least = f"e.key.startsWith('{KARPENTER}') && e.operator in ['Lt', 'Exists']"
    small = f"e.key in {sizes} && e.operator == 'In' && e.values.all(v, string(v).matches({sizes}[e.key]))"
    return (
        f"((has(s.nodeSelector) ? s.nodeSelector.filter(k, !{_good('k', known)} && "
        f"!(k in {sizes} && string(s.nodeSelector[k]).matches({sizes}[k]))).map(k, string(k)) : []) + "
        f"{_ALL_TERMS}.map(t, (has(t.matchExpressions) ? t.matchExpressions : []).filter(e, "
        f"!{_good('e.key', known)} && !({least}) && !({small})).map(e, string(e.key)).join(', ')).filter(x, x != ''))"
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
        f"!({KIND} in {literal(list(RUNTIMES))}) && !variables.specs.exists(s, {placement.ASKS}) && "
        f"!({KIND} == 'Pod' && {USER} in {literal(context.makers[kinds.POD.kind])})"
    )
    lasting = f"has(s.tolerations) && s.tolerations.exists(o, has(o.key) && o.key in {literal(list(_DRAINS))})"
    single = literal(list(_SINGLE))
    alone = (
        f"(has(s.nodeSelector) && {single}.exists(k, k in s.nodeSelector && !(k == '{NODE}' && "
        f"variables.placedByJobSet))) || {_ALL_TERMS}.exists(t, "
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
    labels = {each for spec in context.pools.values() for each in spec.labels}
    # A reason of its own names the labels of single nodes.
    known = literal(sorted({*labels, *KINDS_OF_NODES, keys.POOL, keys.ROLE, *_SINGLE}))
    # With GPUs the pool is chosen by what it requests, and every size of its nodes is in the quota.
    sized = f"(has(s.containers) && {placement.ASKS} ? [] : {_selected(known)}).map(k, 'the node label ' + k)"
    found = " + ".join(f"({condition} ? ['{text}'] : [])" for condition, text in parts.items())
    webhook = (
        f"{KIND} == 'Pod' && {USER} in {literal(context.makers[kinds.POD.kind])} && "
        f"has({O}.metadata.annotations) && '{EXCLUSIVE}' in {O}.metadata.annotations && "
        f"{O}.metadata.annotations['{EXCLUSIVE}'] == '{NODE}'"
    )
    return Rule(
        name="node-selection",
        kinds=(*kinds.WITH_PODS, kinds.TRAIN_JOB, kinds.TRAINING_RUNTIME),
        what="a pod selects and tolerates nodes of pools for teams, those with GPUs only with a request for GPUs, and "
        "large ones only by what it requests",
        why="it would take the nodes of controllers, keep GPUs from the jobs that pay for them, start a machine of 192 "
        "vCPUs for one of them, or keep the pods of all teams off a node, a zone or the cluster by an anti-affinity",
        variables={
            "specs": f"{KIND} in {literal(list(RUNTIMES))} ? [] : {SPECS}",
            "placedByJobSet": webhook,
            "beyond": f"([variables.specs] + {PARTIAL}).map(l, l.map(s, ({found} + {sized}).join(', '))"
            f".filter(t, t != '').join(', ')) + {_APART}",
        },
        expression="variables.beyond.all(t, t == '')",
        message=Message(
            wrong="these nodes are not for this pod: remove ",
            found=joined("variables.beyond"),
            shown="fields",
            fix=f". Select a pool with nodeSelector {{{keys.POOL}: POOL}} and tolerate its taints by key; request "
            "the CPU and memory that a large node is for; a JobSet may have a topology for itself alone if it is "
            f"{NODE}",
        ),
        fills=_anywhere(literal(sorted({*labels, *KINDS_OF_NODES, *SIZES, keys.POOL, keys.ROLE, *_SINGLE}))),
    )


def _anywhere(known: str) -> tuple[Fill, ...]:
    """Without what selects nodes that no pool has: other providers' labels, and a topology of one's own."""
    other = f"has(t.matchExpressions) && t.matchExpressions.exists(e, !{_good('e.key', known)})"
    affinity = _ALL_TERMS.replace("s.affinity", "s").replace("has(s) && ", "")
    return (
        Fill(
            paths=below(EVERY_SPEC, "nodeSelector"),
            removes=f"s.filter(k, !{_good('k', known)})",
        ),
        Fill(
            paths=below(EVERY_SPEC, "affinity"),
            removes=f"({affinity}).exists(t, {other}) ? ['nodeAffinity'] : []",
        ),
        Fill(
            paths=below(METADATA_PATHS, "annotations"),
            removes=f"s.filter(k, k == '{EXCLUSIVE}' && s[k] != '{NODE}')",
        ),
    )  # fmt: skip
