"""Cost of the network (gateways, endpoints, addresses, load balancers, data transfer) and of data storage (file
systems, buckets, databases, images, claimed volumes).
"""

from collections.abc import Iterator

from spec.pricing import services
from spec.pricing.model import Item, Pricer, Unpriced, exact, of_claims, shared
from spec.settings.addons import OwnDatabase
from spec.settings.network import Nat
from spec.settings.platform import Platform
from spec.settings.storage import Lustre

BUCKETS = ("checkpoints", "logs", "models", "raw", "state")
LUSTRE_MBPS = 250  # throughput of PERSISTENT_2 if unset (`spec.settings.storage.Lustre`)
ALERTMANAGER_GIB = 1  # volume of each Alertmanager (`components.addons.kube_prometheus_stack`)


def data(platform: Platform, pricer: Pricer) -> Iterator[Item]:
    """All data storage."""
    shares = of_claims(platform)
    if not platform.storage.enabled:
        yield from _volumes_of_addons(platform, pricer)
        return
    for item in (*_lustre(platform.storage.lustre, pricer), *_efs(platform, pricer), *_claims(platform, pricer)):
        yield shared(item, shares)
    yield from _volumes_of_addons(platform, pricer)
    yield from _buckets(platform, pricer)
    yield from _images(platform, pricer)
    for name, own in platform.addons.databases().items():
        yield from database(name, own, pricer)


def _lustre(settings: Lustre | None, pricer: Pricer) -> Iterator[Item]:
    if settings is None:
        return
    scratch = settings.deployment_type == "SCRATCH_2"
    throughput = settings.per_unit_storage_throughput or LUSTRE_MBPS
    name = "fsx-lustre-scratch-2" if scratch else f"fsx-lustre-persistent-2-{throughput}"
    note = "SCRATCH_2" if scratch else f"PERSISTENT_2, {throughput} MB/s for each TiB"
    yield pricer.line(services.FSX, "Lustre file system", name, "GB", minimum=settings.storage_capacity, note=note)


def _efs(platform: Platform, pricer: Pricer) -> Iterator[Item]:
    if platform.storage.efs is None:
        return
    use = platform.cost.usage.efs
    amounts = {
        "efs-standard": ("in use", use.standard_gib if use else None, "standardGib"),
        "efs-infrequent": ("in Infrequent Access", use.infrequent_gib if use else None, "infrequentGib"),
        "efs-read": ("read", use.read_gib if use else None, "readGib"),
        "efs-written": ("written", use.written_gib if use else None, "writtenGib"),
    }
    for name, (item, amount, key) in amounts.items():
        yield pricer.used(services.EFS, f"shared files: {item}", name, "GB", amount, f"cost.usage.efs.{key}")
    if platform.storage.efs.backup:
        whole = None if use is None else use.standard_gib + use.infrequent_gib
        note = "one copy of the declared data; changes over 35 days come in addition"
        setting = "cost.usage.efs"
        yield pricer.used(services.BACKUP, "of shared files", "backup-efs", "GB", whole, setting, note)


def _claims(platform: Platform, pricer: Pricer) -> Iterator[Item]:
    amount = platform.cost.usage.claims_gib
    yield pricer.used(services.EBS, "volumes of teams' claims", "ebs-gp3", "GB", amount, "cost.usage.claimsGib")


def _volumes_of_addons(platform: Platform, pricer: Pricer) -> Iterator[Item]:
    addons = platform.addons
    sizes: dict[str, int] = {}
    if (monitoring := addons.kube_prometheus_stack) is not None:
        sizes["of Prometheus"] = monitoring.replicas * monitoring.storage_gib
        sizes["of Alertmanager"] = monitoring.replicas * ALERTMANAGER_GIB
    if addons.kubecost is not None:
        sizes["of Kubecost"] = addons.kubecost.storage_gib
    if addons.katib is not None:
        sizes["of Katib"] = addons.katib.storage_gib
    for whose, size in sizes.items():
        yield pricer.line(services.EBS, f"volumes {whose}", "ebs-gp3", "GB", minimum=size)


def _buckets(platform: Platform, pricer: Pricer) -> Iterator[Item]:
    usage = platform.cost.usage
    for purpose in BUCKETS:
        amount, setting = usage.buckets.get(purpose), f"cost.usage.buckets.{purpose}"  # type: ignore[call-overload]
        # Raw data in Intelligent-Tiering costs the same until it is not accessed for 30 days, and less after that.
        yield pricer.used(services.S3, f"bucket {purpose}", "s3-standard", "GB", amount, setting)
    for kind, item in {"s3-write": "writes and lists", "s3-read": "reads"}.items():
        count = usage.requests.get(kind)  # type: ignore[call-overload]
        yield pricer.used(services.S3, item, kind, "request", count, f"cost.usage.requests.{kind}")


