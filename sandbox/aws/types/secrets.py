"""Functions of the types in secrets.yaml: Secrets Manager and Parameter Store."""

from __future__ import annotations

from typing import Any, Final

from sandbox.aws.client import Aws, AwsError
from sandbox.aws.mapping import Call, Inputs, Item, find

SERVICE: Final = "secretsmanager"
RECOVERY_DAYS: Final = 30
"""Days in which a deleted secret can be restored, if the program says none (pulumi-aws, `recoveryWindowInDays`)."""
_SECRET: Final = Call("describe_secret", target={"SecretId": "{id}"})
_VERSION: Final = Call("get_secret_value", target={"SecretId": "{secretId}"})
_PARAMETER: Final = Call("get_parameter", target={"Name": "{id}"}, fixed={"WithDecryption": True}, item="Parameter")


def read_secret(aws: Aws, id: str, names: Inputs) -> Item | None:
    """The secret, unless it is to be deleted."""
    found = find(aws, SERVICE, _SECRET, {**names, "id": id})
    return None if found is None or found.get("DeletedDate") else found


def delete_secret(aws: Aws, id: str, olds: Inputs) -> None:
    """Its name is free again after the recovery window: with 0 at once."""
    days = olds.get("recoveryWindowInDays")
    window: dict[str, Any] = {"RecoveryWindowInDays": RECOVERY_DAYS if days is None else int(days)}
    aws.call(SERVICE, "delete_secret", SecretId=id, **(window if days != 0 else {"ForceDeleteWithoutRecovery": True}))


def put_version(aws: Aws, _id: str, inputs: Inputs) -> None:
    """A new version with the value."""
    _put(aws, inputs)


def _put(aws: Aws, inputs: Inputs) -> dict[str, Any]:
    call = Call("put_secret_value", omit=frozenset({"secretStringWo", "secretStringWoVersion"}))
    answer: dict[str, Any] = call(aws, SERVICE, inputs, {})
    return answer


def create_version(aws: Aws, inputs: Inputs) -> str:
    """The id is `SECRET|VERSION`."""
    return f"{inputs['secretId']}|{_put(aws, inputs)['VersionId']}"


def read_version(aws: Aws, id: str, names: Inputs) -> Item | None:
    """The current version of the secret."""
    return find(aws, SERVICE, _VERSION, {**names, "secretId": id.rpartition("|")[0]})


def delete_version(aws: Aws, id: str, _olds: Inputs) -> None:
    """A version goes with its secret: the current one can't be deleted (Secrets Manager, UpdateSecretVersionStage)."""


def parameter(inputs: Inputs) -> dict[str, Any]:
    """A value that is no secret has an input of its own."""
    return {**inputs, "value": inputs.get("value", inputs.get("insecureValue"))}


def read_parameter(aws: Aws, id: str, names: Inputs) -> Item | None:
    """The parameter with its value."""
    try:
        return find(aws, "ssm", _PARAMETER, {**names, "id": id})
    except AwsError as error:
        if error.code == "ParameterNotFound":
            return None
        raise
