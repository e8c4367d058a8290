"""Seldon Core 2 (docs.seldon.ai/seldon-core-2): Models that share Servers, without Kafka (ADR 0166).

One controller watches the namespaces of teams for serving. In each of them a SeldonRuntime runs a scheduler, which
loads Models on Servers, and Envoy, which sends requests to them. Members create Servers, Models and Experiments.

Names, ports and defaults below are those of SeldonIO/seldon-core v2.10.2: its charts in k8s/helm-charts, its controller
in operator/.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pulumi

from components.base.addon import AddOn, AddOnContext, AddOnFacts, ChartRelease, Parts
from components.base.iam import Inline, pod_identity_role
from components.base.kubernetes import declare
from components.base.operator import ALL, RBAC, UNPRIVILEGED, rule, to_account
from components.base.placement import keeps_one
from components.observability.monitors import pod_monitor
from components.tenancy.roles import role_for
from components.tenancy.team import TeamOutputs
from components.tenancy.workload_permissions import models_document
from spec.catalog import regions
from spec.catalog.software import CHARTS
from spec.settings.addons.serving import SeldonCore as Settings
from spec.settings.teams import PriorityName, Team
from spec.teams import labels

GROUP: Final = "mlops.seldon.io"
CONTROLLER: Final = "seldon-v2-controller-manager"
ROLE: Final = "slipway-seldon-core"
SERVER_ACCOUNT: Final = "seldon-server"  # service account of Servers, which the controller creates
SCHEDULER: Final = "seldon-scheduler"
SCHEDULER_PORT: Final = 9004
ENVOY: Final = "seldon-envoy"
_NAME: Final = "app.kubernetes.io/name"
WITHOUT_KAFKA: Final = ("hodometer", "seldon-dataflow-engine", "seldon-modelgateway", "seldon-pipelinegateway")
"""Components without pods: those that connect to Kafka, and hodometer, which sends usage data to hodometer.seldon.io.
With `disable` instead of no replicas, their conditions would be missing and the SeldonRuntime never be Ready
(operator/apis/mlops/v1alpha1/seldonruntime_types.go)."""
STORAGE: Final = "seldon-rclone-gs-public"
"""Secret with the storage that Servers know. The chart's SeldonConfig names it, for a public bucket of Google."""
LICENSES: Final = "org.opencontainers.image.licenses"
"""Annotation of pods with the licence of what is in them (OCI Image Format Specification 1.1, annotations)."""
_CONFINED: Final = {"seccompProfile": {"type": "RuntimeDefault"}}
_KINDS: Final = ("experiments", "models", "pipelines", "seldonconfigs", "seldonruntimes", "serverconfigs", "servers")


def served(teams: Mapping[str, Team]) -> dict[str, str]:
    """Team of each namespace for serving; each of them has a SeldonRuntime."""
    return {
        namespace: name
        for name, team in sorted(teams.items())
        for namespace, space in team.namespaces_of(name).items()
        if space.purpose == "serving"
    }


def role() -> dict[str, Any]:
    """What the controller may do in a namespace for serving: the rules of the chart's ClusterRole, which is bound in
    the whole cluster, without changes of Secrets. It reads them because it grants that to schedulers and Servers."""
    read = ("get", "list", "watch")
    rules = [
        rule("", ["configmaps", "serviceaccounts", "services"], ALL),
        rule("", ["secrets"], read),
        rule("", ["events"], ("create", "patch")),
        rule("apps", ["deployments", "statefulsets"], ALL),
        rule("apps", ["deployments/status", "statefulsets/status"], ("get",)),
        rule("discovery.k8s.io", ["endpointslices"], ("list", "watch")),
        rule(GROUP, _KINDS, ALL),
        rule(GROUP, [f"{kind}/finalizers" for kind in _KINDS], ("update",)),
        rule(GROUP, [f"{kind}/status" for kind in _KINDS], ("get", "patch", "update")),
        rule(RBAC, ["rolebindings", "roles"], ALL),
    ]
    return role_for(ROLE, rules)


