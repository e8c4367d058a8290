"""EKS add-ons, access entries and Pod Identity associations; what is there twice, or missing, `moto/eks.py` refuses."""

from __future__ import annotations

from slipway.sandbox.aws.rules.eks_cluster import missing_role
from slipway.sandbox.aws.rules.rule import Case, Moment, rule
from spec.catalog import addons

_ENTRY, _ADDON = "aws:eks/accessEntry:AccessEntry", "aws:eks/addon:Addon"
_ASSOCIATION = "aws:eks/podIdentityAssociation:PodIdentityAssociation"
_BAD = "InvalidParameterException"
_ENTRIES = "https://docs.aws.amazon.com/eks/latest/userguide/creating-access-entries.html, read 2026-11"
_RESERVED = ("system:", "eks:", "aws:", "amazon:", "iam:")
_NODES = frozenset({"EC2_LINUX", "EC2_WINDOWS"})

AWS_ADDONS = frozenset(
    {
        "adot", "amazon-cloudwatch-observability", "amazon-sagemaker-hyperpod-taskgovernance",
        "amazon-sagemaker-hyperpod-training-operator", "aws-guardduty-agent", "aws-network-flow-monitoring-agent",
        "aws-privateca-connector-for-kubernetes", "aws-secrets-store-csi-driver-provider", "cert-manager",
        "external-dns", "fluent-bit", "kube-state-metrics", "prometheus-node-exporter", "snapshot-controller",
    }
)  # fmt: skip
"""Add-ons of AWS and community add-ons that the catalog does not have
(https://docs.aws.amazon.com/eks/latest/userguide/workloads-add-ons-available-eks.html and community-addons.html, read
2026-11).
"""


@rule(_ENTRY, _BAD, "kubernetesGroups", _ENTRIES)
def group_names(case: Case) -> str | None:
    """Kubernetes' and AWS's own groups can't be given away."""
    for name in case.new.get("kubernetesGroups") or []:
        prefix = next((one for one in _RESERVED if str(name).startswith(one)), None)
        if prefix:
            return f"The kubernetes group name {name} is invalid, it cannot start with {prefix}"
    return None


@rule(_ENTRY, _BAD, "kubernetesGroups type", "EKS API Reference, CreateAccessEntry type, read 2026-11")
def groups_of_nodes(case: Case) -> str | None:
    """The entry of a node's role has no groups."""
    kind = case.new.get("type")
    if kind in _NODES and case.new.get("kubernetesGroups"):
        return f"kubernetesGroups cannot be specified for an access entry of type {kind}"
    return None


@rule(_ADDON, _BAD, "addonName", "EKS API Reference, CreateAddon; the lists named at AWS_ADDONS")
def addon_exists(case: Case) -> str | None:
    """EKS has the add-on. Those of the AWS Marketplace are named `vendor_name` and can't be checked."""
    name = str(case.new["addonName"])
    if "_" in name or name in AWS_ADDONS or name in addons.ADDONS:
        return None
    return f"Addon specified is not supported: {name}"


@rule(
    _ASSOCIATION, _BAD, "roleArn", "EKS User Guide, pod-id-association.html, read 2026-11", Moment.CREATE, Moment.UPDATE
)
def pod_role_exists(case: Case) -> str | None:
    """A role of the account exists; whether pods.eks.amazonaws.com may assume it is a rule of the policy pack."""
    return missing_role(case, str(case.new["roleArn"]))


@rule(
    _ADDON,
    _BAD,
    "podIdentityAssociations",
    "EKS User Guide, add-ons-iam.html, read 2026-11",
    Moment.CREATE,
    Moment.UPDATE,
)
def addon_roles_exist(case: Case) -> str | None:
    """So do the roles of an add-on."""
    missing = (missing_role(case, str(one["roleArn"])) for one in case.new.get("podIdentityAssociations") or [])
    return next((text for text in missing if text), None)


RULES = (group_names, groups_of_nodes, addon_exists, pod_role_exists, addon_roles_exist)
