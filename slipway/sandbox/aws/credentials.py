"""Credentials with which any AWS client uses a stack's account in the sandbox.

Moto selects the account by a header that only our provider sends. A session issued by moto's STS identifies the account
too, and every SDK and the AWS CLI can use one.
"""

from __future__ import annotations

from slipway.sandbox.aws.client import Aws, Clients

ROLE = "slipway-sandbox"
"""Name of the role in the session's ARN; moto does not require it to exist, so the account stays empty."""
DURATION_SECONDS = 12 * 3600
"""The maximum that AWS allows for a session (STS API Reference, AssumeRole)."""


def credentials(endpoint: str, account: str, region: str) -> dict[str, str]:
    """The environment variables for a session of an account.

    Args:
        endpoint: Address of the moto server.
        account: AWS account, 12 digits.
        region: Default AWS Region of clients.
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
        # boto3 and the AWS CLI read the first, other SDKs the second.
        "AWS_DEFAULT_REGION": region,
        "AWS_REGION": region,
    }
