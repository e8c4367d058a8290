"""What other services of AWS have that the stack names: versions, certificates, tags of costs, Pulumi's state."""

from collections.abc import Iterator
from typing import Final
from urllib.parse import urlsplit

from slipway.account.context import AccountContext, Diagnosis, failed, note, ok
from spec.catalog import addons, amis, instances
from spec.pools import resolve
from spec.settings.cluster import Addon, AddonName

# Versions that EKS serves: Kubernetes, managed add-ons, AMI releases.


def kubernetes(context: AccountContext) -> Iterator[Diagnosis]:
    """EKS creates clusters of the stack's version, and until when it supports it."""
    version = context.platform.cluster.version
    served = {
        entry["clusterVersion"]: entry
        for entry in context.pages("eks", "describe_cluster_versions", "clusterVersions", includeAll=True)
    }
    entry = served.get(version)
    status = entry.get("versionStatus", "") if entry else ""
    if entry is None or status == "UNSUPPORTED":
        usable = sorted(one for one, each in served.items() if each.get("versionStatus") == "STANDARD_SUPPORT")
        yield failed("Kubernetes", f"EKS does not serve {version}", f"use one of {', '.join(usable)}")
    elif status == "EXTENDED_SUPPORT":
        yield note("Kubernetes", f"{version} is in extended support, which EKS bills", "upgrade")
    else:
        end = entry.get("endOfStandardSupportDate")
        yield ok("Kubernetes", f"{version}, standard support until {end:%Y-%m-%d}" if end else version)


def managed_addons(context: AccountContext) -> Iterator[Diagnosis]:
    """EKS serves the pinned version of every managed add-on for the cluster's Kubernetes version."""
    cluster = context.platform.cluster
    pinned = 0
    wrong = False
    for name, facts in addons.ADDONS.items():
        wanted = cluster.addons.get(AddonName(name), Addon())
        version = wanted.version or facts.version(cluster.version)
        if not wanted.enabled:
            continue
        served = _served(context, name, cluster.version)
        if version is None and served:
            fix = f"set cluster.addons.{name}.version: {served[0]}"
            yield note(f"add-on {name}", f"no version is pinned for {cluster.version}", fix)
            continue
        pinned += 1
        if version not in served:
            wrong = True
            fix = f"set cluster.addons.{name}.version: {served[0]}" if served else f"EKS has no {name} here: disable it"
            yield failed(f"add-on {name}", f"{version or 'it'} is not served for {cluster.version}", fix)
    if not wrong:
        yield ok("add-ons", f"{pinned} pinned versions are served")


def _served(context: AccountContext, addon: str, version: str) -> list[str]:
    """The versions of an add-on for a Kubernetes version, the newest first as EKS lists them."""
    entries = context.pages("eks", "describe_addon_versions", "addons", addonName=addon, kubernetesVersion=version)
    return [each["addonVersion"] for entry in entries for each in entry["addonVersions"]]


def ami_releases(context: AccountContext) -> Iterator[Diagnosis]:
    """There are EKS-optimized AMIs for every pool, and how far a pinned release is from the newest."""
    pools: dict[str, list[str]] = {}
    for name, pool in context.platform.pools.items():
        kind, version = instances.get(pool.instance_types[0]), pool.version or context.platform.cluster.version
        parameter = amis.release_parameter(pool.os, version, gpu=kind.gpus > 0, arch=kind.arch)
        pools.setdefault(parameter, []).append(name)
    for parameter, names in pools.items():
        answer = context.look_up("ssm", "get_parameter", "ParameterNotFound", Name=parameter)
        if answer is None:
            what = f"Systems Manager has no {parameter}, for pools {', '.join(names)}"
            yield failed("AMI releases", what, "use another os or version")
            continue
        newest = str(answer["Parameter"]["Value"])
        yield ok("AMI releases", f"{newest} is the newest, for pools {', '.join(names)}")
        older: dict[str, list[str]] = {}
        for name in names:
            pinned = resolve(name, context.platform.pools[name], context.platform.place).ami_release
            if pinned is not None and not newest.endswith(pinned.removeprefix("v")):
                older.setdefault(pinned, []).append(name)
        for pinned, held in older.items():
            yield note("AMI releases", f"{pinned} is pinned, for pools {', '.join(held)}")


# The certificates of models' HTTPS addresses: those that the settings name exist, are issued, and cover the domain.


def check(context: AccountContext) -> Iterator[Diagnosis]:
    """Each ARN of `addons.kserve.certificateArn`; a load balancer is refused a certificate that is not issued."""
    settings = context.platform.addons.kserve
    for arn in settings.certificate_arn if settings is not None else ():
        short = arn.rpartition("/")[2]
        answer = context.look_up("acm", "describe_certificate", "ResourceNotFoundException", CertificateArn=arn)
        if answer is None:
            fix = "request one in ACM, and set its ARN in addons.kserve.certificateArn"
            yield failed("certificate", f"{short} does not exist in {context.region}", fix)
            continue
        found = answer["Certificate"]
        wanted = f"*.{settings.ingress_domain}" if settings is not None else ""
        names = [found["DomainName"], *found.get("SubjectAlternativeNames", ())]
        if found["Status"] != "ISSUED":
            fix = "create the DNS records that ACM asks for, or request another"
            yield failed("certificate", f"{short} is {found['Status']}", fix)
        elif wanted not in names:
            yield failed(
                "certificate", f"{short} is for {', '.join(dict.fromkeys(names))}", f"request one for {wanted} in ACM"
            )
        else:
            end = found.get("NotAfter")
            yield ok("certificate", f"{wanted}{f' until {end:%Y-%m-%d}' if end else ''}")