def access(namespace: str) -> dict[str, dict[str, Any]]:
    """The controller's way into a namespace for serving, by the suffix of the logical name."""
    controllers = {"namespaceSelector": {"matchLabels": {labels.NAMESPACE: SeldonCore.namespace.name}}}
    ports = [{"protocol": "TCP", "port": SCHEDULER_PORT}]
    return {
        "binding": {
            **_object(f"{RBAC}/v1", "RoleBinding", ROLE, namespace),
            **to_account(ROLE, CONTROLLER, SeldonCore.namespace.name),
        },
        "ingress": {
            **_object("networking.k8s.io/v1", "NetworkPolicy", SCHEDULER, namespace),
            "spec": {
                "podSelector": {"matchLabels": {_NAME: SCHEDULER}},
                "policyTypes": ["Ingress"],
                "ingress": [{"from": [controllers], "ports": ports}],
            },
        },
    }


def runtime(namespace: str, team: Team, settings: Settings, region: str) -> dict[str, dict[str, Any]]:
    """The SeldonRuntime of a namespace, and what goes with it, by the suffix of the logical name."""
    # Kueue queues by it as well: no job of the team takes the place of what all of its Models need.
    priority = str(next(name for name in PriorityName if name in team.priorities))

    def component(name: str, replicas: int, container: str) -> dict[str, Any]:
        pod = {"priorityClassName": priority, "containers": [{"name": container, "securityContext": UNPRIVILEGED}]}
        return {"name": name, "replicas": replicas, "serviceType": "ClusterIP", "podSpec": pod}

    overrides = [
        component(SCHEDULER, 1, "scheduler"),
        component(ENVOY, settings.envoy_replicas, "envoy"),
        *({"name": name, "replicas": 0} for name in WITHOUT_KAFKA),
    ]
    # The credentials are those of EKS Pod Identity (rclone.org, "Amazon S3", env_auth; 1.71.1).
    storage = f"type: s3\nname: s3\nparameters:\n  provider: AWS\n  env_auth: 'true'\n  region: {region}\n"
    budget = {
        **_object("policy/v1", "PodDisruptionBudget", ENVOY, namespace),
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {_NAME: ENVOY}}},
    }
    return {
        "storage": {
            **_object("v1", "Secret", STORAGE, namespace),
            "type": "Opaque",
            "stringData": {"s3": storage},
        },
        "runtime": {
            "apiVersion": f"{GROUP}/v1alpha1",
            "kind": "SeldonRuntime",
            # Its pods get its annotations.
            "metadata": {
                "name": "seldon",
                "namespace": namespace,
                "annotations": {LICENSES: settings.accept_license},
            },
            "spec": {
                "seldonConfig": "default",
                "overrides": overrides,
                # A runtime takes all of the SeldonConfig but this (seldonconfig_types.go, addDefaults).
                "config": {"tracingConfig": {"disable": True}},
            },
        },
        **({"budget": budget} if keeps_one(settings.envoy_replicas) else {}),
    }


def _object(api_version: str, kind: str, name: str, namespace: str) -> dict[str, Any]:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name, "namespace": namespace}}


