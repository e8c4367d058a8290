"""What the engine asks of a resource or function, answered by the provider: in Pulumi's values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, Final

import grpc

from sandbox.aws.client import Aws
from sandbox.aws.terraform import objects
from sandbox.aws.terraform.forms import convert, path, reverse
from sandbox.aws.terraform.messages import Unknown, pack
from sandbox.aws.terraform.names import GIVEN, Type
from sandbox.aws.terraform.objects import Plan, State
from sandbox.aws.terraform.plugin import Plugin, RefusedError, complete, value_of
from sandbox.aws.terraform.processes import TOOL, Processes
from sandbox.rpc import diff
from sandbox.rpc.diff import ADD, DELETE, UPDATE, Change
from sandbox.rpc.errors import PartialFailureError, ProviderError
from sandbox.rpc.hooks import Failure, Values
from sandbox.rpc.wire import UNKNOWN

META: Final = "__meta"
"""The output that has what the provider keeps with an object, as in bridged providers."""
TAGS: Final = ("tags", "tagsAll")


class Acting:
    """One type in one account."""

    def __init__(self, processes: Processes, aws: Aws, type: Type) -> None:
        self._processes, self.aws, self.type = processes, aws, type

    @contextmanager
    def plugin(self) -> Iterator[Plugin]:
        """The provider, whose refusals are errors of ours meanwhile."""
        try:
            with self._processes.of(self.aws) as plugin:
                yield plugin
        except RefusedError as error:
            raise ProviderError(str(error)) from error
        except grpc.RpcError as error:
            msg = f"{TOOL} failed: {error}"
            raise ProviderError(msg) from error

    def problems(self, inputs: Values) -> list[Failure]:
        """What the provider refuses of the inputs alone."""
        with self.plugin() as plugin:
            try:
                objects.validate(plugin, self.type, self.config(inputs))
            except RefusedError as error:
                return [Failure(diff.write(path(self.type.form, at)), text) for at, text in error.problems]
        return []

    def config(self, inputs: Values) -> Values:
        """The inputs as the configuration of Terraform's type."""
        return {**convert(self.type.form, inputs), **GIVEN.get(self.type.name, {})}

    def outputs(self, state: State, inputs: Values) -> Values:
        """A state as outputs, with the inputs that the provider doesn't have."""
        found: Values = reverse(self.type.form, state.value)
        found |= {key: inputs[key] for key in self.type.form.lacks(inputs)}
        if state.private:
            found[META] = state.private.decode()
        return found

    def planned(self, plan: Plan, inputs: Values) -> Values:
        """The outputs that a plan knows; of a map with one unknown value, the provider knows none."""
        found = self.outputs(State(plan.after.value), inputs)
        return {key: inputs.get(key, item) if item == UNKNOWN else item for key, item in found.items()}

    def id(self, state: State) -> str:
        """The ID of an object."""
        value = state.value or {}
        names = ("id", "arn", "name", *(each.name for each in self.type.block.attributes if each.required))
        return str(next((value[name] for name in names if value.get(name)), ""))

    def state(self, id: str, outputs: Values) -> State:
        """The state that outputs are of."""
        value: Values = convert(self.type.form, {key: item for key, item in outputs.items() if key != META})
        if "id" in value:
            value["id"] = outputs.get("id", id)
        return State(value, str(outputs.get(META, "")).encode())

    def before(self, plugin: Plugin, id: str, outputs: Values, inputs: Values) -> State:
        """The same; of outputs that another provider made, what the account says, and defaults of what it doesn't."""
        state = self.state(id, outputs)
        if META in outputs:
            return state
        with suppress(RefusedError):
            found = objects.read(plugin, self.type, state)
            state = found if found.value is not None else state
        with suppress(RefusedError):
            new = objects.planned(plugin, self.type, State(), self.config(inputs))
            state = objects.completed(state, new)
        return state

    # -- changes -------------------------------------------------------------------------------------------------------

    def creation(self, inputs: Values) -> Plan:
        """The plan of a new object. Raises ProviderError for what the provider refuses."""
        with self.plugin() as plugin:
            return objects.planned(plugin, self.type, State(), self.config(inputs))

    def change(self, id: str, outputs: Values, inputs: Values) -> Plan:
        """The plan of a change. Raises ProviderError for what the provider refuses."""
        with self.plugin() as plugin:
            return objects.planned(plugin, self.type, self.before(plugin, id, outputs, inputs), self.config(inputs))

    def completion(self, id: str, outputs: Values, inputs: Values) -> Plan:
        """The plan of a change; where nothing would change, what an earlier failure left open in the account."""
        plan = self.change(id, outputs, inputs)
        if plan.changed():
            return plan
        with self.plugin() as plugin:
            live = objects.read(plugin, self.type, plan.before)
            return plan if live.value is None else objects.planned(plugin, self.type, live, self.config(inputs))

    def make(self, plan: Plan, inputs: Values, id: str = "") -> tuple[str, Values]:
        """Make a planned change; the ID and outputs. Raises PartialFailureError if the object exists nevertheless."""
        with self.plugin() as plugin:
            try:
                state = objects.applied(plugin, self.type, plan)
            except RefusedError as error:
                state = error.partial if isinstance(error.partial, State) else State()
                if state.value is None and not id:
                    raise
                known = state if state.value is not None else plan.before
                id = id or self.id(known)
                raise PartialFailureError(id, self.outputs(known, inputs), [str(error)]) from error
        outputs, own = self.outputs(state, inputs), self.id(state)
        # The engine keeps the first ID; that of an association is another one after a change.
        return id or own, {**outputs, "id": own} if id not in ("", own) else outputs

    def delete(self, id: str, outputs: Values) -> None:
        """Delete the object; no error if it does not exist any more."""
        with self.plugin() as plugin:
            try:
                self._delete(plugin, id, outputs)
            except RefusedError:
                if objects.read(plugin, self.type, self.state(id, outputs)).value is not None:
                    raise

    def _delete(self, plugin: Plugin, id: str, outputs: Values) -> None:
        objects.applied(
            plugin, self.type, objects.planned(plugin, self.type, self.before(plugin, id, outputs, {}), None)
        )

    def changes(self, plan: Plan, old_inputs: Values, inputs: Values) -> tuple[Change, ...]:
        """What a plan changes: inputs that are other ones, and outputs that are not as the inputs want them."""
        form = self.type.form
        changed = {form.name(name): name for name in plan.changed()}
        if "tags" in changed:
            changed.pop("tagsAll", None)
        lacks = form.lacks({**old_inputs, **inputs})
        given = diff.compare(old_inputs, inputs)
        found = [one for one in given if str(one.path[0]) in (*changed, *lacks)]
        shown = {str(one.path[0]) for one in found}
        before, after = reverse(form, plan.before.value) or {}, reverse(form, plan.after.value) or {}
        for key in sorted(changed.keys() - shown):
            if after.get(key) == UNKNOWN and key not in inputs:
                continue
            if key in inputs or key in old_inputs or changed[key] in plan.replacing or key in TAGS:
                kind = ADD if key not in before else DELETE if key not in after else UPDATE
                found.append(Change((key,), kind, input=False))
        return tuple(
            Change(one.path, one.kind, changed.get(str(one.path[0])) in plan.replacing, one.input) for one in found
        )

    # -- reading -------------------------------------------------------------------------------------------------------

    def read(self, id: str, outputs: Values, inputs: Values) -> tuple[str, Values, Values] | None:
        """The live object: its ID, outputs, and the inputs, of which those that the object isn't as have its values."""
        with self.plugin() as plugin:
            before = self.state(id, outputs)
            live = objects.read(plugin, self.type, before)
            if live.value is None:
                return None
            live = objects.settled(live, before)
            plan = objects.planned(plugin, self.type, live, self.config(inputs))
        found = self.outputs(live, inputs)
        after = plan.after.value or {}
        drifted = {self.type.form.name(name) for name in plan.changed() if not isinstance(after[name], Unknown)}
        seen = {key: found.get(key) if key in drifted else value for key, value in inputs.items()}
        for key in drifted - inputs.keys():
            # What the program doesn't set and the object has: the next plan takes it back.
            if key in found and key != "tagsAll" and self._settable(key):
                seen[key] = found[key]
        return self.id(live), found, {key: value for key, value in seen.items() if value is not None}

    def imported(self, id: str) -> tuple[str, Values, Values] | None:
        """The live object of an ID, with all of it that a program could have set as inputs."""
        with self.plugin() as plugin:
            try:
                live = objects.imported(plugin, self.type, id)
            except RefusedError:
                live = objects.read(plugin, self.type, self.state(id, {}))
        if live.value is None:
            return None
        found = self.outputs(live, {})
        inputs = {key: value for key, value in found.items() if self._settable(key) and value not in ("", [], {})}
        return self.id(live), found, inputs

    def _settable(self, key: str) -> bool:
        name = self.type.form.properties.get(key)
        attribute = next((one for one in self.type.block.attributes if one.name == name), None)
        return name is not None and key != "tagsAll" and (attribute is None or attribute.required or attribute.optional)


def data(processes: Processes, aws: Aws, type: Type, args: Values) -> Values:
    """The answer of a data source. Raises ProviderError."""
    config = complete(type.block, convert(type.form, args))
    try:
        with processes.of(aws) as plugin:
            answer = plugin.call("ReadDataSource", type_name=type.name, config=pack(config))
    except RefusedError as error:
        raise ProviderError(str(error)) from error
    found: Mapping[str, Any] = reverse(type.form, value_of(answer.state))
    return dict(found)
