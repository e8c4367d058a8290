"""IAM roles and users that the stack names, and service-linked roles that it needs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from botocore.exceptions import ClientError

from slipway.account.context import Context, failed, note, ok
from slipway.findings import Finding
from spec.settings.capacity import Market

SPOT_ROLE: Final = "AWSServiceRoleForEC2Spot"
"""Without it the first Spot request makes it, which Karpenter's role may not do (Karpenter, "Troubleshooting",
`ServiceLinkedRoleCreationNotPermitted`)."""


def exist(context: Context) -> Iterator[Finding]:
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


def spot_role(context: Context) -> Iterator[Finding]:
    """The service-linked role for Spot exists, if a pool is Spot."""
    spot = sorted(name for name, pool in context.platform.capacities.items() if pool.capacity.market is Market.SPOT)
    if not spot:
        return
    if _role(context, SPOT_ROLE) is None:
        fix = "aws iam create-service-linked-role --aws-service-name spot.amazonaws.com"
        yield failed("Spot role", f"{SPOT_ROLE} does not exist; pools {', '.join(spot)} need it", fix)
    else:
        yield ok("Spot role", f"{SPOT_ROLE} exists")


def _exists(context: Context, arn: str) -> bool:
    kind, _, path = arn.rpartition(":")[2].partition("/")
    name = path.rpartition("/")[2]
    found = _role(context, name) if kind == "role" else _user(context, name)
    return found == arn


def _role(context: Context, name: str) -> str | None:
    try:
        return str(context.client("iam").get_role(RoleName=name)["Role"]["Arn"])
    except ClientError as error:
        if error.response["Error"]["Code"] == "NoSuchEntity":
            return None
        raise


def _user(context: Context, name: str) -> str | None:
    try:
        return str(context.client("iam").get_user(UserName=name)["User"]["Arn"])
    except ClientError as error:
        if error.response["Error"]["Code"] == "NoSuchEntity":
            return None
        raise
