"""How each price of the catalog is found in AWS's price list: by service, usage type and other attributes.

Usage types are those of the AWS Cost and Usage Report; outside us-east-1 they start with a region code (`EUC1-`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

_POSTGRES: Final = {"databaseEngine": "PostgreSQL", "deploymentOption": "Single-AZ"}
_PREFIX: Final = r"(?:[A-Z]{2,4}[0-9]?-|[a-z]{2}(?:-[a-z]+)+-[0-9]-)?"
"""The region code; KMS uses the region's name instead."""


@dataclass(frozen=True, kw_only=True)
class Query:
    """A query for one price.

    Attributes:
        service: Service code of the price list.
        usage: Usage type without the region code.
        unit: Unit of the catalog.
        where: Attributes that the product must have.
        per: Catalog units per unit of the list: a GiB/s is 1024 MiB/s.
    """

    service: str
    usage: str
    unit: str
    where: Mapping[str, str] = field(default_factory=dict)
    per: int = 1

    def filters(self, region: str) -> list[dict[str, str]]:
        """Filters of GetProducts, without the usage type: its prefix is not known, so `matches` checks it."""
        fields = {"regionCode": region, **self.where}
        return [{"Type": "TERM_MATCH", "Field": key, "Value": value} for key, value in sorted(fields.items())]

    def matches(self, attributes: Mapping[str, Any]) -> bool:
        """Whether a product of the list matches this query."""
        usage = str(attributes.get("usagetype", ""))
        return re.fullmatch(_PREFIX + re.escape(self.usage), usage) is not None and all(
            attributes.get(key) == value for key, value in self.where.items()
        )


def _lustre(tier: str) -> Query:
    where = {"fileSystemType": "Lustre", "throughputCapacity": tier}
    return Query(service="AmazonFSx", usage=f"Storage.SSD.{tier}", unit="GB-month", where=where)


def _balancer(usage: str, kind: str, unit: str) -> Query:
    return Query(service="AWSELB", usage=usage, unit=unit, where={"productFamily": f"Load Balancer-{kind}"})


