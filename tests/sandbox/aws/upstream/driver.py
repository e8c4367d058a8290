"""A stack in the account by the Terraform AWS provider: made, planned again, read, changed, imported, destroyed."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from graphlib import TopologicalSorter
from typing import Any, Final

from slipway.render.recording import RecordedResource, Recording
from slipway.render.terraform import SHORTEST, argument, snake, terraform_type
from tests.sandbox.aws.upstream.messages import pack
from tests.sandbox.aws.upstream.plans import KNOWN, changed, configuration, planned, resources
from tests.sandbox.aws.upstream.plugin import ABSENT, Plugin, RefusedError, value_of

_AT_ONCE: Final = 32
"""The provider waits for many seconds, of which nobody works."""


@dataclass
class Object:
    """A resource, and what the provider keeps of it."""

    resource: RecordedResource
    inputs: dict[str, Any]
    type: str
    config: dict[str, Any] = field(default_factory=dict)
    state: Any = None
    private: bytes = b""
    made: bool = False


class Driver:
    """One stack in one account."""

    def __init__(self, plugin: Plugin, recording: Recording) -> None:
        self.plugin = plugin
        self.objects = {one.urn: Object(one, inputs, terraform_type(one.type)) for one, inputs in resources(recording)}
        self.problems: dict[str, str] = {}
        """What went wrong, by step and type."""

    def run(self) -> None:
        """All steps, one after the other."""
        for step in (self.create, self.again, self.read, self.change, self.restore, self.imported, self.freed):
            self._each(step)
        self._each(self.destroy, backwards=True)

    def _each(self, step: Callable[[Object], None], *, backwards: bool = False) -> None:
        """A step for every object, after those that it depends on, or that depend on it."""
        waits = {urn: {*one.resource.options.dependencies} & set(self.objects) for urn, one in self.objects.items()}
        if backwards:
            waits = {urn: {other for other in waits if urn in waits[other]} for urn in waits}
        done: dict[str, Future[None]] = {}
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            for urn in TopologicalSorter(waits).static_order():
                done[urn] = pool.submit(self._one, step, self.objects[urn], [done[each] for each in waits[urn]])
        for each in done.values():
            each.result()

    def _one(self, step: Callable[[Object], None], one: Object, before: list[Future[None]]) -> None:
        for each in before:
            each.result()
        if one.state is None and step != self.create:
            return
        try:
            step(one)
        except RefusedError as error:
            self._problem(step, one, str(error))

    def _problem(self, step: Callable[..., Any], one: Object, text: str) -> None:
        self.problems.setdefault(f"{step.__name__} {one.type}", f"{one.resource.name}: {text}")

    def create(self, one: Object) -> None:
        """Make it, with what others have become in the account."""
        one.config = self._configuration(one, one.inputs)
        self._apply(one, one.config)
        one.made = True

    def _configuration(self, one: Object, inputs: Mapping[str, Any]) -> dict[str, Any]:
        block = self.plugin.schemas.resource_schemas[one.type].block
        sources = one.resource.options.property_dependencies
        found = {key: self._real(value, sources.get(key, ())) for key, value in inputs.items()}
        # Names that pulumi-aws gives by itself.
        if any(each.name == "name" and each.required for each in block.attributes):
            found.setdefault("name", one.resource.name)
        config = configuration(block, one.resource.type, found)
        self.plugin.call("ValidateResourceTypeConfig", type_name=one.type, config=pack(config))
        return config

    def _real(self, value: Any, urns: tuple[str, ...]) -> Any:
        """The value with what the account gave, in place of the samples of a recording."""
        known = {
            sample: real
            for each in map(self.objects.get, urns)
            if each is not None and each.state is not None
            for sample, real in _given(each)
        }
        if not known:
            return value
        text = json.dumps(value)
        pattern = re.compile("|".join(map(re.escape, sorted(known, key=len, reverse=True))))
        return json.loads(pattern.sub(lambda match: known[match.group()], text))

    def _apply(self, one: Object, config: dict[str, Any] | None) -> None:
        plan = planned(self.plugin, one.type, one.state, config, one.private)
        try:
            answer = self.plugin.call(
                "ApplyResourceChange",
                type_name=one.type,
                prior_state=ABSENT if one.state is None else pack(one.state),
                planned_state=pack(plan.state),
                config=pack(config),
                planned_private=plan.private,
            )
        except RefusedError as error:
            if error.partial is not None and (partial := value_of(error.partial.new_state)) is not None:
                one.state = partial
            raise
        one.state, one.private = value_of(answer.new_state), answer.private

    def again(self, one: Object) -> None:
        """The same configuration changes nothing."""
        plan = planned(self.plugin, one.type, one.state, one.config, one.private)
        if plan.state != one.state or plan.replacing:
            self._problem(self.again, one, _difference(one.state, plan.state))

    def read(self, one: Object) -> None:
        """A refresh finds it, and nothing to change."""
        answer = self.plugin.call(
            "ReadResource", type_name=one.type, current_state=pack(one.state), private=one.private
        )
        found = value_of(answer.new_state)
        if found is None:
            self._problem(self.read, one, "nothing is found")
        else:
            one.state = found
            self.again(one)

    def change(self, one: Object) -> None:
        """The first input that can be changed in place is; an object without one stays."""
        for name, other in self._others(one):
            config = {**one.config, name: other}
            try:
                self.plugin.call("ValidateResourceTypeConfig", type_name=one.type, config=pack(config))
                if planned(self.plugin, one.type, one.state, config, one.private).replacing:
                    continue
            except RefusedError:
                continue
            self._apply(one, config)
            if (found := (one.state or {}).get(name)) != other:
                self._problem(self.change, one, f"{name} is {found}, not {other}")
            return

    def _others(self, one: Object) -> Iterator[tuple[str, Any]]:
        block = self.plugin.schemas.resource_schemas[one.type].block
        # What others give it has no other value that exists.
        given = {*map(argument, one.resource.options.property_dependencies), "region", *KNOWN["kept"].get(one.type, ())}
        for key, value in one.config.items():
            if key not in given and (other := changed(value)) is not None:
                yield key, other
        if any(each.name == "tags" for each in block.attributes):
            yield "tags", {**(one.config["tags"] or {}), "changed": "yes"}

    def restore(self, one: Object) -> None:
        """And back."""
        if planned(self.plugin, one.type, one.state, one.config, one.private).state != one.state:
            self._apply(one, one.config)
            self.again(one)

    def imported(self, one: Object) -> None:
        """An import by its ID finds it."""
        id = KNOWN["imported"].get(one.type, "{id}").format_map(_Texts(one.state))
        if not id:
            return
        answer = self.plugin.call("ImportResourceState", type_name=one.type, id=id)
        (found,) = answer.imported_resources
        read = self.plugin.call(
            "ReadResource", type_name=one.type, current_state=found.state.msgpack, private=found.private
        )
        if value_of(read.new_state) is None:
            self._problem(self.imported, one, f"nothing has the ID {id}")

    def freed(self, one: Object) -> None:
        """What keeps it from being deleted is turned off."""
        changes = {name: value for name, value in KNOWN["freed"].items() if one.state.get(name) not in (None, value)}
        if changes:
            self._apply(one, {**one.config, **changes})

    def destroy(self, one: Object) -> None:
        """It ends, and a refresh doesn't find it."""
        before = pack(one.state)
        self._apply(one, None)
        answer = self.plugin.call("ReadResource", type_name=one.type, current_state=before, private=one.private)
        if value_of(answer.new_state) is not None:
            self._problem(self.destroy, one, "it is there still")


