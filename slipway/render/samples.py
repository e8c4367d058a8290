"""Sample ids and computed outputs instead of a cloud's: realistic in form, derived from names only.

One sample per type, in `samples.yaml`. Strings are templates of `Facts`, also in nested values. A type without a sample
gets its name as id and its inputs as outputs; every other output is unknown, so that a rendering shows a gap, not an
invented value.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Final

from spec import strict_yaml


@dataclass(frozen=True)
class Sample:
    """Templates for one type: of its id, and of the outputs added to its inputs."""

    id: str
    outputs: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Facts:
    """Names available in templates, beside `name` and the hexadecimal digests `h7`, `h8`, `h17`, `h32` of the URN.

    `name` is the physical name: the one in the inputs, or an auto-generated one from the logical name.
    """

    urn: str
    type: str
    logical_name: str
    inputs: Mapping[str, Any]
    project: str
    stack: str
    account: str
    region: str

    @property
    def partition(self) -> str:
        """AWS partition of the region."""
        prefixes = {"cn-": "aws-cn", "us-gov-": "aws-us-gov"}
        return next((name for prefix, name in prefixes.items() if self.region.startswith(prefix)), "aws")


SAMPLES: Final[Mapping[str, Sample]] = {name: Sample(**row) for name, row in strict_yaml.beside(__file__).items()}
_NAME_KEYS: Final = ("name", "nodeGroupName", "bucket", "targetId")
"""Inputs that carry the physical name, for the types above."""


def answer(facts: Facts) -> tuple[str, dict[str, Any]]:
    """Id and computed outputs of a custom resource."""
    if facts.type.startswith("kubernetes:") and facts.type not in SAMPLES:
        return _kubernetes(facts)
    sample = SAMPLES.get(facts.type, Sample("{name}"))
    words = _words(facts)
    words["id"] = sample.id.format_map(words)
    return words["id"], _fill(sample.outputs, words)


def physical_name(facts: Facts) -> str:
    """The name in the inputs, without a prefix that the sample adds itself; else an auto-generated one."""
    explicit = next((facts.inputs[key] for key in _NAME_KEYS if isinstance(facts.inputs.get(key), str)), None)
    if explicit is not None:
        return str(explicit).removeprefix("alias/")
    return f"{facts.project}-{facts.stack}-{facts.logical_name}-{_digest(facts)[:7]}"


def _kubernetes(facts: Facts) -> tuple[str, dict[str, Any]]:
    metadata = facts.inputs.get("metadata")
    metadata = metadata if isinstance(metadata, Mapping) else {}
    # The provider generates missing names from the resource: "logical name-8 characters" (pulumi-kubernetes).
    name = metadata.get("name") or f"{facts.logical_name}-{_digest(facts)[:8]}"
    namespace = metadata.get("namespace")
    return f"{namespace}/{name}" if namespace else str(name), {"metadata": {"name": name}}


def _digest(facts: Facts) -> str:
    return sha256(facts.urn.encode()).hexdigest()


def _words(facts: Facts) -> dict[str, Any]:
    digest = _digest(facts)
    h = {f"h{length}": digest[:length] for length in (7, 8, 17, 32)}
    upper = {key.upper(): text.upper() for key, text in h.items()}
    uuid = "-".join((digest[:8], digest[8:12], digest[12:16], digest[16:20], digest[20:32]))
    return {
        **h,
        **upper,
        "uuid": uuid,
        "name": physical_name(facts),
        "logical_name": facts.logical_name,
        "account": facts.account,
        "region": facts.region,
        "partition": facts.partition,
        "in": _Inputs(facts.inputs),
    }


class _Inputs(dict[str, Any]):
    """Inputs by name in a template; a missing input is an empty string, as in an AWS id with optional parts."""

    def __missing__(self, key: str) -> str:
        return ""


def _fill(value: Any, words: Mapping[str, Any]) -> Any:
    if isinstance(value, str):
        return value.format_map(words)
    if isinstance(value, Mapping):
        return {key: _fill(item, words) for key, item in value.items()}
    if isinstance(value, list):
        return [_fill(item, words) for item in value]
    return value
