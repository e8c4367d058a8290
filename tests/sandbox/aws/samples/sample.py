"""A sample: the inputs of one object, an update, and a change outside of the program."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sandbox.aws.client import Aws
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
