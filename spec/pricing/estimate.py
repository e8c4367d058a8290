"""Floor, expectation and ceiling of a stack, part by part; and its bill as plain values, for the policy pack."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from decimal import Decimal
from typing import Any, Final

from spec import clock
from spec.catalog import kubernetes, prices
from spec.pools.pool_spec import PoolSpec
from spec.pools.resolution import resolve
from spec.pricing import services
from spec.pricing.data import data, network
from spec.pricing.model import Estimate, Item, Line, Pricer, Unpriced, of_pool, shared
from spec.pricing.pools import machines, metrics, of_fallback, running, storage
from spec.settings.capacity import Market
from spec.settings.cost import Limits
from spec.settings.platform import Platform

KEY_ROTATIONS: Final = 2
"""Rotations of a KMS key that are billed, a dollar each (price list, see `spec.catalog.prices`)."""


def estimate(platform: Platform, today: date | None = None) -> Estimate:
    """Price everything of a stack that costs money.

    Args:
        today: Day that decides whether a Kubernetes version is in extended support; that of `spec.clock`
            where not given.
    """
    today = today or clock.today()
    book = prices.book(platform.account.region)
    pricer = Pricer(book, today)
    found: list[Item] = [
        *_control_plane(platform, pricer, today),
        *_pools(platform, pricer),
        *network(platform, pricer),
        *data(platform, pricer),
        *_keys(platform, pricer),
        *_logs(platform, pricer),
        *_messages(platform, pricer),
    ]
    return Estimate(
        region=platform.account.region,
        lines=tuple(item for item in found if isinstance(item, Line)),
        unpriced=tuple(item for item in found if isinstance(item, Unpriced)),
    )


def _control_plane(platform: Platform, pricer: Pricer, today: date) -> Iterator[Item]:
    cluster = platform.cluster
    if cluster.existing is not None:
        return
    extended = cluster.support_type == "extended" and kubernetes.support(cluster.version, today) == "extended"
    name = "eks-cluster-extended" if extended else "eks-cluster"
    note = f"Kubernetes {cluster.version}, {'extended' if extended else 'standard'} support"
    yield pricer.line(services.EKS, "control plane", name, "cluster", minimum=1, note=note)
    if (tier := cluster.scaling_tier) not in (None, "standard"):
        yield pricer.line(services.EKS, "capacity of the control plane", f"eks-{tier}", "cluster", minimum=1)


def _pools(platform: Platform, pricer: Pricer) -> Iterator[Item]:
    for name, pool in platform.pools.items():
        spec = resolve(name, pool, platform.place)
        nodes, shares = running(spec, platform), of_pool(name, platform)
        for item in (*machines(spec, nodes, pricer), *storage(spec, nodes, pricer), *metrics(spec, nodes, pricer)):
            yield shared(item, shares)
        for fallback in spec.fallbacks:
            for item in of_fallback(fallback, pricer):
                yield shared(item, shares)


def _keys(platform: Platform, pricer: Pricer) -> Iterator[Item]:
    """Keys of cluster, storage, flow logs and notifications, as far as the stack makes them."""
    makes = (platform.cluster.existing is None, platform.storage.enabled, platform.network.flow_logs.enabled)
    if (keys := sum(makes) + platform.notifications.wanted) == 0:
        return
    yield pricer.line(services.KMS, "keys", "kms-key", "key", minimum=keys)
    note = "the first two yearly rotations of each are billed"
    yield pricer.line(
        services.KMS, "rotated keys", "kms-key", "rotation", minimum=0, maximum=keys * KEY_ROTATIONS, note=note
    )
    count = platform.cost.usage.requests.get("kms")
    yield pricer.used(services.KMS, "requests", "kms-request", "request", count, "cost.usage.requests.kms")


def _logs(platform: Platform, pricer: Pricer) -> Iterator[Item]:
    usage, logs = platform.cost.usage, services.CLOUDWATCH
    ours = platform.cluster.existing is None
    if ours:
        yield pricer.used(logs, "logs written", "logs-ingested", "GB", usage.logs_gib, "cost.usage.logsGib")
    shipped = platform.addons.fluent_bit
    if shipped is not None and shipped.destination == "cloudwatch":
        setting = "cost.usage.containerLogsGib"
        yield pricer.used(logs, "container logs written", "logs-ingested", "GB", usage.container_logs_gib, setting)
    if platform.network.flow_logs.enabled:
        setting = "cost.usage.flowLogsGib"
        yield pricer.used(logs, "flow logs written", "logs-vended", "GB", usage.flow_logs_gib, setting)
    if ours or platform.network.flow_logs.enabled or shipped is not None:
        yield pricer.used(logs, "logs kept", "logs-stored", "GB", usage.logs_kept_gib, "cost.usage.logsKeptGib")


def _messages(platform: Platform, pricer: Pricer) -> Iterator[Item]:
    requests = platform.cost.usage.requests
    existing = platform.cluster.existing
    if platform.karpenter_pools and not (existing and existing.instance_profile):
        item, setting = "Spot interruption notices", "cost.usage.requests.sqs"
        yield pricer.used(services.MESSAGES, item, "sqs-request", "request", requests.get("sqs"), setting)
    if platform.notifications.wanted:
        item, setting = "notifications", "cost.usage.requests.sns"
        yield pricer.used(services.MESSAGES, item, "sns-request", "request", requests.get("sns"), setting)
    if platform.addons.databases():
        item, setting = "reads of secrets", "cost.usage.requests.secrets"
        count = requests.get("secrets")
        yield pricer.used(services.SECRETS, item, "secret-request", "request", count, setting)


PREMIUM: Final = ("p4", "p5", "p6")
"""Instance families that cost from 20 to 120 USD per hour (on demand, us-east-1; `spec.catalog.instances`)."""


def bill_of(platform: Platform, specs: Mapping[str, PoolSpec]) -> dict[str, Any]:
    """The bill of a stack, without unpriced items, which `slipway cost` lists."""
    whole = estimate(platform)
    by_pool = whole.by_pool()
    return bill_facts(
        floor=whole.floor,
        expected=whole.expected,
        ceiling=whole.ceiling,
        pools={name: by_pool[name].ceiling if name in by_pool else Decimal(0) for name in specs},
        specs=specs,
        limits=platform.cost.limits,
    )


def bill_facts(
    *,
    floor: Decimal,
    expected: Decimal,
    ceiling: Decimal,
    pools: Mapping[str, Decimal],
    specs: Mapping[str, PoolSpec],
    limits: Limits,
) -> dict[str, Any]:
    """A bill in plain values, keys in camel case like all outputs of components.

    Args:
        floor: USD per hour with everything at its minimum.
        expected: USD per hour with schedules, Spot and the use that the settings declare.
        ceiling: USD per hour with everything at its maximum.
        pools: USD per hour of each pool at its maximum.
    """
    return {
        "floorUsdPerHour": _usd(floor),
        "expectedUsdPerHour": _usd(expected),
        "ceilingUsdPerHour": _usd(ceiling),
        "pools": {name: _usd(amount) for name, amount in sorted(pools.items())},
        "premiumOnDemand": sorted(premium(specs.values())),
        "limits": limits.model_dump(mode="json", by_alias=True, exclude_none=True),
    }


def premium(specs: Iterable[PoolSpec]) -> list[str]:
    """Pools that may run premium instances at the on-demand price."""
    return [
        spec.name
        for spec in specs
        if spec.market is Market.ON_DEMAND and any(kind.name.startswith(PREMIUM) for kind in spec.instance_types)
    ]


def _usd(amount: Decimal) -> float:
    """Rounded to the cent, so that the last digit of a sum does not change a plan."""
    return float(round(amount, 2))
