"""Ownership: what only controllers write, and whose a pod is."""

from __future__ import annotations

from typing import Final

from components.admission import kinds
from components.admission.rule import Message, Rule, literal
from components.admission.templates import USER, O
from spec.teams.labels import COST_CENTER, PROJECT, TEAM

_OWNED: Final = (
    "(has(%s.metadata.ownerReferences) && %s.metadata.ownerReferences.exists(r, has(r.controller) && r.controller))"
)
_ACCOUNT: Final = "system:serviceaccount:"
# Only the API server gives names that begin with `system:`, and members have permissions in their namespaces alone.
_BY_A_CONTROLLER: Final = (
    f"({USER}.startsWith('{_ACCOUNT}') && !{USER}.startsWith('{_ACCOUNT}' + request.namespace + ':'))"
)
CONTROLLER_REFERENCE: Final = Rule(
    name="controller-reference",
    kinds=(*kinds.WITH_PODS, kinds.TRAIN_JOB, kinds.WORKFLOW),
    what="only a controller makes an object that a controller owns",
    why="a queue leaves out what another workload owns, and its pods would start without quota",
    expression=f"!{_OWNED.replace('%s', 'object')} || {_BY_A_CONTROLLER} || "
    f"(request.operation == 'UPDATE' && {_OWNED.replace('%s', 'oldObject')})",
    message=Message(
        wrong="only controllers set `controller` in ownerReferences: ",
        fix="remove the entry with controller: true, or set controller: false if the object is only to be deleted with "
        "its owner",
    ),
    metadata=("ownerReferences",),
    pod_updates=True,
)

_BILLED: Final = (TEAM, PROJECT, COST_CENTER)
_OF_POD: Final = f"(has({O}.metadata.labels) ? {O}.metadata.labels : {{}})"
TEAM_LABELS: Final = Rule(
    name="team-labels",
    kinds=(kinds.POD,),
    what="a pod has the team, project and cost center of its namespace, or no labels for them",
    why="costs are counted by these labels: it would bill another team",
    variables={
        "others": f"{literal(list(_BILLED))}.filter(k, k in {_OF_POD} && !(has(namespaceObject.metadata.labels) && "
        f"k in namespaceObject.metadata.labels && namespaceObject.metadata.labels[k] == {_OF_POD}[k]))"
    },
    expression="variables.others.size() == 0",
    message=Message(
        wrong="a pod is billed by the labels of its namespace, not by its own ",
        found="variables.others.join(', ')",
        shown="labels",
        fix=". Remove them, or set the values that kubectl get namespace --show-labels prints",
    ),
    metadata=("labels",),
    pod_updates=True,
)
