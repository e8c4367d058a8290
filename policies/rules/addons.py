"""EKS managed add-ons: required ones, versions, network policies and IAM roles."""

from collections.abc import Iterator
from typing import Final

from policies.checks.questions import each, not_in, unless_set
from policies.evaluation.iam import parsed
from policies.resources.access import Node, texts, unknowns
from policies.resources.resource import Resource, Stack
from policies.resources.tokens import ADDON, CLUSTER, POD_IDENTITY, ROLE, ROLE_ATTACHMENT
from policies.rule import Context, ResourceRule, StackRule, Violation, setting, violation

_CORE: Final = ["vpc-cni", "coredns", "kube-proxy", "aws-ebs-csi-driver", "eks-pod-identity-agent"]
_CALLERS: Final = ["vpc-cni", "aws-ebs-csi-driver", "aws-efs-csi-driver", "aws-fsx-csi-driver"]


def _absent(stack: Stack, context: Context) -> Iterator[Violation]:
    names = [addon["addonName"] for addon in stack.of(ADDON)]
    missing = [wanted for wanted in context.settings["core"] if wanted not in texts(names)]
    if len(missing) > unknowns(names):
        for cluster in stack.of(CLUSTER):
            yield Violation(path="", got=f"without {', '.join(missing)}", at=cluster)


def _floating(stack: Stack, context: Context) -> Iterator[Violation]:
    for addon in stack.of(ADDON):
        if addon["addonVersion"].missing and addon["addonName"].text() in context.settings["core"]:
            yield violation(addon["addonVersion"], at=addon)


CORE_ADDONS = StackRule(
    name="eks-core-addons-pinned",
    types=(CLUSTER, ADDON),
    settings={
        "core": setting("add-ons that must be present and pinned", _CORE),
        "allowOverwrite": setting("whether an update may overwrite changes made in the cluster", True, True, False),
    },
    finds={
        "present": _absent,
        "pinned": _floating,
        "conflicts": each(ADDON, unless_set("allowOverwrite", not_in("resolveConflictsOnUpdate", "OVERWRITE"))),
    },
)


def _no_policies(addon: Resource, _: Context) -> Iterator[Violation]:
    if addon["addonName"].raw != "vpc-cni":
        return
    values = parsed(addon["configurationValues"])
    switch = values["enableNetworkPolicy"]
    if switch.is_not("true", True):
        yield violation(switch)


NETWORK_POLICY = ResourceRule(
    name="eks-network-policy-on",
    types=(ADDON,),
    finds={"switch": _no_policies},
)


def _without_role(stack: Stack, context: Context) -> Iterator[Violation]:
    accounts = [association["serviceAccount"] for association in stack.of(POD_IDENTITY)]
    callers = context.settings["callers"]
    for addon in stack.of(ADDON):
        name = addon["addonName"].text()
        own = addon["podIdentityAssociations"]
        configured = own.unknown or bool(own.items()) or not addon["serviceAccountRoleArn"].missing
        served = bool(unknowns(accounts)) or callers.get(name) in texts(accounts)
        if name in callers and not configured and not served:
            yield violation(own, at=addon)


def _trusts_ec2(role: Resource) -> bool:
    return "ec2.amazonaws.com" in str(role["assumeRolePolicy"].raw)


def _node_permissions(stack: Stack, _: Context) -> Iterator[Violation]:
    for attachment in stack.of(ROLE_ATTACHMENT):
        policy: Node = attachment["policyArn"]
        belongs = str(policy.raw).endswith(("AmazonEKS_CNI_Policy", "AmazonEBSCSIDriverPolicy"))
        if belongs and any(_trusts_ec2(role) for role in attachment.source("role", ROLE)):
            yield violation(policy, at=attachment)


OWN_ROLE = StackRule(
    name="eks-addon-own-role",
    types=(ADDON, POD_IDENTITY, ROLE, ROLE_ATTACHMENT),
    settings={
        "callers": setting(
            "add-ons that call AWS, each with its service account",
            dict(
                zip(
                    _CALLERS,
                    ("aws-node", "ebs-csi-controller-sa", "efs-csi-controller-sa", "fsx-csi-controller-sa"),
                    strict=True,
                )
            ),
        )
    },
    finds={
        "role": _without_role,
        "node": _node_permissions,
    },
)
