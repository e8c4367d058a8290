"""Credentials with which any AWS client is a stack's account in the sandbox.

Moto tells accounts apart by a header that only our provider sends; a session that its STS issued carries the account
too, and every SDK and the AWS CLI can use one.
"""

from __future__ import annotations

from slipway.sandbox.aws.client import Aws, Clients

ROLE = "slipway-sandbox"
"""Name of the role in the session's ARN; moto asks for none to exist, so the account stays empty."""
DURATION_SECONDS = 12 * 3600
"""As long as a working day; AWS allows a session 12 hours at most (STS API Reference, AssumeRole)."""


def credentials(endpoint: str, account: str, region: str) -> dict[str, str]:
    """The variables of a session of an account.

    Args:
        endpoint: Address of the moto server.
        account: AWS account, 12 digits.
        region: AWS Region that clients use where they name none.
    """
    clients = Clients(endpoint)
    answer = Aws(clients, region, account).call(
        "sts",
        "assume_role",
        RoleArn=f"arn:{clients.partition(region)}:iam::{account}:role/{ROLE}",
        RoleSessionName="shell",
        DurationSeconds=DURATION_SECONDS,
    )
    session = answer["Credentials"]
    return {
        "AWS_ACCESS_KEY_ID": session["AccessKeyId"],
        "AWS_SECRET_ACCESS_KEY": session["SecretAccessKey"],
        "AWS_SESSION_TOKEN": session["SessionToken"],
        # boto3 and the AWS CLI read the one, the other SDKs the other.
        "AWS_DEFAULT_REGION": region,
        "AWS_REGION": region,
    }
