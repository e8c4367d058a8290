"""Rules for what a pod of a team may not ask for: other pools, other priorities, other volumes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from components.admission import kinds, placement
from components.admission.context import StackContext
from components.admission.rule import FIELDS, Fill, Rule, listed, literal
from components.admission.templates import (
    EVERY_SPEC,
    KIND,
    MAKES_PODS,
    METADATA_PATHS,
    RUNTIMES,
    O,
    below,
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
_CLASS: Final = "has(s.priorityClassName) && s.priorityClassName != '' && !(s.priorityClassName in %s)"
# Kueue queues by this label, whatever priority the pods have.
_LABELLED: Final = (
    "variables.holders.map(l, l.filter(h, has(h.metadata) && has(h.metadata.labels))"
    f".map(h, h.metadata.labels).filter(h, '{PRIORITY}' in h && !(h['{PRIORITY}'] in variables.own))"
    f".map(h, string(h['{PRIORITY}'])).join(', '))"
)
_WITHOUT_PODS: Final = (kinds.TRAIN_JOB, kinds.TRAINING_RUNTIME, kinds.INFERENCE_SERVICE)
PRIORITY_CLASS: Final = Rule(
    name="priority-class",
    kinds=(*kinds.WITH_PODS, *_WITHOUT_PODS),
    variables={
        "own": _OWN,
        "others": f"([variables.specs] + variables.partial).map(l, l.filter(s, {_CLASS % 'variables.own'})"
        ".map(s, string(s.priorityClassName)).join(', '))"
        f" + {_LABELLED}",
    },
    expression="variables.others.all(t, t == '')",
    found="variables.others",
    names={"classes": ", ".join(PriorityName), "priorities": PRIORITIES},
    metadata=("labels",),
    fills=(
        Fill(paths=EVERY_SPEC, removes=f"{_CLASS % _OWN} ? ['priorityClassName'] : []"),
        Fill(
            paths=below(METADATA_PATHS, "labels"),
            removes=f"s.filter(k, k == '{PRIORITY}' && !(s[k] in {_OWN}))",
        ),
    ),
)  # fmt: skip

ALLOWED_VOLUMES: Final[Sequence[str]] = FIELDS["volume sources"]
"""Those of the Pod Security level `restricted`, and `image`, without inline `csi`; host-access reports `hostPath`."""
_SOURCE: Final = f"v.exists(k, k in {listed('volumeSources')})"
PROJECTED: Final = ("configMap", "downwardAPI", "secret", "serviceAccountToken")
"""Sources of a projected volume, without certificates of the cluster's signers."""
AUDIENCES: Final = ("", "pods.eks.amazonaws.com")
"""Of a token: the API server, and Pod Identity, whose webhook adds it before the rules see a pod (EKS User Guide, "How
EKS Pod Identity works"). Whoever trusts the cluster's issuer would take another for the pod's."""
_AUDIENCE: Final = "x.serviceAccountToken.audience"
_PROJECTS: Final = (
    f"has(v.projected) && has(v.projected.sources) && v.projected.sources.exists(x, x.exists(k, "
    f"!(k in {literal(list(PROJECTED))})) || (has(x.serviceAccountToken) && has({_AUDIENCE}) && "
    f"!({_AUDIENCE} in {literal(list(AUDIENCES))})))"
)
# `emptyDir` is the volume of no source (kubernetes, pkg/apis/core/v1/defaults.go).
_OTHER: Final = f"s.volumes.filter(v, !({_SOURCE}) || ({_PROJECTS}))"
_MOUNTED: Final = f"(has(s.volumes) ? {_OTHER}.map(v, string(v.name)).join(', ') : '')"
VOLUME_SOURCES: Final = Rule(
    name="volume-sources",
    kinds=kinds.WITH_PODS,
    parameters={"volumeSources": ",".join((*ALLOWED_VOLUMES, "hostPath"))},
    variables={"mounted": f"variables.specs.map(s, {_MOUNTED})"},
    expression="variables.mounted.all(t, t == '')",
    found="variables.mounted",
    names={"sources": ", ".join(ALLOWED_VOLUMES)},
    fills=(
        # Empty, instead of what only the node or another server has.
        Fill(
            paths=below(EVERY_SPEC, "volumes[]"), field="emptyDir", value="{}",
            removes=f"s.exists(k, k in {literal(list(ALLOWED_VOLUMES))}) ? [] : s.filter(k, k != 'name')",
        ),
    ),
)  # fmt: skip


_REQUIRED, _PREFERRED = (f"{how}DuringSchedulingIgnoredDuringExecution" for how in ("required", "preferred"))


