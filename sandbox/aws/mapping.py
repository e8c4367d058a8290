"""How a type of pulumi_aws is kept in moto, as data: one resource mapping per type, in the files of types/.

A mapping gets the inputs without `region`, and `tags` merged with the provider's default tags. Templates such as
`arn:{partition}:ec2:{region}:{account}:vpc/{id}` may use the id, the region, the account and any input or output.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import jmespath  # type: ignore[import-untyped]

from sandbox.aws.client import Aws, AwsError
from sandbox.aws.shapes import fill, normal, to_api

Inputs: TypeAlias = Mapping[str, Any]
Item: TypeAlias = Mapping[str, Any]
ANY = "*"
"""In the keys of a setting: it sends all inputs, at every update other than one of tags only."""

ALWAYS = "always"
"""In the keys of a setting: it runs at creation and at every such update, and has no inputs of its own."""

_TAGS = {"tags", "tagsAll"}


@dataclass(frozen=True)
class Call:
    """One AWS operation; inputs become its parameters by name (shapes.py).

    `target` has parameters from templates, `fixed` constants. Inputs are renamed (those inside others by their path),
    adapted by a function if renaming is not enough, and put inside the parameter `wrap` if the operation itself does
    not have them. `item` is the JMESPath of the result. `also` has members that other calls add to what is found; their
    templates may use its members.
    """

    operation: str
    target: Mapping[str, Any] = field(default_factory=dict)
    fixed: Mapping[str, Any] = field(default_factory=dict)
    rename: Mapping[str, str] = field(default_factory=dict)
    omit: frozenset[str] = frozenset()
    adapt: Callable[[Inputs], Inputs] | None = None
    wrap: str = ""
    item: str = "@"
    also: Mapping[str, Call] = field(default_factory=dict)

    def parameters(self, aws: Aws, service: str, inputs: Inputs, names: Inputs) -> dict[str, Any]:
        """The parameters for these inputs."""
        shape = aws.input_shape(service, self.operation)
        adapted = self.adapt(inputs) if self.adapt else inputs
        values = renamed({key: value for key, value in adapted.items() if key not in self.omit}, self.rename)
        if self.wrap:
            members = {normal(member) for member in shape.members}
            inner = {key: values.pop(key) for key in list(values) if normal(key) not in members}
            values[self.wrap] = {**inner, **values.get(self.wrap, {})}
        return {**to_api(shape, values), **self.fixed, **fill(self.target, names)}

    def __call__(self, aws: Aws, service: str, inputs: Inputs, names: Inputs) -> Any:
        """Make the call; returns the part of the answer that `item` selects."""
        answer = aws.call(service, self.operation, **self.parameters(aws, service, inputs, names))
        return pick(self.item, answer)


def renamed(value: Any, names: Mapping[str, str], at: str = "") -> Any:
    """A value with other names of its properties, at any depth: `names` has them by their path without indexes."""
    if isinstance(value, list):
        return [renamed(one, names, at) for one in value]
    if not isinstance(value, Mapping):
        return value
    return {names.get(at + key, key): renamed(one, names, f"{at}{key}.") for key, one in value.items()}


Creator: TypeAlias = Callable[[Aws, Inputs], str]
Reader: TypeAlias = Callable[[Aws, str, Inputs], Item | None]
Action: TypeAlias = Callable[[Aws, str, Inputs], None]


@dataclass(frozen=True)
class Setting:
    """Inputs that the create call does not include, or that an update sends: their `keys`, and how they are sent.

    An action gets the id and all inputs; the mapping's defaults replace removed inputs. With ANY, a change of only the
    inputs in `unless` does not trigger it. `unset` is called instead if none of the keys has a value.
    """

    keys: tuple[str, ...]
    apply: Call | Action
    at_create: bool = True
    unless: frozenset[str] = frozenset()
    unset: Call | None = None

    @property
    def is_general(self) -> bool:
        """Whether any change triggers it."""
        return bool({ANY, ALWAYS} & set(self.keys))


@dataclass(frozen=True)
class Tags:
    """The calls that change and read the tags of an object.

    `specification` is EC2's name of the resource type, for services that take tags in TagSpecifications; `replace`
    sends the whole set, for services that can't change single tags.
    """

    tag: str = ""
    untag: str = ""
    target: Mapping[str, Any] = field(default_factory=dict)
    read: Call | None = None
    specification: str = ""
    replace: Action | None = None


@dataclass(frozen=True)
class ResourceMapping:
    """One type.

    force_new: inputs whose change forces a replacement, nested ones with dots; `replace_if` decides the rest by path,
    old and new inputs. from_item, computed: outputs by JMESPath from AWS's description and from templates. drift:
    inputs that a refresh compares; `defaults` are AWS's defaults for omitted inputs. volatile: outputs that an update
    changes. What AWS refuses and moto does not is in `rules`.
    """

    type: str
    service: str
    create: Call | Creator
    id: str
    read: Call | Reader
    delete: Call | Action | None
    force_new: frozenset[str] = frozenset()
    settings: tuple[Setting, ...] = ()
    tags: Tags | None = None
    from_item: Mapping[str, str] = field(default_factory=dict)
    computed: Mapping[str, Any] = field(default_factory=dict)
    drift: tuple[str, ...] = ()
    defaults: Mapping[str, Any] = field(default_factory=dict)
    volatile: tuple[str, ...] = ()
    replace_if: Callable[[str, Inputs, Inputs], bool] | None = None

    def settings_for(self, changed: set[str] | None) -> list[Setting]:
        """The settings that an update of these inputs must send; None means all of them."""
        if changed is None:
            return list(self.settings)
        return [s for s in self.settings if changed & set(s.keys) or (s.is_general and changed - _TAGS - s.unless)]

    def recorded(self, known: Inputs) -> list[str]:
        """Inputs whose update exists only in the state: AWS supports it, moto has no operation for it."""
        sent = {key for setting in self.settings for key in setting.keys}
        if ANY in sent:
            return []
        replaced = {path for path in self.force_new if "." not in path}
        return sorted(key for key in known if key not in sent | replaced | {"tags", "region"})


@dataclass(frozen=True)
class Record:
    """What is known about a type: its id and computed outputs as templates (`{digest}`, inputs, region, account).

    `changed` is called with the inputs before and after each change, None if there are none.
    """

    id: str = "{digest}"
    computed: Mapping[str, Any] = field(default_factory=dict)
    force_new: frozenset[str] = frozenset()
    changed: Callable[[Aws, Inputs | None, Inputs | None], None] | None = None


def pick(expression: str, value: Any) -> Any:
    """The result of a JMESPath expression."""
    return jmespath.search(expression, value)


def find(aws: Aws, service: str, call: Call, names: Inputs) -> Item | None:
    """The result of a describe call; None if AWS says that the object does not exist."""
    try:
        item = call(aws, service, {}, names)
    except AwsError as error:
        if error.not_found:
            return None
        raise
    if not item or not call.also:
        return item or None
    return {**item, **{key: more(aws, service, {}, {**names, **item}) for key, more in call.also.items()}}
