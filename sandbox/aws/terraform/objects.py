"""Objects of the Terraform provider: planned, made, read, imported and deleted, in Terraform's values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from sandbox.aws.moto import questions
from sandbox.aws.terraform.messages import Unknown, pack
from sandbox.aws.terraform.names import Type
from sandbox.aws.terraform.plugin import MANY, SET, Plugin, RefusedError, checked, path_of, value_of

Values = dict[str, Any]
PATIENCE: Final = 5.0
"""Seconds in which nothing changes, until a deletion that something is in the way of is given up."""
_DESCRIPTION: Final = ("description", "Managed by Terraform", "Managed by Pulumi")
"""A default of the provider that pulumi-aws replaces (pulumi-aws 7.51, `patches/`, "Managed by Pulumi")."""


@dataclass(frozen=True)
class State:
    """What the provider knows of an object, and what it keeps with it."""

    value: Values | None = None
    private: bytes = b""


@dataclass(frozen=True)
class Plan:
    """A change: the configuration, the state before and the one planned, and the attributes that replace the object."""

    config: Values | None
    before: State
    after: State
    replacing: frozenset[str] = frozenset()

    def changed(self) -> list[str]:
        """The attributes that change. What only the apply will know changes with others, never by itself."""
        old, new, config = self.before.value or {}, self.after.value or {}, self.config or {}
        found = [name for name in new if not same(old.get(name), new[name])]
        return (
            found if any(not isinstance(new[name], Unknown) or has_unknown(config.get(name)) for name in found) else []
        )


def same(old: Any, new: Any) -> bool:
    """Whether two values are equal; to the provider's own library a value that is missing is an empty one."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        return all(same(old.get(key), new.get(key)) for key in {*old, *new})
    if isinstance(old, list) and isinstance(new, list):
        return len(old) == len(new) and all(map(same, old, new))
    empty: tuple[Any, ...] = ("", 0, False, [], {}, None)
    return old == new or (old in empty and new in empty and None in (old, new))


def has_unknown(value: Any) -> bool:
    """Whether an unknown is anywhere in the value."""
    if isinstance(value, Mapping):
        return any(map(has_unknown, value.values()))
    return any(map(has_unknown, value)) if isinstance(value, list) else isinstance(value, Unknown)


def validate(plugin: Plugin, type: Type, config: Values) -> None:
    """Raises RefusedError for what the provider refuses of a configuration alone."""
    plugin.call("ValidateResourceTypeConfig", type_name=type.name, config=pack(config))


def planned(plugin: Plugin, type: Type, before: State, config: Values | None) -> Plan:
    """The plan for a configuration; None deletes. Raises RefusedError."""
    wanted = None if config is None else proposed(type.block, before.value, config)
    answer = plugin.call(
        "PlanResourceChange",
        type_name=type.name,
        prior_state=pack(before.value),
        proposed_new_state=pack(wanted),
        config=pack(config),
        prior_private=before.private,
    )
    after = value_of(answer.planned_state)
    name, theirs, ours = _DESCRIPTION
    if config is not None and after is not None and after.get(name) == theirs and config.get(name) is None:
        return planned(plugin, type, before, {**config, name: ours})
    replacing = frozenset(str(path_of(each)[0]) for each in answer.requires_replace)
    return Plan(config, before, State(after, answer.planned_private), replacing)


def request(type: Type, plan: Plan) -> dict[str, Any]:
    """The fields of the call that makes a change."""
    return {
        "type_name": type.name,
        "prior_state": pack(plan.before.value),
        "planned_state": pack(plan.after.value),
        "config": pack(plan.config),
        "planned_private": plan.after.private,
    }


def applied(plugin: Plugin, type: Type, plan: Plan) -> State:
    """What became of the object. Raises RefusedError, with what exists nevertheless as its `partial`."""
    try:
        answer = checked(_answer(plugin, type, plan))
    except RefusedError as error:
        if error.partial is not None:
            error.partial = State(value_of(error.partial.new_state), error.partial.private)
        raise
    return State(value_of(answer.new_state), answer.private)


