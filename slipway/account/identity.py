"""Who asks, and whether the account and the region are the stack's."""

from __future__ import annotations

from collections.abc import Iterator

from slipway.account.context import Context, failed, note, ok
from slipway.findings import Finding


def caller(context: Context) -> Iterator[Finding]:
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


def region(context: Context) -> Iterator[Finding]:
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


def deployer(context: Context) -> Iterator[Finding]:
    """The caller has an access entry: the cluster's creator gets no permissions in it."""
    arn = context.client("sts").get_caller_identity()["Arn"]
    names = {_role_of(entry.principal_arn) for entry in context.platform.cluster.access.values()}
    if _role_of(arn) in names:
        yield ok("access entry", f"{_role_of(arn)} is in cluster.access")
    else:
        fix = "if you run `pulumi up` with these credentials, add their role to cluster.access"
        yield note("access entry", f"{_role_of(arn)} is not in cluster.access", fix)


def _role_of(arn: str) -> str:
    """Name of the role or user: an assumed role's ARN has its name, without the path, and a session."""
    resource = arn.rpartition(":")[2]
    parts = resource.split("/")
    return parts[1] if parts[0] == "assumed-role" and len(parts) > 1 else parts[-1]
