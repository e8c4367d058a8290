"""Ownership: what only controllers write."""

from __future__ import annotations

from typing import Final

from components.admission import kinds
from components.admission.rule import Message, Rule
from components.admission.templates import USER

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
)