def _answer(plugin: Plugin, type: Type, plan: Plan) -> Any:
    """The provider's answer; of what the account will never accept, not after minutes."""
    fields = request(type, plan)
    with questions.asked(PATIENCE if plan.config is None else 0.0) as change:
        future = plugin.begin("ApplyResourceChange", **fields, provider_meta=meta(questions.CHANGE, change.number))
        future.add_done_callback(lambda _: change.judged.set())
        change.judged.wait()
        if change.problems and not future.done():
            future.cancel()
            raise RefusedError([((), f"{code}: {text}") for code, text in change.problems])
        return future.result()


def meta(mark: str, number: str) -> bytes:
    """What a provider puts into the user agent of its requests."""
    return pack({"user_agent": [f"{mark}/{number}"]})


def read(plugin: Plugin, type: Type, state: State) -> State:
    """The live object; its value is None if there is none. Raises RefusedError."""
    answer = plugin.call("ReadResource", type_name=type.name, current_state=pack(state.value), private=state.private)
    return replace(state, value=value_of(answer.new_state), private=answer.private)


def settled(live: State, before: State) -> State:
    """A live object, of which what is the same as before is as it was: to a list, nothing and no items are the same."""
    old = before.value or {}
    value = {key: old[key] if key in old and same(old[key], item) else item for key, item in (live.value or {}).items()}
    return replace(live, value=value)


def completed(state: State, new: Plan) -> State:
    """A state, with what a new object would have by default where nothing is known of the object."""
    default = {key: item for key, item in (new.after.value or {}).items() if (new.config or {}).get(key) is None}
    value = {
        key: default[key] if item is None and key in default and not has_unknown(default[key]) else item
        for key, item in (state.value or {}).items()
    }
    return replace(state, value=value)


def imported(plugin: Plugin, type: Type, id: str) -> State:
    """The live object of an ID. Raises RefusedError."""
    answer = plugin.call("ImportResourceState", type_name=type.name, id=id)
    found = answer.imported_resources[0]
    return read(plugin, type, State(value_of(found.state), found.private))


def proposed(block: Any, prior: Any, config: Any) -> Any:
    """What Terraform proposes: the configuration, with what was computed before where it says nothing
    (hashicorp/terraform, internal/plans/objchange/objchange.go, ProposedNew)."""
    if isinstance(config, Unknown):
        return config
    prior = prior if isinstance(prior, Mapping) else None
    result = {each.name: _attribute(each, prior, config[each.name]) for each in block.attributes}
    for each in block.block_types:
        name = each.type_name
        given = config[name]
        if given is None or isinstance(given, Unknown):
            result[name] = given
        elif each.nesting not in MANY:
            result[name] = proposed(each.block, (prior or {}).get(name), given)
        else:
            result[name] = _items(each, (prior or {}).get(name), given)
    return result


def _attribute(attribute: Any, prior: Mapping[str, Any] | None, given: Any) -> Any:
    if attribute.write_only:
        return None
    return prior.get(attribute.name) if prior and given is None and attribute.computed else given


def _items(nested: Any, prior: Any, given: list[Any]) -> list[Any]:
    before: list[Any] = list(prior) if isinstance(prior, list) else []
    if nested.nesting == SET:
        before = [next((old for old in before if _may_be(nested.block, old, new)), None) for new in given]
    before += [None] * len(given)
    return [proposed(nested.block, old, new) for old, new in zip(before, given, strict=False)]


def _may_be(block: Any, old: Any, new: Any) -> bool:
    """Whether an element of a set is the one of a configuration, apart from what was computed."""
    if not isinstance(old, Mapping) or not isinstance(new, Mapping):
        return same(old, new)
    plain = all(
        same(old.get(one.name), new[one.name]) or (one.computed and new[one.name] is None) for one in block.attributes
    )
    return plain and all(_may_be_inside(one, old.get(one.type_name), new[one.type_name]) for one in block.block_types)


def _may_be_inside(nested: Any, old: Any, new: Any) -> bool:
    if nested.nesting not in MANY or not isinstance(old, list) or not isinstance(new, list):
        return same(old, new) if old is None or new is None else _may_be(nested.block, old, new)
    return len(old) == len(new) and all(_may_be(nested.block, *pair) for pair in zip(old, new, strict=True))
