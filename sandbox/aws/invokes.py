"""Data sources of types that the provider lacks: their objects are records, so their answers are made up."""

from __future__ import annotations

from typing import Any, Final

from sandbox.aws import records
from sandbox.aws.client import Aws
from sandbox.aws.schema import Schema, schema
from sandbox.rpc.errors import ProviderError

HINT: Final = (
    "make it first, in another program or with `slipway sandbox run -- aws ...` "
    "(docs/guides/any-program.md#what-your-account-has); `slipway sandbox network STACK` makes a stack's VPC"
)


def absent(aws: Aws, type_token: str, which: str) -> str:
    """The sentence about an object that the account doesn't have."""
    what = type_token.rpartition(":")[2]
    return f"couldn't find resource: no {what} {which} is in this account of the sandbox, in {aws.region}; {HINT}"


def recorded_type(token: str) -> Schema | None:
    """The schema of the type whose objects a data source names: `getZone` is of `zone`."""
    module, name = token.split("/", maxsplit=1)[0], token.rpartition(":")[2].removeprefix("get")
    return schema(f"{module}/{name[:1].lower()}{name[1:]}:{name}")


def invoke(aws: Aws, token: str, args: dict[str, Any]) -> dict[str, Any]:
    """The answer, with the arguments repeated as in the AWS provider. Raises ProviderError for an unknown function."""
    known = recorded_type(token)
    if known is None:
        msg = f"the sandbox does not support the function {token}: neither the provider nor pulumi-aws has its type"
        raise ProviderError(msg)
    id = records.name_of(known, args)
    return {"id": id, **records.found(aws, known, id), **args}
