"""Who asks: the account and the region are the stack's, and the principals that it names exist."""

from collections.abc import Iterator
from typing import Final

from slipway.account.context import AccountContext, Diagnosis, failed, note, ok
from spec.settings.capacity import Market

# Who asks, and whether the account and the region are the stack's.


EVERYTHING: Final = frozenset({"AdministratorAccess", "IAMFullAccess", "PowerUserAccess"})
"""Managed policies of AWS that allow everything, or to get there (AWS Managed Policy Reference)."""


def caller(context: AccountContext) -> Iterator[Diagnosis]:
    """The credentials belong to the stack's account, and not to its root user."""
    answer = context.client("sts").get_caller_identity()
    arn, wanted = answer["Arn"], context.platform.account.id
    if answer["Account"] != wanted:
        fix = f"log in to account {wanted}: `pulumi up` refuses any other"
        yield failed("identity", f"{arn}, and the stack is for account {wanted}", fix)
    elif arn.endswith(":root"):
        fix = "use a role: the root user is for account tasks alone (IAM User Guide, security best practices)"
        yield failed("identity", arn, fix)
    else:
        yield ok("identity", arn)


def region(context: AccountContext) -> Iterator[Diagnosis]:
    """The region is enabled for the account."""
    answer = context.client("ec2").describe_regions(RegionNames=[context.region], AllRegions=True)
    status = answer["Regions"][0].get("OptInStatus", "opt-in-not-required")
    if status == "not-opted-in":
        fix = (
            "enable it: `aws account enable-region --region-name " + context.region + "`, which takes minutes to hours"
        )
        yield failed("region", f"{context.region} is not enabled", fix)
    else:
        yield ok("region", f"{context.region} ({status})")


def deployer(context: AccountContext) -> Iterator[Diagnosis]:
    """The caller has an access entry: the cluster's creator gets no permissions in it."""
    arn = context.client("sts").get_caller_identity()["Arn"]
    names = {_role_of(entry.principal_arn) for entry in context.platform.cluster.access.values()}
    if _role_of(arn) in names:
        yield ok("access entry", f"{_role_of(arn)} is in cluster.access")
    else:
        fix = "if you run `pulumi up` with these credentials, add their role to cluster.access"
        yield note("access entry", f"{_role_of(arn)} is not in cluster.access", fix)


def own_policies(context: AccountContext) -> Iterator[Diagnosis]:
    """The caller's role has the policies of docs/first-deployment.md, and none that allows everything."""
    arn = context.client("sts").get_caller_identity()["Arn"]
    if ":assumed-role/" not in arn:
        return
    arguments = {"RoleName": _role_of(arn)}
    attached = context.pages("iam", "list_attached_role_policies", "AttachedPolicies", **arguments)
    wide = sorted(one["PolicyName"] for one in attached if one["PolicyName"] in EVERYTHING)
    if wide:
        fix = "if a pipeline deploys with this role, detach it: docs/first-deployment.md has the policies that it needs"
        yield note("own policies", f"{_role_of(arn)} has {', '.join(wide)}, which allow everything", fix)
    else:
        yield ok("own policies", f"{_role_of(arn)} has no policy of AWS that allows everything")


def _role_of(arn: str) -> str:
    """Name of the role or user: an assumed role's ARN has its name, without the path, and a session."""
    resource = arn.rpartition(":")[2]
    parts = resource.split("/")
    return parts[1] if parts[0] == "assumed-role" and len(parts) > 1 else parts[-1]


# IAM roles and users that the stack names, and service-linked roles that it needs.


SPOT_ROLE: Final = "AWSServiceRoleForEC2Spot"
"""Without it the first Spot request makes it, which Karpenter's role may not do (Karpenter, "Troubleshooting",
`ServiceLinkedRoleCreationNotPermitted`)."""


def exist(context: AccountContext) -> Iterator[Diagnosis]:
    """Every principal with an access entry exists: EKS refuses an entry for one that does not."""
    platform = context.platform
    named = {
        f"cluster.access.{name}.principalArn": entry.principal_arn for name, entry in platform.cluster.access.items()
    }
    for team, settings in platform.teams.items():
        for name, member in settings.members.items():
            named[f"teams.{team}.members.{name}.principalArn"] = member.principal_arn
    missing, elsewhere = [], 0
    for path, arn in named.items():
        if arn.split(":")[4] != platform.account.id:
            elsewhere += 1
        elif not _exists(context, arn):
            missing.append((path, arn))
    for path, arn in missing:
        yield failed("principals", f"{path}: {arn} does not exist", "create it, or correct its name and path")
    if not missing:
        yield ok("principals", f"{len(named) - elsewhere} of {len(named)} exist")
    if elsewhere:
        yield note("principals", f"{elsewhere} in other accounts can't be looked up from here")


def spot_role(context: AccountContext) -> Iterator[Diagnosis]:
    """The service-linked role for Spot exists, if a pool is Spot."""
    spot = sorted(name for name, pool in context.platform.capacities.items() if pool.capacity.market is Market.SPOT)
    if not spot:
        return
    if context.look_up("iam", "get_role", "NoSuchEntity", RoleName=SPOT_ROLE) is None:
        fix = "aws iam create-service-linked-role --aws-service-name spot.amazonaws.com"
        yield failed("Spot role", f"{SPOT_ROLE} does not exist; pools {', '.join(spot)} need it", fix)
    else:
        yield ok("Spot role", f"{SPOT_ROLE} exists")


def _exists(context: AccountContext, arn: str) -> bool:
    kind, _, path = arn.rpartition(":")[2].partition("/")
    name = path.rpartition("/")[2]
    if kind == "role":
        found = context.look_up("iam", "get_role", "NoSuchEntity", RoleName=name)
        return found is not None and found["Role"]["Arn"] == arn
    found = context.look_up("iam", "get_user", "NoSuchEntity", UserName=name)
    return found is not None and found["User"]["Arn"] == arn
