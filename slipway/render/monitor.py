"""The engine's side of a run: answers each registration immediately, without providers or state.

It processes a registration as the engine does before calling a provider (pulumi v3.258.0,
pkg/resource/deploy/source_eval.go): it builds the URN, refuses duplicates, and applies inherited options.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, NoReturn

from google.protobuf import empty_pb2, struct_pb2
from pulumi.runtime.proto import engine_pb2, resource_pb2

from slipway.errors import RenderError
from slipway.render import samples
from slipway.render.existing import Answers
from slipway.render.recording import Options, RecordedResource
from slipway.render.registration import options_of
from slipway.render.urns import STACK_TYPE, make_urn
from slipway.render.values import Values, is_plain, read
from slipway.sandbox.rpc import wire
from slipway.sandbox.rpc.errors import ProviderError

DEFAULT_ACCOUNT: Final = "123456789012"
DEFAULT_REGION: Final = "us-east-1"

_FEATURES: Final = (
    resource_pb2.RESOURCE_MONITOR_FEATURE_SECRETS,
    resource_pb2.RESOURCE_MONITOR_FEATURE_ALIAS_SPECS,
    resource_pb2.RESOURCE_MONITOR_FEATURE_DELETED_WITH,
)
"""Transforms and hooks need a callback server, so the SDK refuses them; resource references are sent as ids."""

_LEVELS: Final = {engine_pb2.INFO: "info", engine_pb2.WARNING: "warning", engine_pb2.ERROR: "error"}


class Monitor:
    """Records the SDK's requests. Method names are those of the engine's gRPC services."""

    def __init__(self, project: str, stack: str, *, preview: bool, answers: Answers | None = None) -> None:
        self.resources: dict[str, RecordedResource] = {}
        self.exports = Values({})
        self.messages: list[tuple[str, str]] = []
        self.project = project
        self.stack = stack
        self._preview = preview
        self._answers = answers

    def RegisterResource(  # noqa: N802 - the name of the RPC
        self, request: resource_pb2.RegisterResourceRequest
    ) -> resource_pb2.RegisterResourceResponse:
        """Record one registration and answer it."""
        urn = make_urn(self.stack, self.project, request.parent or None, request.type, request.name)
        if request.remote:
            _refuse(
                urn,
                "a remote component can't be rendered: a plugin creates its children. Use a local component",
            )
        if urn in self.resources:
            _refuse(urn, "two resources have the same type, parent and name: rename one of them")
        parent = self.resources.get(request.parent)
        resource = RecordedResource(
            urn=urn,
            type=request.type,
            name=request.name,
            parent=request.parent or None,
            custom=request.custom,
            inputs=_read(urn, request.object),
            options=options_of(request, parent.options if parent else Options()),
        )
        identity, properties = self._answer(resource, request.object)
        self.resources[urn] = _with_outputs(resource, _read(urn, properties), identity)
        return resource_pb2.RegisterResourceResponse(
            urn=urn, id=identity, object=properties, unknown=request.custom and not self._preview
        )

    def RegisterResourceOutputs(  # noqa: N802
        self, request: resource_pb2.RegisterResourceOutputsRequest
    ) -> empty_pb2.Empty:
        """Keep the outputs that a component registers; those of the stack are the exports."""
        values = _read(request.urn, request.outputs)
        resource = self.resources[request.urn]
        self.resources[request.urn] = _with_outputs(resource, values)
        if resource.type == STACK_TYPE:
            self.exports = values
        return empty_pb2.Empty()

    def Invoke(self, request: resource_pb2.ResourceInvokeRequest) -> resource_pb2.ResourceInvokeResponse:  # noqa: N802
        """Answer what the settings determine; refuse others: an invoke queries a cloud."""
        answer = self._answers(request.tok, _read(request.tok, request.args).plain) if self._answers else None
        if answer is None:
            why = "a rendering can't invoke a cloud API: take the value from the settings or from spec.catalog"
            _refuse(request.tok, why)
        response = resource_pb2.ResourceInvokeResponse()
        # `return` is a Python keyword, so the field can't be set by name.
        getattr(response, "return").CopyFrom(wire.encode(answer))
        return response

    def Call(self, request: resource_pb2.ResourceCallRequest) -> NoReturn:  # noqa: N802
        """Refuse: a method of a resource runs in its provider."""
        _refuse(request.tok, "a rendering has no provider to run a resource's method: compute the value in the program")

    def ReadResource(self, request: resource_pb2.ReadResourceRequest) -> NoReturn:  # noqa: N802
        """Refuse: only a cloud can read existing resources."""
        _refuse(
            f"{request.type} {request.name}", "a rendering can't read existing resources: take the id from the settings"
        )

    def GetDeploymentInfo(self, _: empty_pb2.Empty) -> resource_pb2.DeploymentInfo:  # noqa: N802
        """The features that the SDK may use."""
        return resource_pb2.DeploymentInfo(supportedFeatures=_FEATURES)

    def SignalAndWaitForShutdown(self, _: empty_pb2.Empty) -> empty_pb2.Empty:  # noqa: N802
        """Nothing to wait for."""
        return empty_pb2.Empty()

    def Log(self, request: engine_pb2.LogRequest) -> None:  # noqa: N802
        """Keep the program's messages; the SDK's own debug messages are dropped."""
        if request.severity in _LEVELS:
            self.messages.append((_LEVELS[request.severity], request.message))

    def _answer(self, resource: RecordedResource, sent: struct_pb2.Struct) -> tuple[str, struct_pb2.Struct]:
        properties = struct_pb2.Struct()
        properties.CopyFrom(sent)
        if not resource.custom or self._preview:
            return "", properties
        account, region = self._place(resource.options.provider)
        facts = samples.Facts(
            urn=resource.urn,
            type=resource.type,
            logical_name=resource.name,
            inputs=resource.inputs.plain,
            project=self.project,
            stack=self.stack,
            account=account,
            region=region,
        )
        identity, outputs = samples.answer(facts)
        _overlay(properties, outputs)
        return identity, properties

    def _place(self, provider: str | None) -> tuple[str, str]:
        inputs: Mapping[str, Any] = self.resources[provider].inputs.plain if provider in self.resources else {}
        accounts = wire.nested(inputs.get("allowedAccountIds", "[]"))
        account = accounts[0] if isinstance(accounts, list) and accounts else DEFAULT_ACCOUNT
        return str(account), str(inputs.get("region", DEFAULT_REGION))


def _with_outputs(resource: RecordedResource, outputs: Values, identity: str = "") -> RecordedResource:
    return replace(resource, outputs=outputs, id=identity)


def _read(where: str, struct: struct_pb2.Struct) -> Values:
    try:
        return read(struct)
    except ProviderError as error:
        _refuse(where, str(error))


def _overlay(under: struct_pb2.Struct, over: Mapping[str, Any]) -> None:
    """Merge computed outputs over the inputs, maps by key; secret inputs are kept unchanged."""
    for key, value in wire.encode(over).fields.items():
        below = under.fields.get(key)
        if below is None or below.WhichOneof("kind") != "struct_value":
            under.fields[key].CopyFrom(value)
        elif is_plain(below.struct_value) and isinstance(over[key], Mapping):
            _overlay(below.struct_value, over[key])


def _refuse(where: str, why: str) -> NoReturn:
    msg = f"{where}: {why}"
    raise RenderError(msg)
