"""Size and reach of objects that members create: their number is in the quota of their namespace."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from components.addons.katib import NAME as CONTROLLER
from components.admission import kinds
from components.admission.queues import GATED
from components.admission.rule import FIELDS, Rule, listed, literal
from components.admission.templates import ACCOUNT, KIND, USER, O
from components.base.controllers import username
from components.tenancy.network_policies import KATIB
from components.tenancy.roles import MEMBERS, created
from spec.jobs import KUEUE

LARGEST: Final = 128 * 1024
"""Characters of an object, as text: etcd takes objects of up to 1.5 MiB, and keeps 8 GiB of all together on EKS. An
argument of a process has no more (execve(2), MAX_ARG_STRLEN)."""
DATA: Final = (kinds.CONFIG_MAP, kinds.SECRET)
LARGER: Final = {**dict.fromkeys(kinds.WORKFLOWS, 2 * LARGEST), **dict.fromkeys(DATA, 4 * LARGEST)}
"""Those of kinds that hold programs and data."""
_ALL: Final = tuple(kinds.BY_RESOURCE[each] for each in created())  # everything that a member can create
_NOTES: Final = ("annotations", "labels", "ownerReferences")
_TEXTS: Final = " + ".join(
    f"(has({O}.{field}) ? '%s'.format([{O}.{field}]).size() : 0)"
    for field in ("spec", *(f"metadata.{each}" for each in _NOTES))
)
_DATA: Final = " + ".join(
    f"(has({O}.{field}) ? {O}.{field}.map(k, {O}.{field}[k].size()).sum() : 0)" for field in ("data", "binaryData")
)
_MOST: Final = f"[{literal({kind.kind: most for kind, most in LARGER.items()})}]"
OBJECT_SIZE: Final = Rule(
    name="object-size",
    kinds=(*_ALL, kinds.EPHEMERAL_CONTAINERS),
    variables={"size": f"{_TEXTS} + {_DATA}", "most": f"{_MOST}.map(m, {KIND} in m ? m[{KIND}] : {LARGEST})[0]"},
    expression="variables.size <= variables.most",
    found="[string(variables.size) + ' characters, at most ' + string(variables.most)]",
    names={"kib": LARGEST // 1024},
    metadata=_NOTES,
    fields=("data", "binaryData"),
)

DELETIONS: Final = ("foregroundDeletion", "orphan", "kubernetes.io/pvc-protection")
"""Finalizers that Kubernetes itself removes (kubernetes.io, "Finalizers"); it gives the last to every claim before the
rules see it (plugin StorageObjectInUseProtection)."""
SECRETS: Final[Sequence[str]] = FIELDS["secret types"]
"""Types of Secrets (kubernetes.io, "Types of Secret"), without those by which the API server knows somebody."""
_OLD: Final = "request.operation == 'UPDATE' && has(dyn(oldObject)."
_BY_KUEUE: Final = f"{KUEUE}managed"
"""Finalizer of a pod that Kueue holds: its webhook adds it before the rules see the pod (Kueue 0.19.2,
pkg/controller/jobs/pod/pod_webhook.go), and its controller removes it."""
_BUDGET: Final = (
    f"(has({O}.spec.maxUnavailable) && string({O}.spec.maxUnavailable).matches('^0+%?$')) || "
    f"(has({O}.spec.minAvailable) && string({O}.spec.minAvailable).matches('^[0-9]{{3,}}%?$'))"
)
_REACHES: Final = {
    "variables.holders.exists(l, l.exists(h, has(h.metadata) && has(h.metadata.finalizers) && "
    f"h.metadata.finalizers.exists(f, !(f in variables.kept) && !(f in {listed('finalizers')}) && "
    f"!({KIND} == 'Pod' && f == '{_BY_KUEUE}' && {GATED}))))": "finalizers",
    f"{KIND} == 'PodDisruptionBudget' && ({_BUDGET})": "a disruption budget of none",
    f"{KIND} == 'PersistentVolumeClaim' && has({O}.spec.volumeName) && {O}.spec.volumeName != '' && "
    f"!({_OLD}spec.volumeName) && dyn(oldObject).spec.volumeName == {O}.spec.volumeName)": "volumeName",
    # Volumes are the class's to choose, and no class of attributes is there.
    f"{KIND} == 'PersistentVolumeClaim' && ['selector', 'volumeAttributesClassName'].exists(f, f in {O}.spec)": (
        "selector or volumeAttributesClassName"
    ),
    # Pods get roles by Pod Identity.
    f"{KIND} == 'ServiceAccount' && has({O}.metadata.annotations) && "
    f"{O}.metadata.annotations.exists(k, k.startsWith('eks.amazonaws.com/'))": "annotations of roles",
    f"{KIND} == 'Secret' && has({O}.type) && !({O}.type in {listed('secretTypes')})": "the type of the Secret",
}
_OF_TEMPLATE: Final = f"{KIND} == 'PersistentVolumeClaim' && {USER}.startsWith('{ACCOUNT}')"
_AS_WRITTEN: Final = f"(request.operation == 'CREATE' && ({USER} == '{username(KATIB, CONTROLLER)}' || {_OF_TEMPLATE}))"
"""Whether a controller makes what a member wrote: Katib's an Experiment's trials, others the claims of templates, whose
finalizers and volumes they copy (Kubernetes 1.36, pkg/controller/statefulset/stateful_set_utils.go,
getPersistentVolumeClaims)."""
OBJECT_REACH: Final = Rule(
    name="object-reach",
    kinds=_ALL,
    parameters={"finalizers": ",".join(DELETIONS), "secretTypes": ",".join(SECRETS)},
    variables={
        "kept": f"({_OLD}metadata.finalizers) ? dyn(oldObject).metadata.finalizers : [])",
        "reaches": " + ".join(f"({condition} ? ['{text}'] : [])" for condition, text in _REACHES.items()),
    },
    expression="variables.reaches.size() == 0 || "
    f"!(request.userInfo.groups.exists(g, g.startsWith('{MEMBERS}')) || {_AS_WRITTEN})",
    found="variables.reaches",
    names={"types": ", ".join(SECRETS)},
    metadata=("annotations", "finalizers"),
)
