"""The JSON Schema of a stack file, for completion and first errors in an editor: `python -m spec.settings.schema`.

It is generated from the models and the catalog, and covers less than `load`, which also checks settings against each
other. It never refuses what `load` accepts, so an error that an editor shows is always right.
"""

import json
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from pydantic.alias_generators import to_camel

from spec.catalog import gpus, instances, kubernetes, mig, regions
from spec.naming import PROJECT
from spec.settings.load import KEY
from spec.settings.platform import Platform


def write_or_check(arguments: Sequence[str], *, file: Path, text: str, module: str) -> int:
    """Write a generated file, or with `--check` report whether the committed one is current; the exit code.

    It is 1 if the file is out of date, and 2 for any other argument.

    Args:
        arguments: Of the command line, without the program.
        file: The generated file.
        text: What it should contain.
        module: The module that generates it: `python -m MODULE` is named in the message.
    """
    if not arguments:
        file.write_text(text, encoding="utf-8", newline="\n")
        return 0
    if list(arguments) != ["--check"]:
        sys.stderr.write(f"unknown arguments: {' '.join(arguments)}; the only option is --check\n")
        return 2
    if file.is_file() and file.read_text(encoding="utf-8") == text:
        return 0
    sys.stderr.write(f"{file} is out of date: run `python -m {module}`.\n")
    return 1


FILE: Final = Path(__file__).parents[2] / "stacks" / "schema.json"
_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_FIELD: Final = re.compile(r"`([a-z]+(?:_[a-z]+)+)`")


def generate() -> dict[str, Any]:
    """The schema of a whole stack file."""
    platform = Platform.model_json_schema(by_alias=True)
    definitions = platform.pop("$defs")
    definitions["Platform"] = platform
    _add_facts(definitions)
    key = f"{PROJECT}:{KEY}"
    return {
        "$schema": _DIALECT,
        "title": "Stack file of Slipway",
        "description": "Settings of one environment: Pulumi.<stack>.yaml.",
        "type": "object",
        "additionalProperties": False,
        "required": ["config"],
        "properties": {
            "config": {
                "description": "Configuration of the stack: the settings and nothing else.",
                "type": "object",
                "required": [key],
                "properties": {key: {"$ref": "#/$defs/Platform"}},
                "additionalProperties": False,
            },
            **_PULUMI_KEYS,
        },
        "$defs": _polished(dict(sorted(definitions.items()))),
    }


# Keys that Pulumi writes itself (pulumi v3.258.0, sdk/go/common/workspace/project.go, ProjectStack).
_PULUMI_KEYS: Final[Mapping[str, Any]] = {
    "secretsprovider": {"type": "string", "description": "Secrets provider of the stack; written by Pulumi."},
    "encryptedkey": {
        "type": "string",
        "description": "Data key, encrypted by the secrets provider; written by Pulumi.",
    },
    "encryptionsalt": {"type": "string", "description": "Salt of the passphrase; written by Pulumi."},
}


def _add_facts(definitions: Mapping[str, Any]) -> None:
    """Names that the catalog knows: as an enumeration where `load` accepts no others, else as suggestions."""
    zones = [zone for region in sorted(regions.REGIONS) for zone in regions.zones(region)]
    capable = [gpu for gpu in sorted(gpus.GPUS) if mig.is_capable(gpu)]
    layouts = sorted({name for gpu in capable for name in mig.layout_names(gpu)})
    profiles = sorted({name for gpu in capable for name in mig.PROFILES[gpu]})
    _field(definitions, "Account", "region")["enum"] = sorted(regions.REGIONS)
    _field(definitions, "Cluster", "version")["enum"] = list(kubernetes.VERSIONS)
    _field(definitions, "Pool", "instanceTypes")["items"]["enum"] = list(instances.names())
    for holder in ("Network", "Pool"):
        listed = _field(definitions, holder, "zones")
        # A zone that is newer than the catalog is no error in a region whose zones no source lists.
        listed["items"] = {"anyOf": [{"enum": zones}, listed["items"]]}
    _field(definitions, "Mig", "layout")["anyOf"][0]["enum"] = layouts
    _field(definitions, "Mig", "profiles")["propertyNames"] = {"enum": profiles}
    # A pool that changes one key of a preset's budget need not repeat the others.
    definitions["Budget"].pop("required")


def _field(definitions: Mapping[str, Any], model: str, alias: str) -> dict[str, Any]:
    field: dict[str, Any] = definitions[model]["properties"][alias]
    return field


def _polished(node: Any, *, is_map_of_names: bool = False) -> Any:
    """Without titles that repeat the key, closed where keys follow a pattern, and in the file's spelling."""
    if isinstance(node, list):
        return [_polished(item) for item in node]
    if not isinstance(node, dict):
        return node
    if is_map_of_names:
        return {key: _polished(item) for key, item in node.items()}
    clean = {key: _polished(item, is_map_of_names=key == "properties") for key, item in node.items() if key != "title"}
    if "patternProperties" in clean:
        clean.setdefault("additionalProperties", False)
    if isinstance(clean.get("description"), str):
        clean["description"] = _FIELD.sub(lambda match: f"`{to_camel(match[1])}`", clean["description"])
    return clean


def text() -> str:
    """Content of the file."""
    return json.dumps(generate(), indent=2, ensure_ascii=False) + "\n"


def main(arguments: Sequence[str]) -> int:
    """Write the schema, or with `--check` report whether the committed one is current."""
    return write_or_check(arguments, file=FILE, text=text(), module="spec.settings.schema")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