# Cost Explorer: tags that budgets filter by, and the account's one anomaly monitor of services.


def tags(context: AccountContext) -> Iterator[Diagnosis]:
    """Tags by which budgets count are activated for cost allocation: until then such a budget reads 0."""
    cost = context.platform.cost
    needed = set()
    if cost.monthly_budget_usd is not None and cost.budget_covers == "environment":
        needed.add("environment")
    if cost.team_budgets and any(team.budget_usd for team in context.platform.teams.values()):
        needed.add("team")
    if not needed:
        return
    client = context.client("ce")
    answer = client.list_cost_allocation_tags(TagKeys=sorted(needed), Type="UserDefined")
    active = {tag["TagKey"] for tag in answer["CostAllocationTags"] if tag["Status"] == "Active"}
    inactive = sorted(needed - active)
    if inactive:
        fix = (
            "in the payer account: `aws ce update-cost-allocation-tags-status --cost-allocation-tags-status "
            + " ".join(f"TagKey={key},Status=Active" for key in inactive)
            + "`, a day after the tag was first used"
        )
        yield note("cost allocation tags", f"{', '.join(inactive)}: not active, so budgets by it read 0", fix)
    else:
        yield ok("cost allocation tags", f"{', '.join(sorted(needed))}: active")


def anomaly_monitor(context: AccountContext) -> Iterator[Diagnosis]:
    """The stack creates a monitor of services only if the account has none, and names one that exists."""
    cost = context.platform.cost
    if cost.anomaly_usd is None:
        return
    answer = context.client("ce").get_anomaly_monitors()
    monitors = {each["MonitorArn"]: each for each in answer["AnomalyMonitors"]}
    # Names begin with the project and the stack (Pulumi.yaml, pulumi:autonaming).
    own = f"slipway-{context.platform.environment.name}-"
    services = [
        arn
        for arn, each in monitors.items()
        if each["MonitorType"] == "DIMENSIONAL"
        and each.get("MonitorDimension") == "SERVICE"
        and not each["MonitorName"].startswith(own)
    ]
    named = cost.anomaly_monitor_arn
    if named is not None and named not in monitors:
        yield failed("anomaly monitor", f"{named} does not exist", "take one from `aws ce get-anomaly-monitors`")
    elif named is None and services:
        fix = f"set cost.anomalyMonitorArn: {services[0]}"
        yield failed("anomaly monitor", "the account has one of services, and allows no second", fix)
    else:
        yield ok("anomaly monitor", named or "none but the stack's own")


# The bucket of Pulumi's state, and the key of its secrets.


GUIDE: Final = "docs/first-deployment.md, State"
_KMS: Final = "awskms://"


def bucket(context: AccountContext) -> Iterator[Diagnosis]:
    """The state is in a bucket that exists and keeps versions."""
    url = context.backend.url
    if not url:
        yield note("state", "nobody is logged in to a backend", f"run `pulumi login s3://BUCKET` ({GUIDE})")
        return
    scheme, name = urlsplit(url).scheme, urlsplit(url).netloc
    if scheme != "s3":
        local = scheme == "file"
        yield note("state", url, f"a state on one machine is lost with it: use a bucket ({GUIDE})" if local else "")
        return
    # HEAD has no body, so the code may be that of HTTP.
    if context.look_up("s3", "head_bucket", ("404", "NoSuchBucket"), Bucket=name) is None:
        yield failed("state", f"bucket {name} does not exist", f"create it ({GUIDE})")
        return
    if context.client("s3").get_bucket_versioning(Bucket=name).get("Status") != "Enabled":
        fix = f"aws s3api put-bucket-versioning --bucket {name} --versioning-configuration Status=Enabled"
        yield note("state", f"bucket {name} keeps no versions: a lost state can't be restored", fix)
    else:
        yield ok("state", f"{url}, versioned")


def key(context: AccountContext) -> Iterator[Diagnosis]:
    """The key that encrypts secrets in the state exists and is enabled."""
    provider = context.backend.secrets_provider
    if not provider.startswith(_KMS):
        used = provider or "the backend's default"
        yield note("secrets", f"{used}", f"with a KMS key nobody has to share a passphrase ({GUIDE})")
        return
    # `awskms://alias/NAME`, `awskms://ID` and `awskms:///arn:...` (Pulumi, "State and backends", secrets providers).
    id = provider.removeprefix(_KMS).partition("?")[0].lstrip("/")
    answer = context.look_up("kms", "describe_key", "NotFoundException", KeyId=id)
    if answer is None:
        yield failed("secrets", f"key {id} does not exist in {context.region}", f"create it ({GUIDE})")
        return
    state = answer["KeyMetadata"]["KeyState"]
    if state == "Enabled":
        yield ok("secrets", f"key {id} is enabled")
    else:
        yield failed(
            "secrets", f"key {id} is {state}: the state can't be decrypted", "enable it, or cancel its deletion"
        )