def _terms(required: str, preferred: str) -> str:
    """Required and preferred terms of affinity `a`, as a list: a preference for the nodes of the system would be met as
    long as they have room.

    Args:
        required: Suffix that gives the list of the required terms.
        preferred: Field of a preferred term.
    """
    return (
        f"(has(a.{_REQUIRED}) ? a.{_REQUIRED}{required} : []) + "
        f"(has(a.{_PREFERRED}) ? a.{_PREFERRED}.map(w, w.{preferred}) : [])"
    )


_NODE_TERMS: Final = _terms(".nodeSelectorTerms", "preference")
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
_POD_TERMS: Final = (
    "['podAffinity', 'podAntiAffinity'].filter(f, f in s.affinity).map(f, s.affinity[f])"
    f".map(a, {_terms('', 'podAffinityTerm')})"
)
"""Required and preferred terms of affinities to pods, in lists."""
_OF_JOB_SET: Final = (
    f"variables.placedByJobSet && t.topologyKey == '{NODE}' && has(t.labelSelector) && "
    "!has(t.labelSelector.matchLabels) && has(t.labelSelector.matchExpressions) && "
    f"t.labelSelector.matchExpressions.exists(e, e.key == '{_JOB_KEYS[0]}') && "
    f"t.labelSelector.matchExpressions.all(e, e.key in {literal(list(_JOB_KEYS))})"
)
_ABROAD: Final = (
    f"x.near.exists(l, l.exists(t, (has(t.namespaceSelector) || "
    f"(has(t.namespaces) && t.namespaces.exists(n, n != request.namespace))) && !({_OF_JOB_SET})))"
)
_NOTES: Final = "has(h.metadata) && has(h.metadata.annotations)"
_APART: Final = (
    f"variables.holders.map(l, l.exists(h, {_NOTES} && '{EXCLUSIVE}' in h.metadata.annotations && "
    f"h.metadata.annotations['{EXCLUSIVE}'] != '{NODE}') ? '{EXCLUSIVE} other than {NODE}' : '')"
)


_KNOWN: Final = listed("nodeLabels")


def _good(key: str, known: str) -> str:
    """Whether a label is one of pools for teams, whatever its value."""
    return f"({key} in {known} || [{', '.join(map(repr, DOMAINS))}].exists(d, {key}.startsWith(d)))"


_SIZED: Final = f"e.key.startsWith('{KARPENTER}') && e.operator in ['Lt', 'Exists']"
_SELECTED: Final = (
    f"((has(s.nodeSelector) ? s.nodeSelector.filter(k, !{_good('k', 'variables.known')} && !(k in variables.sizes && "
    "string(s.nodeSelector[k]).matches(variables.sizes[k]))).map(k, string(k)) : []) + "
    "x.terms.map(l, l.map(t, (has(t.matchExpressions) ? t.matchExpressions : []).filter(e, "
    f"!{_good('e.key', 'variables.known')} && !({_SIZED}) && !(e.key in variables.sizes && e.operator == 'In' && "
    "e.values.all(v, string(v).matches(variables.sizes[e.key])))).map(e, string(e.key)).join(', '))"
    ".filter(t, t != '').join(', ')).filter(t, t != ''))"
)
"""Labels by which pod `s` selects nodes and that aren't for teams, as a list: those of a node's size, and those of
nodes that no pool has."""
_SYSTEM: Final = listed("systemPools")
_ROLE: Final = f"'{keys.ROLE}'"
_SYSTEM_ROLE: Final = f"'{Role.SYSTEM}'"
_ALONE: Final = literal(list(_SINGLE))
_PARTS: Final = {
    "has(s.nodeName) && s.nodeName != ''": "nodeName",
    f"has(s.nodeSelector) && (({_ROLE} in s.nodeSelector && s.nodeSelector[{_ROLE}] == {_SYSTEM_ROLE}) || "
    f"('{keys.POOL}' in s.nodeSelector && s.nodeSelector['{keys.POOL}'] in {_SYSTEM}))": (
        "nodeSelector of the system pools"
    ),
    "x.terms.exists(l, l.exists(t, has(t.matchExpressions) && t.matchExpressions.exists(e, "
    f"(e.key == {_ROLE} && (e.operator != 'In' || {_SYSTEM_ROLE} in e.values)) || "
    f"(e.key == '{keys.POOL}' && e.operator == 'In' && e.values.exists(v, v in {_SYSTEM})))))": (
        "nodeAffinity to the system pools"
    ),
    "has(s.tolerations) && s.tolerations.exists(o, !has(o.key) || o.key == '' || "
    f"o.key in {listed('systemTaints')})": "a toleration of all taints or of the system pools",
    f"(has(s.nodeSelector) && {_ALONE}.exists(k, k in s.nodeSelector && !(k == '{NODE}' && variables.placedByJobSet))) "
    "|| x.terms.exists(l, l.exists(t, (has(t.matchFields) && t.matchFields.size() > 0) || "
    f"(has(t.matchExpressions) && t.matchExpressions.exists(e, e.key in {_ALONE}))))": (
        f"a selector of single nodes or groups of nodes ({', '.join(_SINGLE)}, matchFields)"
    ),
    _ABROAD: "an affinity to pods of other namespaces (namespaces, namespaceSelector)",
    f"has(s.tolerations) && s.tolerations.exists(o, has(o.key) && o.key in {listed('drains')})": (
        "a toleration of a drain"
    ),
    # The launcher of an MPIJob runs on the pool of its workers: one pod of the object must need a GPU.
    f"!variables.asks && has(s.tolerations) && s.tolerations.exists(o, has(o.key) && o.key in "
    f"['{keys.POOL}', '{keys.GPU}'])": "a toleration of a GPU pool without a GPU request",
}
_FOUND: Final = " + ".join(f"({condition} ? ['{text}'] : [])" for condition, text in _PARTS.items())


