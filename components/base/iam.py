"""IAM documents as values, and the one way in which this platform gives a pod permissions in AWS.

Documents are built from frozen statements and written as JSON with sorted keys and lists, so that the same permissions
are the same text: order causes no diff, and a test can compare whole documents. Functions here whose name ends in
`trust` or `document` are pure.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import pulumi
import pulumi_aws as aws

Conditions = Mapping[str, Mapping[str, Sequence[str]]]
"""Operator -> key -> values: `{"StringEquals": {"aws:SourceAccount": ["111122223333"]}}`."""


@dataclass(frozen=True)
class Statement:
    """One statement of a policy document."""

    sid: str  # its purpose, in letters and digits (IAM User Guide, "JSON policy elements: Sid")
    actions: Sequence[str]  # actions that it allows or denies
    resources: Sequence[str] = ()  # ARNs; none in a trust policy, whose resource is the role itself
    effect: Literal["Allow", "Deny"] = field(default="Allow", kw_only=True)
    principals: Mapping[str, Sequence[str]] = field(default_factory=dict, kw_only=True)
    """Kind -> principals, in trust and key policies: `{"Service": ["eks.amazonaws.com"]}`."""
    conditions: Conditions = field(default_factory=dict, kw_only=True)  # all of them must hold

    def render(self) -> dict[str, Any]:
        """The statement in IAM's JSON; empty elements are omitted."""
        parts: dict[str, Any] = {"Sid": self.sid, "Effect": self.effect, "Action": sorted(self.actions)}
        if self.principals:
            parts["Principal"] = {kind: sorted(who) for kind, who in self.principals.items()}
        if self.resources:
            parts["Resource"] = sorted(self.resources)
        if self.conditions:
            parts["Condition"] = {
                operator: {key: sorted(values) for key, values in keys.items()}
                for operator, keys in self.conditions.items()
            }
        return parts


def document(*statements: Statement) -> str:
    """A policy document of these statements, in this order, without whitespace, which counts against IAM's size
    limits."""
    body = {"Version": "2012-10-17", "Statement": [statement.render() for statement in statements]}
    return json.dumps(body, sort_keys=True, separators=(",", ":"))


def service_trust(sid: str, service: str, conditions: Conditions | None = None) -> str:
    """Trust policy for an AWS service, with conditions against the confused deputy problem."""
    principals = {"Service": [service]}
    return document(Statement(sid, ["sts:AssumeRole"], principals=principals, conditions=conditions or {}))


def pod_identity_trust(cluster_arn: str, namespace: str, service_account: str) -> str:
    """Trust policy of EKS Pod Identity for one service account of one cluster.

    EKS passes cluster, namespace and service account of the pod as session tags, and a trust policy can require them
    (EKS User Guide, "Create IAM role with trust policy required by EKS Pod Identity" and "Grant Pods access to AWS
    resources based on tags").
    """
    tags = {
        "aws:RequestTag/eks-cluster-arn": [cluster_arn],
        "aws:RequestTag/kubernetes-namespace": [namespace],
        "aws:RequestTag/kubernetes-service-account": [service_account],
    }
    return document(
        Statement(
            "PodIdentity",
            ["sts:AssumeRole", "sts:TagSession"],
            principals={"Service": ["pods.eks.amazonaws.com"]},
            conditions={"StringEquals": tags},
        )
    )


def account_administration(partition: str, account_id: str) -> Statement:
    """The statement of a key policy that delegates access control to the account's IAM policies.

    Without it a key can become unmanageable (KMS Developer Guide, "Default key policy").
    """
    return Statement(
        "AccountAdministration", ["kms:*"], ["*"], principals={"AWS": [f"arn:{partition}:iam::{account_id}:root"]}
    )


