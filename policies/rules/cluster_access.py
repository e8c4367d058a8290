"""Access to the API server: endpoints, networks and identities."""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import Severity

from policies.checks.people import listed_principals
from policies.evaluation.ranges import internet
from policies.levels import Levels
from policies.resources.resource import Resource, Stack
from policies.resources.tokens import ACCESS_ENTRY, ACCESS_POLICY, CLUSTER, CONFIG_MAP, ENTRIES
from policies.rule import Check, Context, ResourceRule, Setting, StackRule, Violation, violation


def _public(cluster: Resource) -> bool:
    """EKS makes the endpoint public by default (eks:CreateCluster, endpointPublicAccess)."""
    return cluster["vpcConfig"]["endpointPublicAccess"].is_true(default=True)


def _no_networks(cluster: Resource, _: Context) -> Iterator[Violation]:
    cidrs = cluster["vpcConfig"]["publicAccessCidrs"]
    if _public(cluster) and (cidrs.missing or (cidrs.known and not cidrs.items())):
        yield violation(cidrs)


def _whole_internet(cluster: Resource, _: Context) -> Iterator[Violation]:
    if _public(cluster):
        yield from (violation(cidr) for cidr in internet(cluster["vpcConfig"]["publicAccessCidrs"].items()))


NO_WORLD_ENDPOINT = ResourceRule(
    name="eks-no-world-endpoint",
    title="The API server is not open to the whole internet",
    types=(CLUSTER,),
    severity=Severity.CRITICAL,
    levels=Levels("M/M/M"),
    why="A stolen token, or the next vulnerability of the API server, can otherwise be used from anywhere.",
    fix="List client networks in cluster.endpoint.publicAccessCidrs, or set cluster.endpoint.publicAccess: false.",
    checks={
        "ranges": Check(
            asks="must list the networks that may reach the public endpoint",
            find=_no_networks,
            external_ids=("CKV_AWS_38", "CIS-5.4.1"),
        ),
        "anywhere": Check(
            asks="must not be all addresses",
            find=_whole_internet,
            external_ids=("CKV_AWS_38", "AVD-AWS-0041", "CIS-5.4.1"),
        ),
    },
)


def _not_private(cluster: Resource, _: Context) -> Iterator[Violation]:
    access = cluster["vpcConfig"]["endpointPrivateAccess"]
    if access.is_false(default=False):
        yield violation(access)


def _needlessly_public(cluster: Resource, context: Context) -> Iterator[Violation]:
    if _public(cluster) and not context.settings["allowPublic"]:
        yield violation(cluster["vpcConfig"]["endpointPublicAccess"])


PRIVATE_ENDPOINT = ResourceRule(
    name="eks-private-endpoint",
    title="Nodes reach the API server inside the VPC, and in production its public endpoint is off",
    types=(CLUSTER,),
    severity=Severity.HIGH,
    levels=Levels("A/A/M"),
    why="Without the private endpoint, nodes talk to the control plane through NAT and the internet.",
    fix="Set cluster.endpoint.publicAccess: false, and reach the API from the VPC or a peered network.",
    settings={
        "allowPublic": Setting(
            asks="whether the endpoint may also be public",
            schema={"type": "boolean"},
            values={"dev": True, "staging": False, "prod": False},
        )
    },
    checks={
        "private": Check(
            asks="must be true",
            find=_not_private,
            external_ids=("CIS-5.4.2",),
        ),
        "public": Check(
            asks="must be false",
            find=_needlessly_public,
            external_ids=("CKV_AWS_39", "AVD-AWS-0040"),
        ),
    },
)


def _old_mode(cluster: Resource, _: Context) -> Iterator[Violation]:
    if cluster.type == CLUSTER and (mode := cluster["accessConfig"]["authenticationMode"]).is_not("API"):
        yield violation(mode)


def _creator_is_admin(cluster: Resource, _: Context) -> Iterator[Violation]:
    """EKS makes the creator an administrator by default (eks:CreateCluster, accessConfig)."""
    if cluster.type == CLUSTER:
        creator = cluster["accessConfig"]["bootstrapClusterCreatorAdminPermissions"]
        if creator.is_true(default=True):
            yield violation(creator)


def _masters(entry: Resource, _: Context) -> Iterator[Violation]:
    if entry.type == ACCESS_ENTRY:
        yield from (violation(group) for group in entry["kubernetesGroups"].items() if group.raw == "system:masters")


def _system_user(entry: Resource, _: Context) -> Iterator[Violation]:
    """EKS makes the user name from the principal unless the entry has one (eks:CreateAccessEntry, username)."""
    if entry.type == ACCESS_ENTRY and str(entry["userName"].raw).startswith("system:"):
        yield violation(entry["userName"])


def _auth_map(config: Resource, _: Context) -> Iterator[Violation]:
    if config.type == CONFIG_MAP and (name := config["metadata"]["name"]).raw == "aws-auth":
        yield violation(name)


ACCESS_ENTRIES_ONLY = ResourceRule(
    name="eks-access-entries-only",
    title="Access to the cluster is granted by access entries only",
    types=(CLUSTER, ACCESS_ENTRY, CONFIG_MAP),
    severity=Severity.HIGH,
    levels=Levels("A/M/M"),
    why="Write access to the ConfigMap aws-auth makes an identity an administrator, and CloudTrail does not record it.",
    fix="Grant access with cluster.access in the stack file.",
    checks={
        "mode": Check(
            asks="must be 'API'",
            find=_old_mode,
            external_ids=("CIS-4.1.7", "CIS-5.5.1"),
        ),
        "creator": Check(
            asks="must be false",
            find=_creator_is_admin,
        ),
        "masters": Check(
            asks="must not be 'system:masters', whose permissions RBAC can't restrict",
            find=_masters,
        ),
        "user": Check(
            asks="must not be a user of the system",
            find=_system_user,
        ),
        "aws-auth": Check(
            asks="must not be 'aws-auth'",
            find=_auth_map,
        ),
    },
)


def _unlisted(stack: Stack, _: Context) -> Iterator[Violation]:
    known = listed_principals(stack)
    if known is None:
        return
    for granted in stack.of(ACCESS_POLICY):
        principal = granted["principalArn"].text()
        if principal is not None and principal not in known:
            yield violation(granted["principalArn"], at=granted)


PRINCIPALS_LISTED = StackRule(
    name="eks-access-in-stack-file",
    title="The stack file names everyone whom an access policy gives permissions in the cluster",
    types=(ENTRIES, ACCESS_POLICY),
    severity=Severity.CRITICAL,
    levels=Levels("M/M/M"),
    why="An association with AmazonEKSClusterAdminPolicy makes its principal an administrator; reviewers look for "
    "access in the stack file.",
    fix="Declare the access in cluster.access of the stack file.",
    checks={
        "listed": Check(
            asks="must be in cluster.access of the stack file",
            find=_unlisted,
        )
    },
)

RULES = (NO_WORLD_ENDPOINT, PRIVATE_ENDPOINT, ACCESS_ENTRIES_ONLY, PRINCIPALS_LISTED)