def node_selection(context: StackContext) -> Rule:
    """A pod runs on nodes for teams, and on GPU nodes only if it needs one."""
    systems = [spec for spec in context.pools.values() if spec.role is Role.SYSTEM]
    own = {CRITICAL["key"], *(taint.key for spec in systems for taint in spec.taints)}
    others = {taint.key for spec in context.pools.values() if spec.role is not Role.SYSTEM for taint in spec.taints}
    labels = {each for spec in context.pools.values() for each in spec.labels}
    return Rule(
        name="node-selection",
        kinds=(*kinds.WITH_PODS, kinds.TRAIN_JOB, kinds.TRAINING_RUNTIME),
        parameters={
            "drains": ",".join(_DRAINS),
            "systemPools": ",".join(sorted(spec.name for spec in systems)),
            "systemTaints": ",".join(sorted(own - others)),
            # A reason of its own names the labels of single nodes.
            "nodeLabels": ",".join(sorted({*labels, *KINDS_OF_NODES, keys.POOL, keys.ROLE, *_SINGLE})),
        },
        variables={
            "known": _KNOWN,
            "sizes": literal(SIZES),
            "placedByJobSet": f"{KIND} == 'Pod' && {MAKES_PODS} && has({O}.metadata.annotations) && "
            f"'{EXCLUSIVE}' in {O}.metadata.annotations && {O}.metadata.annotations['{EXCLUSIVE}'] == '{NODE}'",
            "asks": f"{KIND} in {literal(list(RUNTIMES))} || variables.specs.exists(s, {placement.ASKS}) || "
            f"({KIND} == 'Pod' && {MAKES_PODS})",
            "sites": "([variables.specs] + variables.partial).map(l, l.map(s, "
            "{'s': dyn(s), 'terms': dyn(has(s.affinity) && has(s.affinity.nodeAffinity) ? [s.affinity.nodeAffinity]"
            f".map(a, {_NODE_TERMS}) : []), 'near': dyn(has(s.affinity) ? {_POD_TERMS} : [])}}))",
            # With GPUs the pool is chosen by what it requests, and every size of its nodes is in the quota.
            "sized": f"variables.sites.map(l, l.map(x, [x.s].map(s, (has(s.containers) && {placement.ASKS} ? [] : "
            f"{_SELECTED}).map(k, 'the node label ' + k).join(', '))[0]).filter(t, t != '').join(', '))",
            "beyond": f"variables.sites.map(l, l.map(x, [x.s].map(s, ({_FOUND}).join(', '))[0])"
            f".filter(t, t != '').join(', ')) + variables.sized + {_APART}",
        },
        expression="variables.beyond.all(t, t == '')",
        found="variables.beyond",
        names={"pool": keys.POOL, "node": NODE},
        fills=_anywhere(f"({_KNOWN} + {literal(list(SIZES))})"),
    )


def _anywhere(known: str) -> tuple[Fill, ...]:
    """Without what selects nodes that no pool has: other providers' labels, and a topology of one's own."""
    other = f"has(t.matchExpressions) && t.matchExpressions.exists(e, !{_good('e.key', known)})"
    return (
        Fill(
            paths=below(EVERY_SPEC, "nodeSelector"),
            removes=f"s.filter(k, !{_good('k', known)})",
        ),
        Fill(
            paths=below(EVERY_SPEC, "affinity"),
            removes=f"has(s.nodeAffinity) && [s.nodeAffinity].exists(a, ({_NODE_TERMS}).exists(t, {other})) "
            "? ['nodeAffinity'] : []",
        ),
        Fill(
            paths=below(METADATA_PATHS, "annotations"),
            removes=f"s.filter(k, k == '{EXCLUSIVE}' && s[k] != '{NODE}')",
        ),
    )  # fmt: skip
