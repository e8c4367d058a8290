"""The whole of a stack's AWS resources as one Terraform JSON document (developer.hashicorp.com, "JSON Configuration
Syntax").

It is for reading, by scanners and price tools; Slipway provisions with Pulumi, and nothing applies this.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from typing import Any, Final

from slipway.render.recording import PROVIDER_PREFIX, RecordedResource, Recording
from slipway.render.terraform.references import References, address, local_name
from slipway.render.terraform.spelling import argument, spell
from slipway.render.terraform.types import terraform_type

PROVIDER: Final = f"{PROVIDER_PREFIX}aws"
VERSION: Final = ">= 6.0"
"""pulumi-aws 7 is made from version 6 of the Terraform provider (pulumi-aws, "v7 migration guide", 2025)."""
_ABOUT: Final = "Written by `slipway render --format terraform` for tools that read Terraform. Not to be applied."


def document(recording: Recording) -> dict[str, Any]:
    """The document, keys sorted.

    Raises:
        LookupError: A resource is of a type that the installed SDK does not know.
    """
    ours = {found.urn: found for found in recording if found.custom and found.type.startswith("aws:")}
    blocks: defaultdict[str, dict[str, Any]] = defaultdict(dict)
    for resource in ours.values():
        blocks[terraform_type(resource.type)][local_name(resource.name)] = _block(resource, ours)
    body: dict[str, Any] = {
        "//": _ABOUT,
        "terraform": {"required_providers": {"aws": {"source": "hashicorp/aws", "version": VERSION}}},
        "resource": {kind: dict(sorted(found.items())) for kind, found in sorted(blocks.items())},
    }
    providers = [_provider(found) for found in recording if found.type == PROVIDER]
    return {**body, "provider": {"aws": providers}} if providers else body


def _block(resource: RecordedResource, ours: Mapping[str, RecordedResource]) -> dict[str, Any]:
    options = resource.options
    inputs = {key: value for key, value in resource.inputs.plain.items() if value is not None}
    sources = {
        argument(key): [ours[urn] for urn in urns if urn in ours] for key, urns in options.property_dependencies.items()
    }
    nothing = References(())
    spelled = spell(resource.type, inputs)
    block = {
        key: (References(sources[key]) if sources.get(key) else nothing).resolve(value)
        for key, value in sorted(spelled.items())
    }
    explained = {urn for urns in options.property_dependencies.values() for urn in urns}
    waits = sorted(address(ours[urn]) for urn in options.dependencies if urn in ours and urn not in explained)
    lifecycle: dict[str, Any] = {}
    if options.protect:
        lifecycle["prevent_destroy"] = True
    if options.ignore_changes:
        lifecycle["ignore_changes"] = [argument(path.partition(".")[0]) for path in options.ignore_changes]
    return {
        **block,
        **({"depends_on": waits} if waits else {}),
        **({"lifecycle": lifecycle} if lifecycle else {}),
    }


def _provider(resource: RecordedResource) -> dict[str, Any]:
    inputs = {key: _parsed(value) for key, value in resource.inputs.plain.items()}
    tags = inputs.get("defaultTags")
    return {
        "region": inputs["region"],
        **({"allowed_account_ids": inputs["allowedAccountIds"]} if "allowedAccountIds" in inputs else {}),
        **({"default_tags": {"tags": tags["tags"]}} if isinstance(tags, Mapping) and "tags" in tags else {}),
    }


def _parsed(value: Any) -> Any:
    """Inputs of a provider that are not text are JSON."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value
