"""Wrong inputs of the types that the stacks use, by family: what AWS refuses of each, and where. Of what the provider
refuses in its own words, there is a row for each form of inputs.

A row changes the inputs of the type's sample (`tests/sandbox/aws/samples`), or `base`: `set` has paths and values, null
removes. `at` is the input that is wrong at preview; `up` says that only an `up` finds it, `twice` that creating it a
second time does. `code` is in what is said. `missed` is the reason why nothing refuses it. `{times: N, of: TEXT}` is a
long text or list, `{json: VALUE}` a document, and `{subnet}` an object that exists.
"""

import copy
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sandbox.aws.naming import property_of
from spec import strict_yaml
from tests.sandbox.aws.samples import SAMPLES, World
from tests.sandbox.aws.samples.sample import filled


@dataclass(frozen=True)
class Wrong:
    """One row; its fields are the words above."""

    type: str
    id: str
    set: dict[str, Any]
    at: str = ""
    base: dict[str, Any] | None = None
    up: bool = False
    twice: bool = False
    code: str = ""
    missed: str = ""

    @property
    def name(self) -> str:
        """Its name in a test."""
        return f"{self.type.rpartition(':')[2]}-{self.id}"

    def right(self, world: World) -> dict[str, Any]:
        """The inputs without the change; `base` may lack what the change sets."""
        if self.base is not None:
            return {name: _value(value, world) for name, value in self.base.items()}
        inputs = SAMPLES[self.type].inputs(world)
        name = property_of(self.type)
        # Rows of one type are created in one account.
        return {**inputs, name: world.unique(inputs[name])} if name in inputs else inputs

    def inputs(self, right: Mapping[str, Any], world: World) -> dict[str, Any]:
        """The inputs with it."""
        inputs = copy.deepcopy(dict(right))
        for path, value in self.set.items():
            *above, last = path.split(".")
            place = inputs
            for name in above:
                place = place.setdefault(name, {})
            if value is None:
                place.pop(last, None)
            else:
                place[last] = _value(value, world)
        return inputs


def _value(value: Any, world: World) -> Any:
    """A value with objects of the account, and ARNs in it."""
    aws = world.aws

    def arn(match: re.Match[str]) -> str:
        service = match[1]
        return f"arn:{aws.partition}:{service}:{'' if service == 'iam' else aws.region}:{aws.account}:"

    found = filled(value, world, {})
    return json.loads(re.sub(r"\{arn:([a-z]+)\}", arn, json.dumps(found)))


def cases() -> Iterator[Wrong]:
    """All rows."""
    return _rows(*sorted(Path(__file__).parent.glob("*.yaml")))


def rights() -> Iterator[Wrong]:
    """The rows of `right.yaml`: nothing is wrong with them."""
    return _rows(Path(__file__).parents[1] / "right.yaml")


def _rows(*files: Path) -> Iterator[Wrong]:
    for file in files:
        for token, found in strict_yaml.read(file.read_text(encoding="utf-8")).items():
            yield from (Wrong(token, **row) for row in found)
