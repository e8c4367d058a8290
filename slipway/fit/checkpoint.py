"""Reads models: published ones by name, and those that a user names by path."""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from slipway.fit import config, diffusion
from slipway.fit.architectures import Architecture
from slipway.fit.formats import stored
from spec.catalog import document
from spec.settings.problems import ConfigurationError, Problem

# Reads the model that a user names by path: a config.json, or the model_index.json of a diffusion pipeline.


OPTION: Final = "--config"
CONFIG: Final = "config.json"
PIPELINE: Final = "model_index.json"
INDEX: Final = "model.safetensors.index.json"
_BYTES: Final = {"float32": 4, "bfloat16": 2, "float16": 2}


def load(path: Path, params: float = 0) -> Architecture:
    """The model of a config.json, or of a folder with one.

    An index of safetensors beside it gives the number of parameters: `total_parameters`, or the bytes of a checkpoint
    that isn't quantised. Without one they are counted from the shape.

    Args:
        path: A config.json, a model_index.json, or the folder of either.
        params: Number of parameters, if the user gives it.

    Raises:
        ConfigurationError: There is no such file, it isn't JSON, or the model isn't supported.
    """
    file = next((path / name for name in (PIPELINE, CONFIG) if (path / name).is_file()), path)
    if not file.is_file():
        fix = f"Name a {CONFIG} of Hugging Face Transformers, or its folder: hf download MODEL {CONFIG} --local-dir DIR"
        raise ConfigurationError([Problem(OPTION, "must be an existing file", str(path), fix)], config.SOURCE)
    content, name = _read(file), file.resolve().parent.name
    if file.name == PIPELINE or "_diffusers_version" in content:
        folders = sorted(part for part in file.parent.iterdir() if (part / CONFIG).is_file())
        parts = {part.name: _read(part / CONFIG) for part in folders if not part.name.startswith("scheduler")}
        return diffusion.pipeline(parts, name=name, source=str(file))
    params = params or _indexed(file.parent / INDEX, content)
    return config.read(content, name=content.get("_name_or_path") or name, params=params, source=str(file))


def _indexed(file: Path, content: dict[str, Any]) -> float:
    """Parameters by an index of safetensors; 0 if there is none, or if it only has bytes of quantised weights."""
    if not file.is_file():
        return 0
    facts = _read(file).get("metadata") or {}
    if "total_parameters" in facts:
        return float(facts["total_parameters"])
    text = content.get("text_config") or content
    quantised = stored(text.get("quantization_config") or content.get("quantization_config") or {}).bits
    kind = text.get("dtype") or text.get("torch_dtype") or content.get("dtype") or content.get("torch_dtype")
    width = _BYTES.get(str(kind), 0) if quantised == 16 else 0
    return facts.get("total_size", 0) / width if width else 0


def _read(file: Path) -> dict[str, Any]:
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        problem = Problem(OPTION, f"must be readable JSON ({error})", str(file), "Download the file again")
        raise ConfigurationError([problem], config.SOURCE) from error
    if not isinstance(content, dict):
        problem = Problem(OPTION, "must be a JSON object", str(file), "Name the config.json of a model")
        raise ConfigurationError([problem], config.SOURCE)
    return content


# Published models: facts from their config.json files, read as a user's file is.


FILE: Final = "architectures.yaml"


@cache
def architectures() -> Mapping[str, Architecture]:
    """The published models of the catalog by name."""
    entries = document.load(FILE)["architectures"]
    return MappingProxyType({name: _architecture(name, entry) for name, entry in sorted(entries.items())})


def nearest(params: float) -> Architecture:
    """The published language model without experts that has the nearest number of parameters, by ratio."""
    plain = (one for one in architectures().values() if not one.expert_params and not one.diffusion and not one.vision)
    return min(plain, key=lambda one: (max(one.params / params, params / one.params), one.name))


def _architecture(name: str, entry: Mapping[str, Any]) -> Architecture:
    source = f"{entry['at']}, {entry['as_of']}"
    # YAML 1.1 reads `7e9` as text: its floats need a point and a sign.
    params = float(entry.get("params", 0))
    if "components" in entry:
        return diffusion.pipeline(entry["components"], name=name, source=source)
    return config.read(entry["config"], name=name, params=params, source=source)
