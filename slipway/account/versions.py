"""Versions that EKS serves: Kubernetes, managed add-ons, AMI releases."""

from __future__ import annotations

from collections.abc import Iterator

from botocore.exceptions import ClientError

from slipway.account.context import Context, failed, note, ok
from slipway.findings import Finding
from spec.catalog import addons, amis, instances
from spec.settings.cluster import Addon, AddonName


def kubernetes(context: Context) -> Iterator[Finding]:
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


def managed_addons(context: Context) -> Iterator[Finding]:
    """EKS serves the pinned version of every managed add-on for the cluster's Kubernetes version."""
    cluster = context.platform.cluster
    pinned = 0
    wrong = False
    for name, facts in addons.ADDONS.items():
        wanted = cluster.addons.get(AddonName(name), Addon())
        version = wanted.version or facts.version(cluster.version)
        if not wanted.enabled or version is None:
            continue
        pinned += 1
        served = _served(context, name, cluster.version)
        if version not in served:
            wrong = True
            fix = f"set cluster.addons.{name}.version: {served[0]}" if served else f"EKS has no {name} here: disable it"
            yield failed(f"add-on {name}", f"{version} is not served for {cluster.version}", fix)
    if not wrong:
        yield ok("add-ons", f"{pinned} pinned versions are served")


def _served(context: Context, addon: str, version: str) -> list[str]:
    """The versions of an add-on for a Kubernetes version, the newest first as EKS lists them."""
    entries = context.pages("eks", "describe_addon_versions", "addons", addonName=addon, kubernetesVersion=version)
    return [each["addonVersion"] for entry in entries for each in entry["addonVersions"]]


def ami_releases(context: Context) -> Iterator[Finding]:
    """There are EKS-optimized AMIs for every pool, and how far a pinned release is from the newest."""
    pools: dict[str, list[str]] = {}
    for name, pool in context.platform.pools.items():
        kind, version = instances.get(pool.instance_types[0]), pool.version or context.platform.cluster.version
        parameter = amis.release_parameter(pool.os, version, gpu=kind.gpus > 0, arch=kind.arch)
        pools.setdefault(parameter, []).append(name)
    for parameter, names in pools.items():
        newest = _parameter(context, parameter)
        if newest is None:
            what = f"Systems Manager has no {parameter}, for pools {', '.join(names)}"
            yield failed("AMI releases", what, "use another os or version")
            continue
        yield ok("AMI releases", f"{newest} is the newest, for pools {', '.join(names)}")
        for name in names:
            pinned = context.platform.pools[name].ami_release
            if pinned is not None and not newest.endswith(pinned.removeprefix("v")):
                yield note(f"pool {name}", f"AMI release {pinned} is pinned")


def _parameter(context: Context, name: str) -> str | None:
    try:
        return str(context.client("ssm").get_parameter(Name=name)["Parameter"]["Value"])
    except ClientError as error:
        if error.response["Error"]["Code"] == "ParameterNotFound":
            return None
        raise
