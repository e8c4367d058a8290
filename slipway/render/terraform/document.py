"""A stack's AWS resources as one Terraform JSON document (developer.hashicorp.com, "JSON Configuration
Syntax").

It is input for scanners and cost tools; Slipway provisions with Pulumi, and never applies this document.
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
"""pulumi-aws 7 is based on version 6 of the Terraform provider (pulumi-aws, "v7 migration guide", 2025)."""
_ABOUT: Final = "Written by `slipway render --format terraform` for tools that read Terraform. Not to be applied."


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
    """Provider inputs other than text are JSON."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value
