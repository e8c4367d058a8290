"""A rule for the locks that workflows hold."""

from __future__ import annotations

from typing import Final

from components.admission import kinds
from components.admission.rule import Message, Rule
from components.admission.templates import KIND, O

_SPEC: Final = f"({KIND} == 'CronWorkflow' ? {O}.spec.workflowSpec : {O}.spec)"
_LOCKS: Final = "h.synchronization"
# In CEL `namespace` is a reserved word, so it is an index here.
_FOREIGN: Final = (
    f"has({_LOCKS}) && ['mutexes', 'semaphores'].exists(f, f in {_LOCKS} && "
    f"{_LOCKS}[f].exists(l, 'namespace' in l && l['namespace'] != '' && l['namespace'] != request.namespace))"
)
"""Each lock may name a namespace, by default that of the workflow (argo-workflows v4.0.6, CRD, `synchronization`)."""
WORKFLOW_LOCKS: Final = Rule(
    name="workflow-locks",
    kinds=kinds.WORKFLOWS,
    what="a workflow takes mutexes and semaphores of its own namespace",
    why="whoever holds a lock of another team stops each of its workflows that waits for it",
    variables={
        "holders": f"[{_SPEC}].map(w, [w] + (has(w.templateDefaults) ? [w.templateDefaults] : []) + "
        "(has(w.templates) ? w.templates : []))"
    },
    expression=f"!variables.holders.exists(hs, hs.exists(h, {_FOREIGN}))",
    message=Message(
        wrong="a workflow of a team takes no locks of other namespaces: ",
        fix="remove `namespace` below synchronization",
    ),
)
