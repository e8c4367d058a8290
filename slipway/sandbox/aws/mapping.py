"""How one type of pulumi_aws lives in moto, as data: a row per type, a file per family under rows/.

Inputs reach a row without `region` and with `tags` merged from the provider's default tags. Templates such as
`arn:{partition}:ec2:{region}:{account}:vpc/{id}` may name the id, the region, the account and any input or output.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import jmespath  # type: ignore[import-untyped]

from slipway.sandbox.aws.client import Aws, AwsError
from slipway.sandbox.aws.shapes import normal, to_api

Inputs: TypeAlias = Mapping[str, Any]
Item: TypeAlias = Mapping[str, Any]
ANY = "*"
"""In the keys of a setting: it sends all inputs, at every update but one of tags alone."""

ALWAYS = "always"
"""In the keys of a setting: it happens at creation and at every such update, and sends no input of its own."""

_TAGS = {"tags", "tagsAll"}


@dataclass(frozen=True)
class Call:
    """One AWS operation; inputs become its parameters by name (shapes.py).

    `target` are parameters from templates, `fixed` constants. Inputs are renamed, adapted by a function where names are
    not enough, and put inside the parameter `wrap` where the operation itself does not know them. `item` picks the
    result.
    """

    operation: str
    target: Mapping[str, Any] = field(default_factory=dict)
    fixed: Mapping[str, Any] = field(default_factory=dict)
    rename: Mapping[str, str] = field(default_factory=dict)
    omit: frozenset[str] = frozenset()
    adapt: Callable[[Inputs], Inputs] | None = None
    wrap: str = ""
    item: str = "@"

    def parameters(self, aws: Aws, service: str, inputs: Inputs, names: Inputs) -> dict[str, Any]:
        """The parameters for these inputs."""
        shape = aws.input_shape(service, self.operation)
        adapted = self.adapt(inputs) if self.adapt else inputs
        values = {self.rename.get(key, key): value for key, value in adapted.items() if key not in self.omit}
        if self.wrap:
            members = {normal(member) for member in shape.members}
            inner = {key: values.pop(key) for key in list(values) if normal(key) not in members}
            values[self.wrap] = {**inner, **values.get(self.wrap, {})}
        return {**to_api(shape, values), **self.fixed, **fill(self.target, names)}

    def __call__(self, aws: Aws, service: str, inputs: Inputs, names: Inputs) -> Any:
        """Make the call; what `item` picks of the answer."""
        answer = aws.call(service, self.operation, **self.parameters(aws, service, inputs, names))
        return pick(self.item, answer)


Creator: TypeAlias = Callable[[Aws, Inputs], str]
Reader: TypeAlias = Callable[[Aws, str, Inputs], Item | None]
Action: TypeAlias = Callable[[Aws, str, Inputs], None]


@dataclass(frozen=True)
class Setting:
    """What the create call does not carry, or what an update sends: `keys` of the inputs and how they are sent.

    An action gets the id and all inputs; the row's defaults stand in for inputs that were removed. With ANY, a change
    of nothing but the inputs in `unless` does not call for it.
    """

    keys: tuple[str, ...]
    apply: Call | Action
    at_create: bool = True
    unless: frozenset[str] = frozenset()

    @property
    def is_general(self) -> bool:
        """Whether any change calls for it."""
        return bool({ANY, ALWAYS} & set(self.keys))


@dataclass(frozen=True)
class Tags:
    """The calls that change and read the tags of an object.

    `specification` is EC2's name of the resource type, for services that take tags in TagSpecifications; `replace`
    sends the whole set where a service knows no other way.
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

    force_new: inputs whose change makes a new object, nested ones with dots; `replace_if` decides the rest by path, old
    and new inputs. name, name_form, name_limit: the input made up when it is left out. from_item, computed: outputs by
    JMESPath from AWS's description and from templates. drift: inputs a refresh compares; `defaults` are what AWS takes
    for those left out. volatile: outputs an update changes. exactly_one: groups of inputs of which one has to be given.
    before: what AWS checks at creation and moto does not. refuse: why AWS would not make an update, from old and new
    inputs.
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
    name: str = "name"
    name_form: str = "{}"
    name_limit: int = 255
    from_item: Mapping[str, str] = field(default_factory=dict)
    computed: Mapping[str, Any] = field(default_factory=dict)
    drift: tuple[str, ...] = ()
    defaults: Mapping[str, Any] = field(default_factory=dict)
    volatile: tuple[str, ...] = ()
    replace_if: Callable[[str, Inputs, Inputs], bool] | None = None
    exactly_one: tuple[tuple[str, ...], ...] = ()
    before: Action | None = None
    refuse: Callable[[Inputs, Inputs], str | None] | None = None

    def settings_for(self, changed: set[str] | None) -> list[Setting]:
        """The settings an update of these inputs has to send; None for all of them."""
        if changed is None:
            return list(self.settings)
        return [s for s in self.settings if changed & set(s.keys) or (s.is_general and changed - _TAGS - s.unless)]

    def recorded(self, known: Inputs) -> list[str]:
        """The inputs whose update AWS would make and moto has no operation for: kept in the state alone."""
        sent = {key for setting in self.settings for key in setting.keys}
        if ANY in sent:
            return []
        replaced = {path for path in self.force_new if "." not in path}
        return sorted(key for key in known if key not in sent | replaced | {"tags", "region"})


def pick(expression: str, value: Any) -> Any:
    """What a JMESPath expression finds."""
    return jmespath.search(expression, value)


def fill(template: Any, names: Inputs) -> Any:
    """The template with its `{names}` filled in, at any depth."""
    if isinstance(template, str):
        return _Formatter().format(template, **names)
    if isinstance(template, Mapping):
        return {key: fill(value, names) for key, value in template.items()}
    if isinstance(template, (list, tuple)):
        return [fill(value, names) for value in template]
    return template


class _Formatter(string.Formatter):
    """Names are looked up as they are; one that is missing is an error of the row, named."""

    def get_value(self, key: int | str, args: Any, kwargs: Mapping[str, Any]) -> Any:  # noqa: ARG002
        if key not in kwargs:
            msg = f"template names {key!r}, which is neither an input nor an output; there are {sorted(kwargs)}"
            raise KeyError(msg)
        return kwargs[str(key)]


def find(aws: Aws, service: str, call: Call, names: Inputs) -> Item | None:
    """What a describe call finds, None when AWS says there is none."""
    try:
        found = call(aws, service, {}, names)
    except AwsError as error:
        if error.not_found:
            return None
        raise
    return found if found else None
