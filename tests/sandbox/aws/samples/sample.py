"""A sample: the inputs of one object, an update, and a change outside of the program.

Most are rows of YAML files: `inputs`, `update`, `behind` (service, operation and parameters), `shows` and `stays`.
`{NAME}` in a text is what the method of `World` makes, once for a row, `{NAME.KEY}` a part of it, `{unique NAME}` a
name of its own; `{json: VALUE}` is a document, `{times: N, of: TEXT}` a long text or list.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sandbox.aws.client import Aws
from spec import strict_yaml
from tests.sandbox.aws.samples.world import World

TAGGED = {"tags": {"team": "a"}}
RETAGGED = {"tags": {"owner": "b"}}


@dataclass(frozen=True)
class Sample:
    """`inputs` of the object; `update` overrides them; `behind` changes the live object, and drift must be `shows`.

    `stays`: AWS never lets the object go.
    """

    inputs: Callable[[World], dict[str, Any]]
    update: Mapping[str, Any] = field(default_factory=dict)
    behind: Callable[[Aws, str, Mapping[str, Any]], None] | None = None
    shows: tuple[str, ...] = ()
    stays: bool = False


def aws_call(service: str, operation: str, **parameters: Any) -> Callable[[Aws, str, Mapping[str, Any]], None]:
    """A change outside of the program; ID means the object's id, $name an output."""

    def change(aws: Aws, id: str, outputs: Mapping[str, Any]) -> None:
        def fill(value: Any) -> Any:
            if isinstance(value, list):
                return [fill(item) for item in value]
            if isinstance(value, dict):
                return {key: fill(item) for key, item in value.items()}
            if value == "ID":
                return id
            return outputs[value[1:]] if isinstance(value, str) and value.startswith("$") else value

        aws.call(service, operation, **fill(parameters))

    return change


_MADE = re.compile(r"\{(?P<name>[a-z_]+)(?: (?P<argument>[\w-]+))?(?:\.(?P<key>\w+))?\}")


def filled(value: Any, world: World | None, made: dict[str, Any]) -> Any:
    """A value of a row with what it names, of which `made` has what exists already."""

    def of(match: re.Match[str]) -> Any:
        name, argument, key = match.groups()
        if argument:
            return getattr(world, name)(argument)
        made[name] = made[name] if name in made else getattr(world, name)()
        return made[name][key] if key else made[name]

    if isinstance(value, list):
        return [filled(item, world, made) for item in value]
    if isinstance(value, dict):
        if set(value) == {"times", "of"}:
            return filled(value["of"], world, made) * value["times"]
        if set(value) == {"json"}:
            return json.dumps(filled(value["json"], world, made))
        return {name: filled(item, world, made) for name, item in value.items()}
    if not isinstance(value, str):
        return value
    whole = _MADE.fullmatch(value)
    return of(whole) if whole else _MADE.sub(lambda match: str(of(match)), value)


def rows(file: Path) -> dict[str, Sample]:
    """The samples of a file, by type."""

    def sample(inputs: Any, update: Any = None, behind: Any = None, shows: Any = (), *, stays: bool = False) -> Sample:
        changed = None if behind is None else aws_call(**_plain(behind))
        return Sample(lambda world: filled(inputs, world, {}), _plain(update or {}), changed, tuple(shows), stays)

    read = strict_yaml.read(file.read_text(encoding="utf-8"))
    return {token: sample(**row) for token, row in read.items()}


def _plain(value: Any) -> Any:
    """A value that names no object."""
    found: Any = filled(value, None, {})
    return found
