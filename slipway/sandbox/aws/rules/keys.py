"""Who uses a KMS key: the key exists and is not pending deletion, when AWS looks at it at once.

S3, SQS and SNS store the name of a key without looking at it; their use of it fails later.
"""

from __future__ import annotations

from slipway.sandbox.aws.mapping import Call, find
from slipway.sandbox.aws.rules.rule import Case, Moment, Rule, rule, value

_SOURCE = "https://docs.aws.amazon.com/kms/latest/developerguide/key-state.html, read 2026-11; the service's own API"
_USERS = (
    ("aws:eks/cluster:Cluster", "encryptionConfig.provider.keyArn", "InvalidRequestException"),
    ("aws:efs/fileSystem:FileSystem", "kmsKeyId", "BadRequest"),
    ("aws:fsx/lustreFileSystem:LustreFileSystem", "kmsKeyId", "BadRequest"),
    ("aws:rds/instance:Instance", "kmsKeyId", "KMSKeyNotAccessibleFault"),
    ("aws:rds/instance:Instance", "masterUserSecretKmsKeyId", "KMSKeyNotAccessibleFault"),
    ("aws:rds/instance:Instance", "performanceInsightsKmsKeyId", "KMSKeyNotAccessibleFault"),
    ("aws:cloudwatch/logGroup:LogGroup", "kmsKeyId", "InvalidParameterException"),
    ("aws:ecr/repository:Repository", "encryptionConfigurations", "KmsException"),
    ("aws:kms/alias:Alias", "targetKeyId", "KMSInvalidStateException"),
)
"""Type, the input with the key, and the service's code."""


def _of(type_token: str, at: str, code: str) -> Rule:
    def usable_key(case: Case) -> str | None:
        """The key exists and is enabled."""
        return _problem(case, _key(case, at))

    return rule(type_token, code, at, _SOURCE, Moment.CREATE)(usable_key)


def _key(case: Case, at: str) -> str:
    given = value(case.new, at)
    if isinstance(given, list):
        given = next((one.get("kmsKey") for one in given if one.get("kmsKey")), None)
    return str(given or "")


def _problem(case: Case, key: str) -> str | None:
    """Keys of other accounts and regions are not known here."""
    elsewhere = key.startswith("arn:") and key.split(":")[3:5] != [case.aws.region, case.aws.account]
    if not key or elsewhere or key.startswith("alias/aws/"):
        return None
    described = find(case.aws, "kms", Call("describe_key", {"KeyId": key}, item="KeyMetadata"), {})
    if described is None:
        return f"Key '{key}' does not exist"
    state = described["KeyState"]
    return None if state == "Enabled" else f"{described['Arn']} is {_STATES.get(state, state)}."


_STATES = {"PendingDeletion": "pending deletion", "Disabled": "disabled"}

RULES = tuple(_of(*one) for one in _USERS)
