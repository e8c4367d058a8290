"""Run a program or a part of one without an engine, and see everything that it registered.

The SDK's own mocks show a resource's type, name and inputs. Tests here also ask about providers, protection, waits and
parents, so the monitor keeps the whole request. `run(build)` answers as AWS would after an update,
`run(build, preview=True)` as the engine does in a first preview: every computed output is unknown.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import pulumi
import pulumi_aws as aws
import pulumi_kubernetes as kubernetes
from google.protobuf import empty_pb2
from pulumi.runtime import mocks, settings
from pulumi.runtime.proto import resource_pb2
from pulumi.runtime.stack import run_pulumi_func
from pulumi.runtime.sync_await import _sync_await

from slipway.sandbox.rpc.wire import UNKNOWN, decode, encode
from tests.support import samples

PROJECT: Final = "slipway"
STACK: Final = "test"
_STACK_TYPE: Final = "pulumi:pulumi:Stack"
_PROVIDER_PREFIX: Final = "pulumi:providers:"

with warnings.catch_warnings():
    # pulumi_aws 7.51.1 warns of its own deprecated types when a family is first touched; no test should meet that.
    warnings.simplefilter("ignore", DeprecationWarning)
    _touched = (aws.ec2.Vpc, aws.s3.Bucket)

__all__ = ["PROJECT", "STACK", "UNKNOWN", "Recording", "Registered", "providers", "run"]


@dataclass(frozen=True, kw_only=True)
class Registered:
    """One resource as the engine would see it. Inputs are in the provider's spelling (camelCase)."""

    urn: str
    type: str
    name: str
    parent: str
    custom: bool
    inputs: Mapping[str, Any]
    provider: str
    """URN of the provider; empty where the default one would be used."""
    protect: bool
    depends_on: tuple[str, ...]
    """URNs of everything that it waits for, by option or by input."""
    input_sources: Mapping[str, tuple[str, ...]]
    """URNs behind each input."""
    ignore_changes: tuple[str, ...]
    deleted_with: str
    retain_on_delete: bool
    delete_before_replace: bool
    timeouts: Mapping[str, str]
    outputs: dict[str, Any] = field(default_factory=dict)
    """What a component registered at its end."""

    @property
    def is_provider(self) -> bool:
        """Whether it is a provider itself."""
        return self.type.startswith(_PROVIDER_PREFIX)


@dataclass(frozen=True)
class Recording:
    """Everything that a run registered, by URN, and what the built function returned (Outputs resolved)."""

    resources: Mapping[str, Registered]
    returned: Any
    exports: Mapping[str, Any]

    def __iter__(self) -> Iterator[Registered]:
        return iter(self.resources.values())

    def of(self, kind: type[pulumi.Resource] | str) -> dict[str, Registered]:
        """Resources of a type by name: `recording.of(aws.ec2.Vpc)`."""
        token = kind if isinstance(kind, str) else str(kind.pulumi_type)  # type: ignore[attr-defined]
        return {found.name: found for found in self if found.type == token}

    def one(self, kind: type[pulumi.Resource] | str) -> Registered:
        """The only resource of a type."""
        found = self.of(kind)
        assert len(found) == 1, f"expected one {kind}, found {sorted(found)}"
        return next(iter(found.values()))

    @property
    def names(self) -> set[tuple[str, str]]:
        """(type, name) of all."""
        return {(found.type, found.name) for found in self}

    @property
    def protected(self) -> set[str]:
        """Names of what is protected."""
        return {found.name for found in self if found.protect}

    @property
    def on_default_provider(self) -> set[str]:
        """Names of what would use credentials that happen to be around."""
        return {found.name for found in self if found.custom and not found.is_provider and not found.provider}

    def waits(self, waiter: Registered, awaited: Registered) -> bool:
        """Whether one resource is made only after another, directly or through others."""
        seen: set[str] = set()
        front = [*self._awaited_by(waiter)]
        while front:
            urn = front.pop()
            if urn == awaited.urn:
                return True
            if urn not in seen and urn in self.resources:
                seen.add(urn)
                front += self._awaited_by(self.resources[urn])
        return False

    def _awaited_by(self, waiter: Registered) -> Sequence[str]:
        return [*waiter.depends_on, *([waiter.provider] if waiter.provider else [])]


