"""Kubecost 3: costs by team, project and job, with budgets and savings, stored in the bucket `state`.

It doesn't use Prometheus: an agent reads the cluster and writes to S3, and an aggregator reads that. The bucket is the
source of the cost history; the aggregator's database is only a copy.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import pulumi

from components.base.addon import AddOnContext, AddOnFacts, ChartAddOn, Permissions
from components.base.iam import Inline, Statement, document
from components.base.placement import sized, uncapped
from components.storage.buckets import COSTS
from components.storage.key import data_key_use_on
from spec.catalog import regions
from spec.catalog.software import CHARTS
from spec.settings.addons.cost import Kubecost as Settings
from spec.teams.labels import PROJECT, TEAM

NAMESPACE: Final = "kubecost"
ACCOUNTS: Final = ("kubecost", "kubecost-finops-agent")
"""Service accounts: the aggregator's, which the chart names after the release (v3.2.1, kubecost.serviceAccountName),
and the agent's, which the values name."""


class Kubecost(ChartAddOn[Settings]):
    """Agent, aggregator, forecasting and web UI, without the parts that would change the cluster."""

    name = "kubecost"
    software = CHARTS["kubecost"]
    volumes = True

    def permissions(self, context: AddOnContext) -> Sequence[Permissions]:
        """Permissions on the bucket for both service accounts."""
        bucket = context.storage.buckets["state"]
        inline = Inline(document=bucket.arn.apply(lambda arn: access(arn, data_key_use_on(context.cluster))))
        return [Permissions(service_account=account, policy=inline) for account in ACCOUNTS]

    def values(self, context: AddOnContext) -> dict[str, Any]:
        """Values for this cluster and its bucket."""
        return values(
            self.settings,
            cluster=context.cluster.name,
            store=store(context.storage.buckets["state"].name, context.cluster.region),
            storage_class=context.storage.classes["block"],
            placement=context.placement,
            budgets=budgets(context),
        )


def access(bucket_arn: str, key: Statement) -> str:
    """Permissions to read and write its prefix of the bucket.

    The agent checks whether an object exists before it writes it, and treats 403 as a failure (opencost,
    core/pkg/exporter/exporter.go, `Export`). S3 answers 404 only to callers with permission to list (S3 API Reference,
    HeadObject), and matches the object's key against `s3:prefix` for that, as Ceph's gateway does after AWS (ceph, rgw,
    `read_obj_policy`).
    """
    return document(
        Statement("Locate", ["s3:GetBucketLocation"], [bucket_arn]),
        Statement("List", ["s3:ListBucket"], [bucket_arn], conditions={"StringLike": {"s3:prefix": [f"{COSTS}/*"]}}),
        Statement("Objects", ["s3:DeleteObject", "s3:GetObject", "s3:PutObject"], [f"{bucket_arn}/{COSTS}/*"]),
        key,
    )


def store(bucket: pulumi.Input[str], region: str) -> pulumi.Output[str]:
    """Kubecost's storage configuration. It contains no access keys, so the pods' own permissions are used.

    The chart passes the text through. `prefix` is on the same level as `type`, as in Thanos (opencost, since v1.100,
    core/pkg/storage/bucketstorage.go, `StorageConfig`, which the agent reads it with; read 2026-11).
    """
    endpoint = f"s3.{region}.{regions.get(region).dns_suffix}"
    return pulumi.Output.format(
        "type: S3\nprefix: {3}\nconfig:\n  bucket: {0}\n  endpoint: {1}\n  region: {2}\n",
        bucket,
        endpoint,
        region,
        COSTS,
    )


def values(
    settings: Settings,
    *,
    cluster: str,
    store: pulumi.Input[str],
    storage_class: str,
    placement: Mapping[str, Any],
    budgets: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:
    """Values of the chart (3.2.1) that differ from its defaults.

    Args:
        settings: Settings of the add-on.
        cluster: Name of the cluster, its ID among others in the same bucket.
        store: Storage configuration.
        storage_class: StorageClass of its volumes.
        placement: `nodeSelector` and `tolerations` of its pods.
        budgets: Budgets of the teams.
    """
    return {
        "global": {"clusterId": cluster, "federatedStorage": {"config": store}, "defaultStorageClass": storage_class},
        **_parts(settings, placement),
        **_without(),
        "kubecostProductConfigs": {
            "labelMappingConfigs": {"team_label": sanitized(TEAM), "product_label": sanitized(PROJECT)},
            **({"budgets": {"budgetsConfig": list(budgets)}} if budgets else {}),
        },
    }


def _parts(settings: Settings, placement: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "finopsagent": {
            **placement,
            # Values of its subchart, which has CPU limits.
            "resources": uncapped("200m", "1Gi"),
            "serviceAccount": {"create": True, "name": ACCOUNTS[1]},
            # The agent mounts this Secret even though Cloudability is off, and the chart creates it only if that is on:
            # the pod would never start (kubecost v3.2.1, charts/finops-agent/templates, deployment.yaml and
            # cloudability-secret.yaml).
            "agent": {"cloudability": {"secret": {"create": False}}},
        },
        "aggregator": {
            **placement,
            "retention1d": settings.retention_days,
            "aggregatorDbStorage": {"storageRequest": f"{settings.storage_gib}Gi"},
            "resources": sized("250m", f"{settings.memory_gib}Gi"),
        },
        "frontend": {**placement, "resources": sized("10m", "128Mi")},
        "forecasting": {**placement, "resources": uncapped("200m", "1Gi")},
    }


def _without() -> dict[str, Any]:
    """Disabled parts, and why."""
    off = {"enabled": False}
    return {
        # Local storage, for clusters without a bucket.
        "localStore": off,
        # Reads a Cost and Usage Report, which is set up in the management account.
        "cloudCost": off,
        # Can change requests and delete namespaces; recommendations don't need it.
        "clusterController": off,
        # A host-network DaemonSet on every node, for costs of cross-zone traffic.
        "networkCosts": off,
        "telemetry": off,
        "reporting": {"logCollection": False},
    }


def sanitized(label: str) -> str:
    """A label as Kubecost stores it: characters other than letters and digits become underscores, as in Prometheus."""
    return re.sub(r"[^A-Za-z0-9_]", "_", label)


def budgets(facts: AddOnFacts) -> list[dict[str, Any]]:
    """A monthly budget for each team that has one; email goes to the platform's notification addresses."""
    emails = list(facts.emails)
    recipients = {"emails": emails} if emails else {}
    return [
        {
            "name": f"Team {name}",
            "budgetType": "allocations",
            "interval": "monthly",
            "intervalDay": 1,
            "spendLimit": team.budget_usd,
            "values": {"label": [f"{sanitized(TEAM)}:{name}"]},
            "actions": [{"percentage": percent, **recipients} for percent in facts.thresholds],
        }
        for name, team in sorted(facts.teams.items())
        if team.budget_usd is not None
    ]
