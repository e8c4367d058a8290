"""Rules for all pods."""

from __future__ import annotations

from typing import Final

from components.admission import kinds
from components.admission.rule import Message, Rule
from components.admission.templates import CONTAINERS, JOINED, SPECS

_LAST: Final = "c.image.split('/')[c.image.split('/').size() - 1]"
_LOOSE: Final = f"has(c.image) && !c.image.contains('@') && (!{_LAST}.contains(':') || c.image.endsWith(':latest'))"
IMAGE_TAG: Final = Rule(
    name="image-tag",
    kinds=(*kinds.WITH_PODS, kinds.EPHEMERAL_CONTAINERS),
    what="an image has a tag other than `latest`, or a digest",
    why="each node would run the version that it happened to pull, and a restarted job could run a different program",
    variables={
        "specs": SPECS,
        "containers": CONTAINERS,
        "loose": f"variables.containers.map(l, l.filter(c, {_LOOSE}).map(c, c.image).join(', '))",
    },
    expression="variables.loose.all(t, t == '')",
    message=Message(
        wrong="image ",
        found=f"variables.loose{JOINED}",
        shown="images",
        fix=" has no fixed version: use a tag other than latest, like registry/name:1.2.3, or a digest, @sha256:...",
    ),
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
