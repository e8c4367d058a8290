"""A rule for Ray clusters: where the head runs, and which pods KubeRay adds to those that a queue counts."""

from __future__ import annotations

from typing import Final

from components.admission import kinds, placement
from components.admission.context import StackContext
from components.admission.rule import Message, Rule
from components.admission.templates import HEADS, KIND, SUBMITTERS, O, ray, workers
from spec.pools import keys

_FEWER: Final = "has(g.minReplicas) && int(g.minReplicas) > (has(g.replicas) ? int(g.replicas) : 0)"
# Kueue counts `replicas` (v0.19.2, pkg/controller/jobs/raycluster/common.go, effectiveWorkerCount), and KubeRay starts
# at least `minReplicas` (v1.6.1, GetWorkerGroupDesiredReplicas).
_GROUP: Final = f"{_FEWER} ? 'minReplicas of group ' + string(g.groupName) : ''"
_UNCOUNTED: Final = ray(lambda spec: workers(spec, _GROUP))
_INGRESS: Final = ray(
    lambda spec: (
        f"(has({spec}.headGroupSpec.enableIngress) && {spec}.headGroupSpec.enableIngress ? ['enableIngress'] : [])"
    )
)
# While a RayService upgrades, KubeRay runs a second cluster, and Kueue counts one (v1.6.1, RayServiceUpgradeStrategy;
# v0.19.2, pkg/controller/jobs/rayservice, PodSets).
_STRATEGY: Final = f"{O}.spec.upgradeStrategy"
_SECOND: Final = (
    f"({KIND} == '{kinds.RAY_SERVICE.kind}' && !(has({_STRATEGY}) && has({_STRATEGY}.type) && "
    f"{_STRATEGY}.type == 'None') ? ['upgradeStrategy.type'] : [])"
)
# Kueue leaves out a RayJob with a clusterSelector, and with it the pod that submits it (v0.19.2, RayJob.Skip).
_SUBMITTER: Final = (
    f"({SUBMITTERS}.exists(s, s.containers.exists({placement.ASKS})) ? ['GPUs of submitterPodTemplate'] : [])"
)


def ray_cluster(context: StackContext) -> Rule:
    """The head of a Ray cluster is not on Spot, and its pods are those that the queue counts."""
    reaches = f"p.spot && ({placement.OFFERS}) && ({placement.SELECTED}) && ({placement.TOLERATED})"
    spot = f"variables.heads.exists(s, variables.pools.exists(p, {reaches}))"
    beyond = f" + {_UNCOUNTED} + {_SECOND} + {_SUBMITTER}" if context.queues else ""
    return Rule(
        name="ray-cluster",
        kinds=kinds.RAY,
        what="a Ray cluster keeps its head off Spot nodes, and has no pods beyond those that its queue counts",
        why="all work is lost with the head; workers above `replicas`, and the second cluster of a RayService that "
        "upgrades, would use GPUs outside every quota; and an Ingress would publish the dashboard, which runs code "
        "for whoever reaches it",
        variables={
            **context.variables,
            "heads": HEADS,
            "wrong": f"({spot} ? ['a head that may run on Spot'] : []) + {_INGRESS}{beyond}",
        },
        expression="variables.wrong.all(t, t == '')",
        message=Message(
            wrong="this Ray cluster is not as its queue counts it, or not safe: fix ",
            found="variables.wrong.filter(t, t != '').join(', ')",
            shown="fields",
            fix=f". Select a pool for the head that is not Spot: nodeSelector {{{keys.POOL}: POOL}}; set minReplicas "
            "to at most replicas, and upgradeStrategy.type of a RayService to None; remove enableIngress, and GPUs of "
            "the submitter",
        ),
    )
