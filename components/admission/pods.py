"""Rules for all pods, and for what only controllers write to them."""

from __future__ import annotations

from typing import Final

from components.admission import kinds
from components.admission.rule import Message, Rule, literal
from components.admission.templates import CONTAINERS, JOINED, KIND, SPECS, USER, O
from spec.teams.labels import COST_CENTER, PROJECT, TEAM

_LAST: Final = "i.split('/')[i.split('/').size() - 1]"
_LOOSE: Final = f"!i.contains('@') && (!{_LAST}.contains(':') || i.endsWith(':latest'))"
_MOUNTED: Final = "has(v.image) && has(v.image.reference)"
_IMAGES: Final = (
    "l.filter(c, has(c.image)).map(c, string(c.image))",
    f"(has(s.volumes) ? s.volumes.filter(v, {_MOUNTED}).map(v, string(v.image.reference)) : [])",
)
_OLD: Final = "dyn(oldObject)"
# A pod older than the rule keeps its images when Kueue removes its gate.
_SAME: Final = " && ".join(
    f"(has({O}.spec.{each}) ? {O}.spec.{each}.map(c, c.image) : []) == "
    f"(has({_OLD}.spec.{each}) ? {_OLD}.spec.{each}.map(c, c.image) : [])"
    for each in ("containers", "initContainers", "ephemeralContainers")
)
IMAGE_TAG: Final = Rule(
    name="image-tag",
    kinds=(*kinds.WITH_PODS, kinds.EPHEMERAL_CONTAINERS),
    what="an image has a tag other than `latest`, or a digest",
    why="each node would run the version that it happened to pull, and a restarted job could run a different program",
    variables={
        "specs": SPECS,
        "containers": CONTAINERS,
        "loose": f"variables.containers.map(l, {_IMAGES[0]}.filter(i, {_LOOSE}).join(', ')) + "
        f"variables.specs.map(s, {_IMAGES[1]}.filter(i, {_LOOSE}).join(', '))",
    },
    expression=f"variables.loose.all(t, t == '') || ({KIND} == 'Pod' && request.operation == 'UPDATE' && "
    f"request.subResource == '' && {_SAME})",
    message=Message(
        wrong="image ",
        found=f"variables.loose{JOINED}",
        shown="images",
        fix=" has no fixed version: use a tag other than latest, like registry/name:1.2.3, or a digest, @sha256:...",
    ),
    pod_updates=True,
)

_HOST: Final = (
    "(['hostNetwork', 'hostPID', 'hostIPC'].filter(f, f in s && s[f]) + "
    "(has(s.volumes) ? s.volumes.filter(v, has(v.hostPath)).map(v, 'hostPath of volume ' + v.name) : []))"
)
_PRIVILEGED: Final = (
    "(l.filter(c, has(c.securityContext) && has(c.securityContext.privileged) && c.securityContext.privileged)"
    ".map(c, 'privileged of container ' + c.name) + "
    "l.filter(c, has(c.ports) && c.ports.exists(q, has(q.hostPort) && q.hostPort > 0))"
    ".map(c, 'hostPort of container ' + c.name))"
)
HOST_ACCESS: Final = Rule(
    name="host-access",
    kinds=(*kinds.WITH_PODS, kinds.EPHEMERAL_CONTAINERS),
    what="a pod has no access to its node: no privileges, and no paths, network, processes or ports of the host",
    why="it could read other teams' data there and use the node's AWS permissions; Pod Security refuses such pods, "
    "and this rule shows the error to the user who applies the Job or Deployment",
    variables={
        "specs": SPECS,
        "containers": CONTAINERS,
        "held": f"variables.specs.map(s, {_HOST}.join(', ')) + variables.containers.map(l, {_PRIVILEGED}.join(', '))",
    },
    expression="variables.held.all(t, t == '')",
    message=Message(
        wrong="pods of a team have no access to their node: remove ",
        found=f"variables.held{JOINED}",
        shown="fields",
        fix=". Use an emptyDir for scratch space, a volume claim for data",
    ),
)


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
