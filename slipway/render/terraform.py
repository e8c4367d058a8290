"""A stack's AWS resources as Terraform JSON, for tools that read Terraform: Checkov, Trivy, Infracost, OPA.

The form is that of developer.hashicorp.com, "JSON Configuration Syntax". The SDK's classes tell properties apart from
the program's own keys (tags, labels, cost filters).

A rendering has sample ids and ARNs. If a property depends on another resource, each such value in it becomes
`${type.name.attribute}` again, also within a longer string such as a policy.

It is input for scanners and cost tools; Slipway provisions with Pulumi, and never applies this document.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, Final

from sandbox.aws.kinds import AnyOf, Field, Kind, ListOf, ObjectOf, snake
from sandbox.aws.schema import schema
from sandbox.aws.terraform.names import EXCEPTIONS, SINGULAR
from slipway.render.recording import PROVIDER_PREFIX, SECRET, UNKNOWN, RecordedResource, Recording

__all__ = ["document"]


# Terraform's type names. pulumi-aws derives its names from the Terraform provider; most can be reversed by rule.


# Modules of pulumi_aws that Terraform's type names don't contain.
_SILENT: Final = frozenset({"ec2"})
_RENAMED_MODULES: Final[Mapping[str, str]] = {"costexplorer": "ce", "rds": "db"}


def terraform_type(token: str) -> str:
    """Terraform's type of a Pulumi token: `aws:eks/nodeGroup:NodeGroup` is `aws_eks_node_group`."""
    if token in EXCEPTIONS:
        return EXCEPTIONS[token]
    _, module, name = token.split(":")
    group = module.partition("/")[0]
    prefix = "" if group in _SILENT else f"{_RENAMED_MODULES.get(group, group)}_"
    return f"aws_{prefix}{snake(name)}"


# Inputs with Terraform's names: snake_case, and blocks with their singular name.


def spell(token: str, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Inputs of a resource as arguments of its Terraform type.

    Raises:
        LookupError: The SDK has no such type.
    """
    type_schema = schema(token)
    if type_schema is None:
        msg = f"{token} is not a type of the installed pulumi_aws"
        raise LookupError(msg)
    return _object(type_schema.inputs, inputs)


def argument(name: str) -> str:
    """Terraform's name for a property."""
    plain = snake(name)
    if plain not in SINGULAR:
        return plain
    return f"{plain.removesuffix('ies')}y" if plain.endswith("ies") else plain.removesuffix("s")


_PLURAL_IN: Final = frozenset({("replicationConfiguration", "rules")})
"""Blocks that have a plural name in one block only, by its property (the same documentation, `aws_s3_bucket`)."""


def _object(fields: Mapping[str, Field], value: Mapping[str, Any], above: str = "") -> dict[str, Any]:
    known = {key: item for key, item in value.items() if key in fields}
    return {
        snake(key) if (above, key) in _PLURAL_IN else argument(key): _value(fields[key].kind, item, key)
        for key, item in known.items()
    }


def _value(kind: Kind, value: Any, name: str) -> Any:
    options = kind.options if isinstance(kind, AnyOf) else (kind,)
    if isinstance(value, list):
        item = next((option.item for option in options if isinstance(option, ListOf)), None)
        return [_value(item, one, name) for one in value] if item is not None else value
    if isinstance(value, Mapping):
        nested = next((option for option in options if isinstance(option, ObjectOf)), None)
        # The keys of a plain map, such as tags and labels, are not renamed.
        return _object(nested.fields, value, name) if nested is not None else dict(value)
    return value


# Replaces values from other resources by references, so that tools can follow them.


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


# A stack's AWS resources as one Terraform JSON document (developer.hashicorp.com, "JSON Configuration


PROVIDER: Final = f"{PROVIDER_PREFIX}aws"
VERSION: Final = ">= 6.0"
"""pulumi-aws 7 is based on version 6 of the Terraform provider (pulumi-aws, "v7 migration guide", 2025)."""
_ABOUT: Final = "Written by `slipway report --files DIR --format terraform` for tools that read it. Not to be applied."


def document(recording: Recording) -> dict[str, Any]:
    """The document, with sorted keys.

    Raises:
        LookupError: The installed SDK does not have the type of a resource.
    """
    resources = {one.urn: one for one in recording if one.custom and one.type.startswith("aws:")}
    blocks: defaultdict[str, dict[str, Any]] = defaultdict(dict)
    for resource in resources.values():
        blocks[terraform_type(resource.type)][local_name(resource.name)] = _block(resource, resources)
    body: dict[str, Any] = {
        "//": _ABOUT,
        "terraform": {"required_providers": {"aws": {"source": "hashicorp/aws", "version": VERSION}}},
        "resource": {kind: dict(sorted(named.items())) for kind, named in sorted(blocks.items())},
    }
    providers = [_provider(one) for one in recording if one.type == PROVIDER]
    return {**body, "provider": {"aws": providers}} if providers else body


def _block(resource: RecordedResource, resources: Mapping[str, RecordedResource]) -> dict[str, Any]:
    options = resource.options
    inputs = {key: value for key, value in resource.inputs.plain.items() if value is not None}
    sources = {
        argument(key): [resources[urn] for urn in urns if urn in resources]
        for key, urns in options.property_dependencies.items()
    }
    none = References(())
    arguments = spell(resource.type, inputs)
    block = {
        key: (References(sources[key]) if sources.get(key) else none).resolve(value)
        for key, value in sorted(arguments.items())
    }
    waits = sorted(address(resources[urn]) for urn in options.depends_on if urn in resources)
    lifecycle: dict[str, Any] = {}
    if options.protect:
        lifecycle["prevent_destroy"] = True
    if options.ignore_changes:
        lifecycle["ignore_changes"] = [argument(path.partition(".")[0]) for path in options.ignore_changes]
    return {**block, **({"depends_on": waits} if waits else {}), **({"lifecycle": lifecycle} if lifecycle else {})}


def _provider(resource: RecordedResource) -> dict[str, Any]:
    inputs = {key: _parsed(value) for key, value in resource.inputs.plain.items()}
    tags = inputs.get("defaultTags")
    return {
        "region": inputs["region"],
        **({"allowed_account_ids": inputs["allowedAccountIds"]} if "allowedAccountIds" in inputs else {}),
        **({"default_tags": {"tags": tags["tags"]}} if isinstance(tags, Mapping) and "tags" in tags else {}),
    }


def _parsed(value: Any) -> Any:
    """Provider inputs other than text are JSON."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value