class _Texts(dict[str, Any]):
    """Attributes of a state, of which those that it lacks are empty."""

    def __missing__(self, key: str) -> str:
        return ""


def _given(one: Object) -> Iterator[tuple[str, str]]:
    """Texts that the recording has for outputs, with the account's."""
    for path, sample in [(("id",), one.resource.id), *_texts(one.resource.outputs.plain)]:
        if len(sample) >= SHORTEST and (real := _at(one.state, path)):
            yield json.dumps(sample)[1:-1], json.dumps(real)[1:-1]


def _texts(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], str]]:
    if isinstance(value, str):
        yield path, value
    pairs = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list) else ()
    for key, item in pairs:
        yield from _texts(item, (*path, key))


def _at(state: Any, path: tuple[Any, ...]) -> str | None:
    for key in path:
        if isinstance(state, list) and not isinstance(key, int):
            state = state[0] if state else None
        if isinstance(key, int):
            state = state[key] if isinstance(state, list) and key < len(state) else state
        elif isinstance(state, Mapping):
            name = next((name for name in (snake(key), argument(key)) if name in state), "")
            state = state.get(name)
    return state if isinstance(state, str) else None


def _difference(before: Any, after: Any) -> str:
    if not isinstance(after, Mapping):
        return f"it is {after}"
    return "; ".join(f"{key}: {before[key]} -> {after[key]}" for key in before if before[key] != after[key])