def _images(platform: Platform, pricer: Pricer) -> Iterator[Item]:
    registry = platform.storage.registry
    if registry.repositories or registry.caches:
        amount = platform.cost.usage.images_gib
        yield pricer.used(services.ECR, "images", "ecr-storage", "GB", amount, "cost.usage.imagesGib")


def database(name: str, own: OwnDatabase, pricer: Pricer) -> Iterator[Item]:
    """One instance with its standby, storage and master password. Storage and backups cost the same for each engine of
    the platform."""
    settings = own.settings
    zones = "two zones" if settings.multi_az else "one zone"
    copies = 2 if settings.multi_az else 1
    note = f"{settings.instance_class} in {zones}"
    key = f"rds-{own.engine}-{settings.instance_class}"
    yield pricer.line(services.RDS, f"database {name}", key, "instance", minimum=copies, note=note)
    low, high = settings.allocated_storage, max(settings.allocated_storage, settings.max_allocated_storage)
    note = f"{low} to {high} GiB in {zones}; it grows automatically"
    what = f"storage of database {name}"
    yield pricer.line(services.RDS, what, "rds-gp3", "GB", minimum=copies * low, maximum=copies * high, note=note)
    yield pricer.line(services.SECRETS, f"password of database {name}", "secret", "secret", minimum=1)
    price = pricer.book.prices.get("rds-backup")
    beyond = f"by use: {price.text}" if price else pricer.book.why("rds-backup")
    why = f"{beyond}; backups up to the size of the database are free"
    yield Unpriced(f"{services.RDS}: backups of database {name} beyond its size", why)


_BALANCERS = {"application": ("alb", "LCU"), "network": ("nlb", "NLCU")}


def network(platform: Platform, pricer: Pricer) -> Iterator[Item]:
    """All parts of the network. Gateways and endpoints of an existing VPC are its owner's; their data is priced."""
    settings, usage = platform.network, platform.cost.usage
    gateways = settings.nat_gateways
    if gateways:
        yield pricer.line(services.NAT, "gateways", "nat-gateway", "gateway", minimum=gateways)
        yield pricer.line(services.ADDRESSES, "of NAT gateways", "public-ipv4", "address", minimum=gateways)
    if settings.nat is not Nat.NONE:
        setting = "cost.usage.natGib"
        yield pricer.used(services.NAT, "data through NAT gateways", "nat-gateway-data", "GB", usage.nat_gib, setting)
    if settings.existing is None and settings.endpoints:
        interfaces = len(settings.endpoints) * len(settings.zones)
        note = f"{len(settings.endpoints)} in {len(settings.zones)} zones"
        what = "interface endpoints"
        yield pricer.line(services.ENDPOINTS, what, "interface-endpoint", "interface", minimum=interfaces, note=note)
    if settings.endpoints:
        item, setting = "data through interface endpoints", "cost.usage.endpointsGib"
        yield pricer.used(services.ENDPOINTS, item, "interface-endpoint-data", "GB", usage.endpoints_gib, setting)
    yield from _transfer(platform, pricer)
    yield from _balancers(platform, pricer)


def _transfer(platform: Platform, pricer: Pricer) -> Iterator[Item]:
    use = platform.cost.usage.transfer
    # AWS bills both ends of traffic between zones (aws.amazon.com/ec2/pricing/on-demand, "Data Transfer").
    kinds = {
        "transfer-internet": ("to the internet", use.internet_gib if use else None, "internetGib"),
        "transfer-zones": ("between zones", 2 * exact(use.between_zones_gib) if use else None, "betweenZonesGib"),
        "transfer-regions": ("to other regions", use.other_regions_gib if use else None, "otherRegionsGib"),
    }
    for name, (item, amount, key) in kinds.items():
        yield pricer.used(services.TRANSFER, item, name, "GB", amount, f"cost.usage.transfer.{key}")


def _balancers(platform: Platform, pricer: Pricer) -> Iterator[Item]:
    """Load balancers that the cluster creates; the stack itself creates none."""
    declared = platform.cost.usage.load_balancers
    for name, each in sorted(declared.items()):
        key, unit = _BALANCERS[each.kind]
        item = f"{each.kind} load balancer {name}"
        yield pricer.line(services.BALANCERS, item, key, "balancer", minimum=0, typical=1, note="declared use")
        units = f"capacity units of {name}"
        typical = each.capacity_units
        yield pricer.line(
            services.BALANCERS, units, f"{key}-unit", unit, minimum=0, typical=typical, note="declared use"
        )
        if each.public:
            zones = len(platform.network.zones)
            what = f"of load balancer {name}"
            yield pricer.line(services.ADDRESSES, what, "public-ipv4", "address", minimum=0, typical=zones)
    if platform.addons.load_balancer_controller is not None and not declared:
        why = "Ingresses, Services and Gateways create them; declare cost.usage.loadBalancers"
        yield Unpriced("load balancers", why)