def run(build: Callable[[], Any], *, preview: bool = False, stack: str = STACK, project: str = PROJECT) -> Recording:
    """Run a function under fresh mocks.

    Args:
        build: Makes resources; what it returns may hold Outputs, which are resolved (unknown ones become None).
        preview: Answer as in a first preview, where nothing computed is known.
        stack: Name of the stack.
        project: Name of the project.

    Raises:
        Whatever `build` raises, and AssertionError for an invoke: programs here have none.
    """
    monitor = _Monitor(preview, project, stack)
    # A run that failed leaves its tasks and its root behind; a fresh one must not wait for them.
    settings.SETTINGS.rpc_manager.clear()
    settings.SETTINGS.outputs.clear()
    settings.set_root_resource(None)  # type: ignore[arg-type]
    mocks.set_mocks(monitor.refusing, project=project, stack=stack, preview=preview, monitor=monitor)
    returned: list[Any] = []
    exported: dict[str, Any] = {}

    async def program() -> None:
        returned.append(await pulumi.Output.from_input(build()).future())
        root = settings.get_root_resource()
        for key, value in dict(root.outputs).items():  # type: ignore[union-attr]
            exported[key] = await pulumi.Output.from_input(value).future()

    _sync_await(run_pulumi_func(program))
    return Recording(dict(sorted(monitor.registered.items())), returned[0], exported)


def providers(region: str = samples.REGION) -> list[pulumi.ProviderResource]:
    """Explicit providers for a component under test."""
    return [aws.Provider("aws", region=region), kubernetes.Provider("kubernetes", kubeconfig="{}")]


class _Refusing(mocks.Mocks):
    """No program here asks a cloud: settings and dated tables hold every fact."""

    def call(self, args: mocks.MockCallArgs) -> tuple[dict[str, Any], list[tuple[str, str]] | None]:
        msg = f"the program called {args.token}; facts come from settings and catalog, never from an invoke"
        raise AssertionError(msg)

    def new_resource(self, args: mocks.MockResourceArgs) -> tuple[str | None, dict[str, Any]]:
        msg = f"{args.name} ({args.typ}) is read from the cloud; programs here only register"
        raise AssertionError(msg)


class _Monitor(mocks.MockMonitor):
    """A monitor that keeps every request and answers like an engine with a cloud behind it."""

    def __init__(self, preview: bool, project: str, stack: str) -> None:
        self.refusing = _Refusing()
        super().__init__(self.refusing)
        self._preview = preview
        self._project, self._stack = project, stack
        self._lock = threading.Lock()  # the SDK registers from a pool of threads
        self.registered: dict[str, Registered] = {}

    def make_urn(self, parent: str, type_: str, name: str) -> str:
        """A URN with the whole chain of parent types, as the engine makes it (the SDK's mock keeps one level)."""
        qualified = parent.split("::")[2] if parent else ""
        chain = f"{qualified}${type_}" if qualified and qualified != _STACK_TYPE else type_
        return f"urn:pulumi:{self._stack}::{self._project}::{chain}::{name}"

    def RegisterResource(self, request: Any) -> Any:  # noqa: N802 - the name of the RPC
        urn = self.make_urn(request.parent, request.type, request.name)
        if request.type == _STACK_TYPE:
            return resource_pb2.RegisterResourceResponse(urn=urn)
        inputs = decode(request.object)
        with self._lock:
            assert urn not in self.registered, f"{urn} is registered twice: the engine would refuse it"
            self.registered[urn] = _registered(urn, request, inputs)
        if not request.custom:
            return resource_pb2.RegisterResourceResponse(urn=urn, object=request.object)
        if self._preview:
            # The engine answers a preview with the inputs; the SDK makes every output that is missing unknown.
            return resource_pb2.RegisterResourceResponse(urn=urn, object=request.object)
        outputs = samples.outputs(request.type, request.name, inputs)
        found = str(outputs.pop("id", "") or samples.identifier(request.type, request.name, inputs))
        return resource_pb2.RegisterResourceResponse(urn=urn, id=found, object=encode(outputs))

    def RegisterResourceOutputs(self, request: Any) -> Any:  # noqa: N802 - the name of the RPC
        with self._lock:
            if request.urn in self.registered:
                self.registered[request.urn].outputs.update(decode(request.outputs))
        return empty_pb2.Empty()


def _registered(urn: str, request: Any, inputs: Mapping[str, Any]) -> Registered:
    timeouts = {key: getattr(request.customTimeouts, key) for key in ("create", "update", "delete")}
    return Registered(
        urn=urn,
        type=request.type,
        name=request.name,
        parent=request.parent,
        custom=request.custom,
        inputs=inputs,
        provider=request.provider.rpartition("::")[0],
        protect=request.protect,
        depends_on=tuple(sorted(request.dependencies)),
        input_sources={key: tuple(sorted(value.urns)) for key, value in sorted(request.propertyDependencies.items())},
        ignore_changes=tuple(request.ignoreChanges),
        deleted_with=request.deletedWith,
        retain_on_delete=request.retainOnDelete,
        delete_before_replace=request.deleteBeforeReplace,
        timeouts={key: value for key, value in timeouts.items() if value},
    )
