"""Schedulers of the pods of teams in place of kube-scheduler, with a queue for each team: YuniKorn
(yunikorn.apache.org) and Volcano (volcano.sh). A stack has one of them or Kueue.

A queue counts a resource over all pools, `nvidia.com/gpu` whichever pool it is of; `spec.settings.checks.schedulers`
refuses what a team's settings say beyond that. Pods get their scheduler and queue from the API server
(`components.admission.scheduler`), so YuniKorn's own admission controller, which fails open, isn't installed.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import yaml

from components.base.addon import AddOnContext, AddOnFacts, ChartAddOn
from components.base.controllers import Controller, Scheduler
from components.base.placement import sized, uncapped
from components.tenancy.network_policies import MONITORING
from spec.catalog.software import CHARTS
from spec.pools.pool_spec import PoolSpec
from spec.quantities import CPU, quantity, total
from spec.settings.addons import batch
from spec.settings.teams import Team
from spec.teams import labels
from spec.teams.shares import amounts

REST: Final = 9080
"""Port of YuniKorn's REST API, which also serves its metrics, without authentication (yunikorn-k8shim v1.8.0)."""
USER: Final = 4444  # user of YuniKorn's image (yunikorn-k8shim v1.8.0, deployments/image/scheduler/Dockerfile)


def resources(team: Team, pools: Mapping[str, PoolSpec], part: str) -> dict[str, str]:
    """Resources of a team over all pools, by the names of Kubernetes.

    Args:
        team: The team.
        pools: Pools by name.
        part: `nominal_quota`, `maximum` or `lendable` of each share.
    """
    summed = total(amounts(pools[pool], getattr(share, part)) for pool, share in team.shares.items())
    return {name: quantity(name, amount) for name, amount in sorted(summed.items())}


def yunikorn_queues(teams: Mapping[str, Team], pools: Mapping[str, PoolSpec], *, node_sort_policy: str) -> str:
    """YuniKorn's `queues.yaml`: below `root` one queue for each team, guaranteed its nominal quota, and limited to that
    and what it may borrow."""

    def named(values: Mapping[str, str]) -> dict[str, str]:
        # Its name of CPU (yunikorn-core v1.8.0, pkg/common/constants.go); others are those of Kubernetes.
        return {"vcore" if name == CPU else name: value for name, value in values.items()}

    children = [
        {
            "name": name,
            "resources": {
                "guaranteed": named(resources(team, pools, "nominal_quota")),
                "max": named(resources(team, pools, "maximum")),
            },
        }
        for name, team in sorted(teams.items())
    ]
    partition = {
        "name": "default",
        # A queue that isn't here is never made: an application without one of these is rejected.
        "placementrules": [{"name": "provided", "create": False}],
        "nodesortpolicy": {"type": node_sort_policy},
        "queues": [{"name": "root", "submitacl": "*", **({"queues": children} if children else {})}],
    }
    return str(yaml.safe_dump({"partitions": [partition]}, sort_keys=False))


class Yunikorn(ChartAddOn[batch.Yunikorn]):
    """The scheduler. Its placeholders hold nodes for the pods of a gang, in the namespaces of teams."""

    name = "yunikorn"
    software = CHARTS["yunikorn"]
    controllers = (Controller(account="yunikorn-admin", makes=("Pod",)),)
    scheduler = Scheduler(
        name="yunikorn",
        holder="labels",
        queue="yunikorn.apache.org/queue",
        parent="root.",
        app="yunikorn.apache.org/app-id",
        # yunikorn-k8shim v1.8.0, pkg/common/utils/utils.go, GetApplicationIDFromPod.
        other_apps=("yunikorn.apache.org/app-id", "applicationId", "spark-app-selector"),
    )

    def boundaries(self, _facts: AddOnFacts) -> Mapping[str, Mapping[str, Any]]:
        """Who reaches its API: Prometheus alone."""
        monitoring = {"namespaceSelector": {"matchLabels": {labels.NAMESPACE: MONITORING}}}
        spec = {
            "podSelector": {},
            "policyTypes": ["Ingress"],
            "ingress": [{"from": [monitoring], "ports": [{"protocol": "TCP", "port": REST}]}],
        }
        return {"ingress": _object("networking.k8s.io/v1", "NetworkPolicy", spec)}

    def values(self, context: AddOnContext) -> dict[str, Any]:
        """Values of the chart that differ from its defaults."""
        memory = self.settings.memory_gib
        sort = self.settings.node_sort_policy
        queues = yunikorn_queues(context.teams, context.pools, node_sort_policy=sort)
        return {
            "image": {"tag": f"scheduler-{self.software.version}", "pullPolicy": "IfNotPresent"},
            "embedAdmissionController": False,
            "enableWebService": False,
            "resources": uncapped("200m", f"{memory}Gi"),
            "goMemoryLimit": f"{memory * 768}MiB",
            "yunikornDefaults": {
                "queues.yaml": queues,
                # Pods without an owner are applications of their own.
                "admissionController.filtering.generateUniqueAppId": "true",
            },
            "podSecurityContext": {
                "runAsNonRoot": True,
                "runAsUser": USER,
                "seccompProfile": {"type": "RuntimeDefault"},
            },
            "schedulerSecurityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
            # Without it no pod of a team starts.
            "priorityClassName": "system-cluster-critical",
            **context.placement,
        }

    def objects(self, context: AddOnContext) -> dict[str, Mapping[str, Any]]:
        """What Prometheus reads; the chart has no monitor."""
        if not context.monitored:
            return {}
        selected = {"matchLabels": {"app": "yunikorn", "component": "yunikorn-scheduler"}}
        spec = {"selector": selected, "podMetricsEndpoints": [{"port": "http1", "path": "/ws/v1/metrics"}]}
        return {"monitor": _object("monitoring.coreos.com/v1", "PodMonitor", spec)}


