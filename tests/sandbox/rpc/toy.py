"""A provider that stores objects in a dict, so small that a failing test means an error of the base class."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pulumi

from sandbox.rpc import diff
from sandbox.rpc.errors import PartialFailureError, ProviderError
from sandbox.rpc.hooks import Failure, ReadResult, Resource, Values
from sandbox.rpc.provider import Provider


@dataclass(frozen=True)
class Session:
    """One provider instance."""

    zone: str
    peer: str


class ToyProvider(Provider[Session]):
    """Keeps `things` by id. The input `fail` names a step that fails while it is in `failing`."""

    version = "1.2.3"

    def __init__(self) -> None:
        super().__init__()
        self.things: dict[str, Values] = {}
        self.failing: set[str] = set()
        self.calls: list[tuple[str, str]] = []
        self.peers: set[str] = set()

    def configure(self, config: Mapping[str, Any], peer: str) -> Session:
        self.peers.add(peer)
        return Session(config.get("zone", "none"), peer)

    def check(
        self, session: Session, resource: Resource, news: Values, olds: Values, seed: bytes
    ) -> tuple[Values, list[Failure]]:
        if news.get("size") == "huge":
            return news, [Failure("size", "must be a number, got 'huge'")]
        return news, []

    def diff(
        self, session: Session, resource: Resource, id: str, old_inputs: Values, old_outputs: Values, news: Values
    ) -> diff.Diff:
        changes = diff.Diff(diff.compare(old_inputs, news), delete_before_replace=True)
        return changes.replacing(lambda path: path[0] == "kind")

    def create(self, session: Session, resource: Resource, inputs: Values) -> tuple[str, Values]:
        self.calls.append(("create", resource.name))
        if "create" in self.failing:
            msg = f"no room for {inputs}"
            raise ProviderError(msg)
        id = f"{resource.name}-{len(self.calls)}"
        self.things[id] = {**inputs, "copy": str(inputs.get("text")), "zone": session.zone}
        if "init" in self.failing:
            raise PartialFailureError(id, self.things[id], ["made, but never became ready"])
        return id, self.things[id]

    def read(self, session: Session, resource: Resource, id: str, outputs: Values, inputs: Values) -> ReadResult | None:
        thing = self.things.get(id)
        if thing is None:
            return None
        live = {k: v for k, v in thing.items() if k not in ("copy", "zone")}
        if not inputs:
            live[diff.DEFAULTS_KEY] = sorted(live)
        return ReadResult(id, thing, live)

    def update(
        self, session: Session, resource: Resource, id: str, olds: Values, news: Values, old_inputs: Values
    ) -> Values:
        self.calls.append(("update", resource.name))
        self.things[id] = {**news, "copy": str(news.get("text")), "zone": session.zone}
        if "init" in self.failing:
            raise PartialFailureError(id, self.things[id], ["changed in part"])
        return self.things[id]

    def delete(self, session: Session, resource: Resource, id: str, outputs: Values, old_inputs: Values) -> None:
        self.calls.append(("delete", resource.name))
        self.things.pop(id, None)


class Thing(pulumi.CustomResource):
    """A resource of the toy provider; outputs are all dynamic."""

    PULUMI_TYPE = "toy:index:Thing"

    copy: pulumi.Output[str]
    zone: pulumi.Output[str]

    def __init__(self, name: str, opts: pulumi.ResourceOptions | None = None, **props: Any) -> None:
        super().__init__(self.PULUMI_TYPE, name, {**props, "copy": None, "zone": None}, opts)


class ToyInstance(pulumi.ProviderResource):
    """An explicit instance of the toy provider."""

    def __init__(self, name: str, **props: Any) -> None:
        super().__init__("toy", name, props)
