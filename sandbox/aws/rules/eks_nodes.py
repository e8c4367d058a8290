"""Rules of EKS for node groups."""

from __future__ import annotations

from collections.abc import Sequence

import botocore.session

from sandbox.aws.client import Aws, AwsError
from sandbox.aws.rules.rule import Case, Inputs, listed, rule
from spec.catalog import instances, kubernetes

CREATE, VERSION, CONFIG = "eks.create_nodegroup", "eks.update_nodegroup_version", "eks.update_nodegroup_config"
BAD = "InvalidParameterException"
API = "EKS API Reference, CreateNodegroup, read 2026-11: "


@rule(f"{CREATE} {CONFIG}", BAD, "scalingConfig", f"{API}NodegroupScalingConfig")
def sizes(case: Case) -> str | None:
    """The desired size is between the minimum and the maximum; at updates too."""
    given = [case.value(f"scalingConfig.{name}") for name in ("minSize", "desiredSize", "maxSize")]
    if None in given:
        return None
    low, wanted, high = (int(size) for size in given)
    if low > high:
        return f"Minimum capacity {low} can't be greater than maximum capacity {high}"
    if not low <= wanted <= high:
        return (
            f"desired capacity {wanted} must be between the minimum {low} and the maximum {high}; if somebody or an "
            "autoscaler set it, `aws eks update-nodegroup-config --cluster-name CLUSTER --nodegroup-name GROUP "
            f"--scaling-config desiredSize={min(max(wanted, low), high)}` repairs that before `up`"
        )
    return None


@rule(CREATE, "InvalidRequestException", "instanceTypes", f"{API}instanceTypes; the list is botocore's InstanceType")
def types_exist(case: Case) -> str | None:
    """EC2 has the types."""
    missing = [name for name in case.given.get("instanceTypes") or [] if not _is_type(str(name))]
    return f"The following supplied instance types do not exist: {listed(missing)}" if missing else None


def _is_type(name: str) -> bool:
    shape = botocore.session.get_session().get_service_model("ec2").shape_for("InstanceType")
    return instances.find(name) is not None or name in shape.enum


@rule(CREATE, BAD, "amiType instanceTypes", f"{API}amiType")
def architecture(case: Case) -> str | None:
    """The image is of the types' architecture."""
    return wrong_architecture(case, case.given.get("instanceTypes") or [])


def wrong_architecture(case: Case, types: Sequence[str]) -> str | None:
    """The message if the image of a group does not run on its types; types that EC2 does not have are not checked."""
    image = case.value("amiType")
    if not image or image == "CUSTOM":
        return None
    wanted = "arm64" if "ARM" in image else "x86_64"
    wrong = [name for name in types if wanted not in (_architectures(case, name) or [wanted])]
    return f"{listed(wrong)} is not a valid instance type for requested amiType {image}" if wrong else None


def _architectures(case: Case, name: str) -> Sequence[str]:
    """Those of a type, from the catalog or from moto's copy of DescribeInstanceTypes."""
    known = instances.find(name)
    if known is not None:
        return [known.arch]
    found = case.seen("ec2", "describe_instance_types", InstanceTypes=[name]) if _is_type(name) else {}
    supported: Sequence[str] = found["InstanceTypes"][0]["ProcessorInfo"]["SupportedArchitectures"] if found else []
    return supported


# What the cluster, the launch template and the subnets say, right before a change.


def template_data(aws: Aws, wanted: Inputs | None) -> Inputs | None:
    """The data of the version that a node group uses; None without a template.

    Raises AwsError if the template or its version does not exist.
    """
    if not wanted:
        return None
    key = {"LaunchTemplateId": wanted["id"]} if wanted.get("id") else {"LaunchTemplateName": wanted["name"]}
    versions = [str(wanted.get("version", "$Default"))]
    operation = "describe_launch_template_versions"
    answer = aws.call("ec2", operation, **key, Versions=versions)["LaunchTemplateVersions"]
    if not answer:
        code, msg = "InvalidLaunchTemplateId.VersionNotFound", f"launch template {wanted} has no version {versions[0]}"
        raise AwsError(operation, code, msg)
    data: Inputs = answer[0]["LaunchTemplateData"]
    return data


def _template(case: Case) -> Inputs:
    return template_data(case.aws, case.value("launchTemplate")) or {}


def _cluster_version(case: Case) -> str:
    cluster = case.aws.call("eks", "describe_cluster", name=case.given["clusterName"])["cluster"]
    return str(cluster["version"])


@rule(VERSION, BAD, "version clusterName", "EKS User Guide, update-managed-node-group.html, read 2026-11", live=True)
def version_at_update(case: Case) -> str | None:
    """A group is updated to its cluster's version, or one that is not too far behind, and back by one, as before the
    control plane is rolled back (rollback-cluster.html, step 2)."""
    version, before = case.given.get("version"), case.has.get("version")
    if not version or version == before:
        return None
    has = _cluster_version(case)
    behind, step = kubernetes.skew(str(version), has), kubernetes.skew(str(before), str(version))
    if behind is None or 0 <= behind <= kubernetes.SKEW:
        return f"Nodegroup can't be updated from {before} back to {version}" if step is not None and step < -1 else None
    return f"Requested Nodegroup Kubernetes version {version} is not supported by the version {has} of the cluster"


@rule(f"{CREATE} {VERSION}", BAD, "amiType version clusterName",
      "EKS User Guide, eks-ami-deprecation-faqs.html, read 2026-11; words as in scylladb/scylla-cluster-tests#12524",
      live=True)  # fmt: skip
def images_of_the_version(case: Case) -> str | None:
    """EKS publishes images of Amazon Linux 2 up to a version of Kubernetes."""
    image, version = str(case.value("amiType") or ""), case.given.get("version")
    if not image.startswith("AL2_") or (case.has and version in (None, case.has.get("version"))):
        return None
    skew = kubernetes.skew(kubernetes.LAST_OF_AL2, str(version or _cluster_version(case)))
    if not skew or skew < 0:
        return None
    return f"AMI Type {image} is only supported for kubernetes versions {kubernetes.LAST_OF_AL2} or earlier"


@rule(f"{CREATE} {VERSION}", BAD, "launchTemplate amiType", f"{API}amiType", live=True)
def architecture_of_the_template(case: Case) -> str | None:
    """The image is of the architecture of the template's type."""
    kind = _template(case).get("InstanceType")
    return wrong_architecture(case, [kind]) if kind else None


@rule(CREATE, "InvalidRequestException", "subnets instanceTypes", f"{API}the offerings are in spec/catalog", live=True)
def offered_in_every_zone(case: Case) -> str | None:
    """Each of the group's zones offers one of its types. A type of which the catalog knows nothing is not checked."""
    subnets = case.aws.call("ec2", "describe_subnets", SubnetIds=list(case.given["subnets"]))["Subnets"]
    names = case.given.get("instanceTypes") or [_template(case).get("InstanceType")]
    known = [instances.find(str(name)) for name in names]
    region = case.aws.region
    if region not in instances.OFFERING_REGIONS or None in known:
        return None
    offering = {zone for one in known if one is not None for zone in one.zone_ids.get(region, ())}
    for subnet in subnets:
        if subnet["AvailabilityZoneId"] not in offering:
            place = f"{subnet['AvailabilityZone']} ({subnet['AvailabilityZoneId']})"
            return (
                f"Your requested instance type ({', '.join(names)}) is not supported in your requested Availability "
                f"Zone ({place}); it is in {listed(sorted(offering))}"
            )
    return None
