"""Replaces values from other resources by references, so that tools can follow them.

A rendering has sample ids and ARNs. If a property depends on another resource, each such value in it becomes
`${type.name.attribute}` again, also within a longer string such as a policy.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from slipway.render.recording import RecordedResource
from slipway.render.terraform.types import snake, terraform_type
from slipway.render.values import SECRET, UNKNOWN

SHORTEST: Final = 6
"""Minimum length of a value to be treated as an id: `1`, the version of a launch template, is too common."""
_FIRST: Final = ("arn", "id", "name", "bucket", "latestVersion")


def address(resource: RecordedResource) -> str:
    """Address of a resource in Terraform: `aws_vpc.network-vpc`."""
    return f"{terraform_type(resource.type)}.{local_name(resource.name)}"


def local_name(name: str) -> str:
    """A logical name as a Terraform name: letters, digits, hyphens and underscores, starting with a letter."""
    plain = re.sub(r"[^A-Za-z0-9_-]", "_", name)
    return plain if plain[:1].isalpha() or plain[:1] == "_" else f"_{plain}"


def escape(text: str) -> str:
    """Escape literal text: `${aws:username}` in a policy is not a Terraform reference."""
    return text.replace("${", "$${").replace("%{", "%%{")


class References:
    """References for the values of one property: outputs of the resources that the property depends on."""

    def __init__(self, sources: Iterable[RecordedResource]) -> None:
        named: dict[str, str] = {}
        self._unknown: str | None = None
        for source in sources:
            place = address(source)
            self._unknown = f"${{{place}.id}}"
            for key, value in _outputs(source):
                if len(value) >= SHORTEST:
                    named.setdefault(value, f"${{{place}.{snake(key)}}}")
        self._named: Mapping[str, str] = named
        longest_first = sorted(named, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, longest_first))) if named else None

    def resolve(self, value: Any) -> Any:
        """The value with references instead of other resources' outputs; unknown values refer to their source."""
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, Mapping):
            return {key: self.resolve(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self.resolve(item) for item in value]
        return value

    def _text(self, text: str) -> str | None:
        if text == UNKNOWN:
            return self._unknown
        if text == SECRET:
            return None
        if self._pattern is None:
            return escape(text)
        parts: list[str] = []
        end = 0
        for match in self._pattern.finditer(text):
            parts += [escape(text[end : match.start()]), self._named[match.group()]]
            end = match.end()
        return "".join([*parts, escape(text[end:])])


def _outputs(resource: RecordedResource) -> list[tuple[str, str]]:
    """String outputs, the usual reference targets first; outputs that equal an input are omitted."""
    plain = {**resource.outputs.plain, "id": resource.id}
    texts = {
        key: value
        for key, value in plain.items()
        if isinstance(value, str) and value not in (UNKNOWN, SECRET) and resource.inputs.plain.get(key) != value
    }
    order = [key for key in _FIRST if key in texts]
    return [(key, texts[key]) for key in (*order, *sorted(set(texts) - set(order)))]