class SeldonCore(AddOn[Settings]):
    """CRDs, and the controller with the configurations of runtimes and Servers. It elects a leader and has one replica,
    which the chart has no value for."""

    name = "seldon-core"
    software = CHARTS["seldon-core-v2-setup"]

    def boundaries(self, facts: AddOnFacts) -> Mapping[str, Mapping[str, Any]]:
        """What the controller may do, and that nobody reaches it. `SeldonSpace` declares what is in namespaces of
        teams."""
        inside = {
            f"{namespace}-{key}": each for namespace in served(facts.teams) for key, each in access(namespace).items()
        }
        return {**self._own(), **inside}

    def _own(self) -> dict[str, dict[str, Any]]:
        closed = _object("networking.k8s.io/v1", "NetworkPolicy", "ingress", self.namespace.name)
        return {"role": role(), "ingress": {**closed, "spec": {"podSelector": {}, "policyTypes": ["Ingress"]}}}

    def parts(self, context: AddOnContext) -> Parts:
        """Two releases, the CRDs first, and what Prometheus reads of Servers: requests and latency of each Model."""
        crds = CHARTS["seldon-core-v2-crds"]
        spaces = list(served(context.teams))
        servers = {"matchLabels": {_NAME: "seldon-server"}}
        monitor = pod_monitor(self.name, self.namespace.name, match=servers, port="metrics", of=spaces)
        return Parts(
            before=self._own(),
            releases=[
                ChartRelease(ref=crds, release_name=crds.name, values={}, crds_only=True),
                ChartRelease(ref=self.software, release_name=self.software.name, values=self._values(context)),
            ],
            objects={"monitor": monitor} if context.monitored and spaces else {},
        )

    def _values(self, context: AddOnContext) -> dict[str, Any]:
        volume = {"modelVolumeStorage": f"{self.settings.model_volume_storage_gib}Gi"}
        return {
            "controller": {
                "annotations": {LICENSES: self.settings.accept_license},
                "clusterwide": True,
                # Its own namespace, so that without others it doesn't watch all.
                "watchNamespaces": [self.namespace.name, *served(context.teams)],
                # Then the chart's ClusterRoleBinding names a role that doesn't exist.
                "skipClusterRoleCreation": True,
                "securityContext": _CONFINED,
            },
            "services": {"defaultServiceType": "ClusterIP"},
            "opentelemetry": {"disable": True},
            "scheduler": {"securityContext": _CONFINED},
            # Load balancers may reach it, where a team's admin makes an Ingress.
            "envoy": {"labels": {labels.SERVING: "true"}, "securityContext": _CONFINED},
            "serverConfig": {"securityContext": _CONFINED, "mlserver": volume, "triton": volume},
        }


@dataclass(frozen=True, kw_only=True)
class SeldonSpaceArgs:
    """Inputs of `SeldonSpace`.

    Attributes:
        namespace: The namespace.
        team: Its team, whose models its Servers read.
        settings: Settings of the add-on.
        context: The platform.
        after: The namespace, the add-on and what volumes need.
    """

    namespace: str
    team: TeamOutputs
    settings: Settings
    context: AddOnContext
    after: Sequence[pulumi.Resource]


class SeldonSpace(pulumi.ComponentResource):
    """Seldon Core in one namespace for serving: the runtime, the controller's access, and the identity of Servers."""

    PULUMI_TYPE: Final = "slipway:addons:SeldonSpace"

    def __init__(self, name: str, args: SeldonSpaceArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(self.PULUMI_TYPE, name, None, opts)
        cluster, storage = args.context.cluster, args.context.storage
        region = regions.get(cluster.region)
        s3 = f"s3.{region.name}.{region.dns_suffix}"
        known = pulumi.Output.all(bucket=storage.buckets["models"].arn, key=storage.key_arn)
        role_of_servers = pod_identity_role(
            f"{name}-role",
            cluster_arn=cluster.arn,
            namespace=args.namespace,
            service_account=SERVER_ACCOUNT,
            policy=Inline(document=known.apply(lambda arns: models_document(args.team.name, s3=s3, **arns))),
            parent=self,
            association=(f"{name}-association", cluster.known_as),
        )
        inside = pulumi.ResourceOptions(parent=self, depends_on=list(args.after), deleted_with=cluster.resource)
        allowed = [declare(f"{name}-{key}", each, inside) for key, each in access(args.namespace).items()]
        # Deleted before them: the controller ends it.
        before = [*args.after, *allowed, *role_of_servers.ready]
        opts_of_runtime = pulumi.ResourceOptions(parent=self, depends_on=before, deleted_with=cluster.resource)
        for key, each in runtime(args.namespace, args.team.settings, args.settings, cluster.region).items():
            declare(f"{name}-{key}", each, opts_of_runtime)
        self.register_outputs({})


def seldon_spaces(
    context: AddOnContext,
    teams: Mapping[str, TeamOutputs],
    installed: Sequence[pulumi.Resource],
    opts: pulumi.ResourceOptions,
) -> None:
    """Declare Seldon Core in the namespaces for serving; nothing if the add-on isn't enabled."""
    settings = context.addons.seldon_core
    if settings is None:
        return
    for namespace, team in served(context.teams).items():
        after = [*teams[team].namespaces[namespace], *installed, *context.storage.block]
        args = SeldonSpaceArgs(namespace=namespace, team=teams[team], settings=settings, context=context, after=after)
        # No longer than `spec.settings.checks.teams.WORKLOAD_ROLE`, whose length is checked.
        SeldonSpace(f"serve-{namespace}", args, opts)