def _object(version: str, kind: str, spec: Mapping[str, Any]) -> dict[str, Any]:
    metadata = {"name": Yunikorn.name, "namespace": Yunikorn.namespace.name}
    return {"apiVersion": version, "kind": kind, "metadata": metadata, "spec": dict(spec)}


CONFIGURATION: Final = Path(__file__).with_name("volcano.yaml").read_text(encoding="utf-8")
"""Volcano's scheduler: its defaults (chart 1.15.1, config/volcano-scheduler.conf), with `capacity`, which knows what a
queue deserves, in place of `proportion`, which knows weights, and with `reclaim`, which takes back what was borrowed
(volcano v1.15.1, docs/user-guide/how_to_use_capacity_plugin.md)."""


def volcano_queue(name: str, team: Team, pools: Mapping[str, PoolSpec]) -> dict[str, Any]:
    """The Queue of a team: it deserves its nominal quota, its capability is that and what it may borrow, and nobody
    borrows what it doesn't lend."""
    limited = any(share.lending_limit is not None for share in team.shares.values())
    kept = total(
        amounts(pools[pool], share.nominal_quota - share.lendable) for pool, share in sorted(team.shares.items())
    )
    guarantee = {key: quantity(key, amount) for key, amount in sorted(kept.items())}
    return {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "Queue",
        "metadata": {"name": name, "labels": labels.of_team(name, team)},
        "spec": {
            "reclaimable": True,
            "deserved": resources(team, pools, "nominal_quota"),
            "capability": resources(team, pools, "maximum"),
            **({"guarantee": {"resource": guarantee}} if limited else {}),
        },
    }


class Volcano(ChartAddOn[batch.Volcano]):
    """Scheduler, controllers and admission. Its containers add DAC_OVERRIDE, which the level `restricted` refuses."""

    name = "volcano"
    software = CHARTS["volcano"]
    scheduler = Scheduler(
        name="volcano", holder="annotations", queue="scheduling.volcano.sh/queue-name", pod_groups=True
    )

    def values(self, context: AddOnContext) -> dict[str, Any]:
        """Values of the chart that differ from its defaults."""
        replicas = self.settings.replicas
        return {
            "custom": {
                "admission_replicas": replicas,
                "controller_replicas": replicas,
                "scheduler_replicas": replicas,
                "leader_elect_enable": replicas > 1,
                "default_ns": context.placement["nodeSelector"],
                "default_tolerations": context.placement["tolerations"],
                "admission_resources": sized("50m", "256Mi"),
                "controller_resources": sized("100m", "512Mi"),
                "scheduler_resources": sized("200m", "1Gi"),
                "scheduler_config_override": CONFIGURATION,
                # Its webhooks fail closed, so they apply only to team namespaces and never to those of the platform.
                "webhooks_namespace_selector_expressions": [{"key": labels.TEAM, "operator": "Exists"}],
            }
        }

    def objects(self, context: AddOnContext) -> dict[str, Mapping[str, Any]]:
        """The queue of each team."""
        return {
            f"queue-{name}": volcano_queue(name, team, context.pools) for name, team in sorted(context.teams.items())
        }