def log_encryption(service: str, *log_group_arns: str) -> Statement:
    """The statement of a key policy that lets CloudWatch Logs encrypt log groups.

    The encryption context binds it to these groups (CloudWatch Logs User Guide, "Encrypt log data using AWS KMS").

    Args:
        service: The regional principal, `logs.us-east-1.amazonaws.com`.
        log_group_arns: ARNs of the groups, or patterns of ARNs.
    """
    return Statement(
        "LogEncryption",
        ["kms:Decrypt*", "kms:Describe*", "kms:Encrypt*", "kms:GenerateDataKey*", "kms:ReEncrypt*"],
        ["*"],
        principals={"Service": [service]},
        conditions={"ArnLike": {"kms:EncryptionContext:aws:logs:arn": list(log_group_arns)}},
    )


@dataclass(frozen=True, kw_only=True)
class Managed:
    """Permissions from an AWS managed policy."""

    arn: str


@dataclass(frozen=True, kw_only=True)
class Inline:
    """Permissions from an inline policy document."""

    document: pulumi.Input[str]


@dataclass(frozen=True, kw_only=True)
class PodRole:
    """The role of one service account."""

    arn: pulumi.Output[str]
    name: pulumi.Output[str]
    ready: Sequence[pulumi.Resource]  # resources that must exist before a pod has the role's permissions


def role_with(
    name: str, *, trust: str, description: str, policy: Managed | Inline, opts: pulumi.ResourceOptions
) -> tuple[aws.iam.Role, pulumi.CustomResource]:
    """Declare a role with exactly one policy, whose logical name is `<name>-policy`."""
    role = aws.iam.Role(name, assume_role_policy=trust, description=description, opts=opts)
    if isinstance(policy, Managed):
        return role, aws.iam.RolePolicyAttachment(f"{name}-policy", role=role.name, policy_arn=policy.arn, opts=opts)
    return role, aws.iam.RolePolicy(f"{name}-policy", role=role.name, policy=policy.document, opts=opts)


def rotated_key(
    name: str,
    alias: tuple[str, str],
    description: str,
    policy: str,
    days: int,
    *,
    kept: pulumi.ResourceOptions,
    child: pulumi.ResourceOptions,
) -> aws.kms.Key:
    """Declare a KMS key with rotation, and its alias.

    Args:
        name: Logical name of the key.
        alias: Logical name of the alias, and its name, `alias/...`.
        description: What it encrypts.
        policy: Key policy.
        days: Deletion window.
        kept: Resource options of the key.
        child: Resource options of the alias.
    """
    key = aws.kms.Key(
        name, description=description, enable_key_rotation=True, deletion_window_in_days=days, policy=policy, opts=kept
    )
    aws.kms.Alias(alias[0], name=alias[1], target_key_id=key.key_id, opts=child)
    return key


def pod_identity_role(
    name: str,
    *,
    cluster_arn: str,
    namespace: str,
    service_account: str,
    policy: Managed | Inline,
    parent: pulumi.Resource,
    association: tuple[str, pulumi.Input[str]] | None = None,
) -> PodRole:
    """Declare a role for one service account of one cluster, with exactly one policy, and their association.

    Args:
        name: Logical name of the role; that of the policy is `<name>-policy`.
        cluster_arn: ARN of the cluster, known before the cluster exists.
        namespace: Namespace of the service account.
        service_account: The service account.
        policy: What the role may do.
        parent: The component that owns the role.
        association: Logical name of the association, and name of the cluster; None for an EKS add-on, which has its
            `pod_identity_associations`.
    """
    child = pulumi.ResourceOptions(parent=parent)
    trust = pod_identity_trust(cluster_arn, namespace, service_account)
    about = f"EKS Pod Identity of {namespace}/{service_account}"
    role, attached = role_with(name, trust=trust, description=about, policy=policy, opts=child)
    ready: list[pulumi.Resource] = [attached]
    if association:
        ready += [
            aws.eks.PodIdentityAssociation(
                association[0],
                cluster_name=association[1],
                namespace=namespace,
                service_account=service_account,
                role_arn=role.arn,
                opts=child,
            )
        ]
    return PodRole(arn=role.arn, name=role.name, ready=ready)
