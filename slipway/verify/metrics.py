"""What Prometheus knows: every team's namespaces and cost, that of every node, and the GPUs that are always there.

It is asked through the API server's proxy (Kubernetes, "Access Services Running on Clusters").
"""

from collections.abc import Callable, Iterator
from typing import Any, Final
from urllib.parse import urlencode

from components.addons.kube_prometheus_stack import NAMESPACE, RELEASE
from components.observability.promql import NAMESPACE_TEAM
from components.observability.recording import GPU_ACTIVE, NODE_COST, TEAM_COST
from sandbox.kubernetes.client import ApiError
from slipway.verify.checks import CheckStatus, ClusterCheck
from slipway.verify.probes import cheapest
from spec.pools.resolution import resolve_all
from spec.settings.platform import Platform

PATH: Final = f"/api/v1/namespaces/{NAMESPACE}/services/http:{RELEASE}-prometheus:9090/proxy/api/v1/query"
SUBJECT: Final = "metrics"


def of_metrics(get: Callable[[str], Any], platform: Platform, *, simulated: bool) -> Iterator[ClusterCheck]:
    """The checks of Prometheus; none if the stack has none of its own.

    Args:
        get: GETs a path of the API server; raises ApiError.
    """
    if platform.addons.kube_prometheus_stack is None:
        return
    for what, query, wanted in _questions(platform):
        if simulated:
            yield ClusterCheck(SUBJECT, what, CheckStatus.NEEDS_AWS, "no container runs in the sandbox")
            continue
        try:
            answer = get(f"{PATH}?{urlencode({'query': query})}")
        except ApiError as error:
            yield ClusterCheck(SUBJECT, what, CheckStatus.FAILED, str(error))
            continue
        found = {_label(one) for one in answer["data"]["result"]}
        lacks = sorted(wanted - found)
        none = "" if found or wanted else f"no series of {query}"
        status = CheckStatus.FAILED if lacks or none else CheckStatus.PASSED
        yield ClusterCheck(SUBJECT, what, status, f"none for {', '.join(lacks)}" if lacks else none)


def _questions(platform: Platform) -> Iterator[tuple[str, str, frozenset[str]]]:
    """What is asked, the query, and the values of its label that must be in the answer; any, if there are none."""
    pools = resolve_all(platform)
    spaces = {
        name
        for team, settings in platform.teams.items()
        for name in settings.namespaces_of(team)
        if not settings.retired
    }
    yield "the namespaces of all teams have their team", f"max by (namespace) ({NAMESPACE_TEAM})", frozenset(spaces)
    ran = frozenset(name for name, team in platform.teams.items() if not team.retired and cheapest(team, pools))
    yield "the teams have a cost", f"max by (team) (max_over_time({TEAM_COST}[1h]))", ran
    kept = [pool for pool in pools.values() if pool.settings.min and not pool.waiting]
    with_nodes = frozenset(pool.name for pool in kept)
    yield "the nodes of pools that always have some have a cost", f"max by (pool) ({NODE_COST})", with_nodes
    if platform.addons.gpu_operator and any(pool.gpu for pool in kept):
        yield "metrics of GPUs arrive", f"count by (node) ({GPU_ACTIVE})", frozenset()


def _label(series: dict[str, Any]) -> str:
    """The value of the only label of a series."""
    return next(iter(series["metric"].values()), "")
