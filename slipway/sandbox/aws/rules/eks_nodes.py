"""EKS node groups: what their inputs alone say."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import botocore.session

from slipway.sandbox.aws.mapping import Call, find
from slipway.sandbox.aws.rules.rule import Case, listed, rule, value
from spec.catalog import instances

NODE_GROUP = "aws:eks/nodeGroup:NodeGroup"
BAD = "InvalidParameterException"
API = "EKS API Reference, CreateNodegroup, read 2026-11: "
MAX_TAINTS = 50
_LABELS = "https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/, syntax and character set"
_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?")
_PREFIX = re.compile(r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?")


@rule(NODE_GROUP, BAD, "scalingConfig", f"{API}NodegroupScalingConfig")
def sizes(case: Case) -> str | None:
    """The desired size is between the minimum and the maximum; at updates too."""
    given = [value(case.new, f"scalingConfig.{name}") for name in ("minSize", "desiredSize", "maxSize")]
    if None in given:
        return None
    low, wanted, high = (int(size) for size in given)
    if low > high:
        return f"Minimum capacity {low} can't be greater than maximum capacity {high}"
    if not low <= wanted <= high:
        return f"desired capacity {wanted} must be between the minimum {low} and the maximum {high}"
    return None


@rule(
    NODE_GROUP, BAD, "taints", "https://docs.aws.amazon.com/eks/latest/userguide/node-taints-managed-node-groups.html"
)
def taint_count(case: Case) -> str | None:
    """A group has 50 taints at most."""
    count = len(case.new.get("taints") or [])
    return f"A node group can have at most {MAX_TAINTS} taints, got {count}" if count > MAX_TAINTS else None


@rule(NODE_GROUP, BAD, "labels", _LABELS)
def labels(case: Case) -> str | None:
    """Kubernetes takes the labels."""
    wrong = [*_wrong(case.new.get("labels") or {})]
    return f"Invalid label: {wrong[0]}" if wrong else None


@rule(NODE_GROUP, BAD, "taints", _LABELS)
def taints(case: Case) -> str | None:
    """Kubernetes takes the taints."""
    given = case.new.get("taints") or []
    wrong = [text for one in given for text in _wrong({one.get("key") or "": one.get("value") or ""})]
    return f"Invalid taint: {wrong[0]}" if wrong else None


def _wrong(pairs: dict[str, str]) -> Iterator[str]:
    for key, text in pairs.items():
        prefix, slash, name = key.rpartition("/")
        if not _NAME.fullmatch(name) or (slash and not _PREFIX.fullmatch(prefix)):
            yield f"the key {key!r} is not a qualified name of Kubernetes"
        if text and not _NAME.fullmatch(str(text)):
            yield f"the value {text!r} of {key!r} is not a label value of Kubernetes"


@rule(
    NODE_GROUP, "InvalidRequestException", "instanceTypes", f"{API}instanceTypes; the list is botocore's InstanceType"
)
def types_exist(case: Case) -> str | None:
    """EC2 has the types."""
    missing = [name for name in case.new.get("instanceTypes") or [] if not _is_type(str(name))]
    return f"The following supplied instance types do not exist: {listed(missing)}" if missing else None


def _is_type(name: str) -> bool:
    return instances.find(name) is not None or name in _types()


def _types() -> list[str]:
    shape = botocore.session.get_session().get_service_model("ec2").shape_for("InstanceType")
    names: list[str] = shape.enum
    return names


@rule(NODE_GROUP, BAD, "amiType instanceTypes", f"{API}amiType")
def architecture(case: Case) -> str | None:
    """The image is of the types' architecture."""
    return wrong_architecture(case, case.new.get("instanceTypes") or [])


def wrong_architecture(case: Case, types: Sequence[str]) -> str | None:
    """The message if the image of a group does not run on its types; types that EC2 does not have are not checked."""
    image = case.new.get("amiType")
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
    describe = Call("describe_instance_types", {"InstanceTypes": [name]}, item="InstanceTypes[0].ProcessorInfo")
    found = find(case.aws, "ec2", describe, {}) if _is_type(name) else None
    supported: Sequence[str] = (found or {}).get("SupportedArchitectures", [])
    return supported


RULES = (sizes, taint_count, labels, taints, types_exist, architecture)
