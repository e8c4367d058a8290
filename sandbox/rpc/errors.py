"""Errors of a provider in the forms that the engine understands."""

from collections.abc import Mapping, Sequence
from typing import Any

import grpc
from google.protobuf import any_pb2, struct_pb2
from pulumi.runtime.proto import provider_pb2, status_pb2

DETAILS_KEY = "grpc-status-details-bin"


class ProviderError(Exception):
    """A failure with a message for the user: what is wrong, the value, how to fix it."""


class PartialFailureError(ProviderError):
    """The object `id` exists with `outputs`, but the operation did not complete, for these `reasons`."""

    def __init__(
        self, id: str, outputs: Mapping[str, Any], reasons: Sequence[str], inputs: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__("; ".join(reasons))
        self.id = id
        self.outputs = outputs
        self.reasons = tuple(reasons)
        self.inputs = inputs


def init_failed_metadata(
    error: PartialFailureError, properties: struct_pb2.Struct, inputs: struct_pb2.Struct | None, reasons: Sequence[str]
) -> tuple[str, bytes]:
    """The trailing metadata that carries a partial failure: a google.rpc.Status with one detail."""
    detail = provider_pb2.ErrorResourceInitFailed(
        id=error.id, properties=properties, inputs=inputs, reasons=list(reasons)
    )
    packed = any_pb2.Any()
    packed.Pack(detail)
    status = status_pb2.Status(code=grpc.StatusCode.UNKNOWN.value[0], message="; ".join(reasons), details=[packed])
    return DETAILS_KEY, status.SerializeToString()
