"""EC2 and VPC quotas against what the stack creates at its maximum."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from botocore.exceptions import ClientError

from slipway.account.context import Context, failed, note, ok
from slipway.findings import Finding
from spec.catalog import instances, quotas
from spec.catalog.quotas import Quota
from spec.settings.capacity import Market
from spec.settings.platform import Platform

_CLUSTER_GONE: Final = "ResourceNotFoundException"


def vcpus(context: Context) -> Iterator[Finding]:
    """Each quota on vCPUs covers its pools at their maximum.

    A pool counts with the largest of its types. Instances of a Capacity Block or an On-Demand Capacity Reservation are
    paid for already, and are left out.
    """
    needed, unlisted = vcpus_needed(context.platform)
    for key, pools in needed.items():
        quota = quotas.VCPUS[key]
        total, granted = sum(pools.values()), _granted(context, quota)
        parts = " + ".join(f"{name} {count}" for name, count in sorted(pools.items()))
        state = f"{granted:g} vCPUs, {total} needed ({parts})"
        if granted < total:
            yield failed(f"quota {quota.name}", state, _request(context, quota, total))
        else:
            yield ok(f"quota {quota.name}", state)
    for name in unlisted:
        yield note("quota", f"no quota is known for pool {name}'s types", "look it up in Service Quotas")


def vcpus_needed(platform: Platform) -> tuple[dict[str, dict[str, int]], list[str]]:
    """vCPUs of each pool at its maximum by the key of their quota, and the pools whose quota is not known."""
    needed: dict[str, dict[str, int]] = {}
    unlisted = []
    for name, pool in platform.capacities.items():
        if pool.capacity.market is Market.RESERVED:
            continue
        spot = pool.capacity.market is Market.SPOT
        largest: dict[str, int] = {}
        for kind in pool.instance_types:
            key = quotas.vcpu_key(kind, spot=spot)
            if key is None:
                unlisted.append(name)
                break
            largest[key] = max(largest.get(key, 0), instances.get(kind).vcpus)
        for key, count in largest.items():
            needed.setdefault(key, {})[name] = count * pool.max
    return needed, unlisted


def network(context: Context) -> Iterator[Finding]:
    """The quotas cover the stack's VPC and its Elastic IP addresses; skipped if the cluster or the VPC exists."""
    settings = context.platform.network
    if settings.existing is not None or _cluster_exists(context):
        return
    ec2 = context.client("ec2")
    used = {
        quotas.ADDRESSES: (len(ec2.describe_addresses()["Addresses"]), settings.nat_gateways),
        quotas.NETWORKS: (sum(1 for _ in context.pages("ec2", "describe_vpcs", "Vpcs")), 1),
    }
    for quota, (count, more) in used.items():
        granted = _granted(context, quota)
        state = f"{granted:g}, {count} in use and {more} needed"
        if count + more > granted:
            yield failed(f"quota {quota.name}", state, _request(context, quota, count + more))
        else:
            yield ok(f"quota {quota.name}", state)


def _granted(context: Context, quota: Quota) -> float:
    """The account's value; the default of AWS if it was never changed."""
    client, arguments = context.client("service-quotas"), {"ServiceCode": quota.service, "QuotaCode": quota.code}
    try:
        answer: Mapping[str, Mapping[str, float]] = client.get_service_quota(**arguments)
    except ClientError as error:
        if error.response["Error"]["Code"] != "NoSuchResourceException":
            raise
        answer = client.get_aws_default_service_quota(**arguments)
    return float(answer["Quota"]["Value"])


def _request(context: Context, quota: Quota, value: int) -> str:
    return (
        f"aws service-quotas request-service-quota-increase --service-code {quota.service} "
        f"--quota-code {quota.code} --desired-value {value} --region {context.region}"
    )


def _cluster_exists(context: Context) -> bool:
    try:
        context.client("eks").describe_cluster(name=context.platform.cluster_name)
    except ClientError as error:
        if error.response["Error"]["Code"] == _CLUSTER_GONE:
            return False
        raise
    return True
