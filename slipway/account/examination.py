"""Runs every check, and turns a refused question into a finding of its own."""

import re
from collections.abc import Callable, Iterator
from typing import Final

from botocore.exceptions import BotoCoreError, ClientError
from botocore.parsers import ResponseParserError

from slipway.account import capacity, cluster, identity, network, services
from slipway.account.context import AccountContext, Diagnosis, Level, failed, note

Check = Callable[[AccountContext], Iterator[Diagnosis]]
CHECKS: Final[tuple[tuple[str, Check], ...]] = (
    ("region", identity.region),
    ("access entry", identity.deployer),
    ("own policies", identity.own_policies),
    ("state", services.bucket),
    ("secrets", services.key),
    ("principals", identity.exist),
    ("Spot role", identity.spot_role),
    ("quotas on vCPUs", capacity.vcpus),
    ("quotas of the network", capacity.network),
    ("zones", capacity.usable),
    ("instance types", capacity.offerings),
    ("existing cluster", cluster.existing),
    ("existing network", network.existing),
    ("reservations", capacity.check),
    ("certificate", services.check),
    ("Kubernetes", services.kubernetes),
    ("add-ons", services.managed_addons),
    ("AMI releases", services.ami_releases),
    ("cost allocation tags", services.tags),
    ("anomaly monitor", services.anomaly_monitor),
)
"""Every check after the identity, by what a finding is called if AWS does not answer."""
_DENIED: Final = ("AccessDenied", "UnauthorizedOperation", "NotAuthorized")


def examine(context: AccountContext) -> list[Diagnosis]:
    """All findings; only the first if the credentials are missing or those of another account."""
    try:
        findings = list(identity.caller(context))
    except (BotoCoreError, ClientError, ResponseParserError) as error:
        return [
            failed(
                "identity", f"AWS does not answer: {_first_line(error)}", "log in: `aws sso login`, AWS_PROFILE, ..."
            )
        ]
    if findings[0].level is Level.FAILED:
        return findings
    for what, check in CHECKS:
        findings += _asked(what, check, context)
    return findings


def _asked(what: str, check: Check, context: AccountContext) -> list[Diagnosis]:
    # One by one: the findings before an error are kept.
    findings = []
    try:
        for finding in check(context):
            findings.append(finding)
    except ClientError as error:
        code, operation = error.response["Error"]["Code"], error.operation_name
        if any(word in code for word in _DENIED):
            fix = f"allow {operation}: docs/guides/commands.md lists the permissions of this command"
            findings.append(note(what, f"not checked: {operation} is not allowed", fix))
        else:
            findings.append(note(what, f"not checked: {_first_line(error)}"))
    except (BotoCoreError, ResponseParserError) as error:
        findings.append(note(what, f"not checked: {_first_line(error)}"))
    return findings


def _first_line(error: Exception) -> str:
    """The message without what follows its first line, and without a page of HTML: some proxies answer with one."""
    first = str(error).partition("\n")[0]
    page = re.search(r"<(!doctype|html|head|body)\b", first, re.IGNORECASE)
    return f"{first[: page.start()].strip()} a page of HTML, as proxies answer" if page else first