QUERIES: Final[Mapping[str, Query]] = MappingProxyType(
    {
        "eks-cluster": Query(service="AmazonEKS", usage="AmazonEKS-Hours:perCluster", unit="hour"),
        "eks-cluster-extended": Query(service="AmazonEKS", usage="AmazonEKS-Hours:extendedSupport", unit="hour"),
        "nat-gateway": Query(service="AmazonEC2", usage="NatGateway-Hours", unit="hour"),
        "nat-gateway-data": Query(service="AmazonEC2", usage="NatGateway-Bytes", unit="GB"),
        "interface-endpoint": Query(service="AmazonVPC", usage="VpcEndpoint-Hours", unit="zone-hour"),
        "interface-endpoint-data": Query(service="AmazonVPC", usage="VpcEndpoint-Bytes", unit="GB"),
        "public-ipv4": Query(service="AmazonVPC", usage="PublicIPv4:InUseAddress", unit="hour"),
        "ebs-gp3": Query(service="AmazonEC2", usage="EBS:VolumeUsage.gp3", unit="GB-month"),
        "ebs-gp3-iops": Query(service="AmazonEC2", usage="EBS:VolumeP-IOPS.gp3", unit="IOPS-month"),
        "ebs-gp3-throughput": Query(
            service="AmazonEC2", usage="EBS:VolumeP-Throughput.gp3", unit="MiBps-month", per=1024
        ),
        "kms-key": Query(service="awskms", usage="KMS-Keys", unit="month"),
        "kms-request": Query(service="awskms", usage="KMS-Requests", unit="request"),
        "logs-ingested": Query(service="AmazonCloudWatch", usage="DataProcessing-Bytes", unit="GB"),
        "logs-vended": Query(service="AmazonCloudWatch", usage="VendedLog-Bytes", unit="GB"),
        "logs-stored": Query(service="AmazonCloudWatch", usage="TimedStorage-ByteHrs", unit="GB-month"),
        "cloudwatch-metric": Query(service="AmazonCloudWatch", usage="CW:MetricMonitorUsage", unit="month"),
        "transfer-internet": Query(service="AWSDataTransfer", usage="DataTransfer-Out-Bytes", unit="GB"),
        "transfer-zones": Query(service="AWSDataTransfer", usage="DataTransfer-Regional-Bytes", unit="GB"),
        "alb": _balancer("LoadBalancerUsage", "Application", "hour"),
        "alb-unit": _balancer("LCUUsage", "Application", "LCU-hour"),
        "nlb": _balancer("LoadBalancerUsage", "Network", "hour"),
        "nlb-unit": _balancer("LCUUsage", "Network", "NLCU-hour"),
        "fsx-lustre-persistent-2-125": _lustre("125"),
        "fsx-lustre-persistent-2-250": _lustre("250"),
        "fsx-lustre-persistent-2-500": _lustre("500"),
        "fsx-lustre-persistent-2-1000": _lustre("1000"),
        "efs-standard": Query(service="AmazonEFS", usage="TimedStorage-ByteHrs", unit="GB-month"),
        "efs-infrequent": Query(service="AmazonEFS", usage="IATimedStorage-ET-ByteHrs", unit="GB-month"),
        "efs-read": Query(service="AmazonEFS", usage="ETDataAccess-Bytes", unit="GB", where={"accessType": "Read"}),
        "efs-written": Query(service="AmazonEFS", usage="ETDataAccess-Bytes", unit="GB", where={"accessType": "Write"}),
        "backup-efs": Query(service="AWSBackup", usage="WarmStorage-ByteHrs-EFS", unit="GB-month"),
        "s3-standard": Query(
            service="AmazonS3", usage="TimedStorage-ByteHrs", unit="GB-month", where={"volumeType": "Standard"}
        ),
        "s3-write": Query(service="AmazonS3", usage="Requests-Tier1", unit="request"),
        "s3-read": Query(service="AmazonS3", usage="Requests-Tier2", unit="request"),
        "rds-gp3": Query(service="AmazonRDS", usage="RDS:GP3-Storage", unit="GB-month", where=_POSTGRES),
        "rds-backup": Query(
            service="AmazonRDS",
            usage="RDS:ChargedBackupUsage",
            unit="GB-month",
            where={"databaseEngine": "PostgreSQL"},
        ),
        "ecr-storage": Query(service="AmazonECR", usage="TimedStorage-ByteHrs", unit="GB-month"),
        "secret": Query(service="AWSSecretsManager", usage="AWSSecretsManager-Secrets", unit="month"),
        "secret-request": Query(service="AWSSecretsManager", usage="AWSSecretsManagerAPIRequest", unit="request"),
        "sqs-request": Query(
            service="AWSQueueService", usage="Requests", unit="request", where={"queueType": "Standard"}
        ),
        "sns-request": Query(service="AmazonSNS", usage="Requests-Tier1", unit="request"),
    }
)
"""Queries by price name in the catalog."""

DATABASE: Final = "rds-postgres-"


def query(name: str) -> Query | None:
    """The query for a price; None if no single product of the list has it."""
    if name.startswith(DATABASE):
        kind = name.removeprefix(DATABASE)
        return Query(service="AmazonRDS", usage=f"InstanceUsage:{kind}", unit="hour", where=_POSTGRES)
    return QUERIES.get(name)


def machine(kind: str) -> Query:
    """The query for an EC2 instance type: Linux, shared tenancy, no preinstalled software, on-demand."""
    where = {
        "instanceType": kind,
        "operatingSystem": "Linux",
        "tenancy": "Shared",
        "preInstalledSw": "NA",
        "capacitystatus": "Used",
        "licenseModel": "No License required",
    }
    return Query(service="AmazonEC2", usage=f"BoxUsage:{kind}", unit="hour", where=where)
