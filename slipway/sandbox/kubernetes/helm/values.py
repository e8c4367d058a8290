"""Whether a chart has the values that a release sets.

Helm ignores an unknown key, so a typo has no effect and is not reported. So every key is looked for in all places where
charts declare their values: values.yaml, its comments, the templates if available, and the schema.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, TypeAlias

from slipway.sandbox.kubernetes.helm.chart import Chart
from slipway.sandbox.kubernetes.unknowns import PLACEHOLDER

Path: TypeAlias = tuple[str, ...]

OPEN = re.compile(
    r"(labels|annotations|selectors?|affinity|securitycontext|resources|limits|requests|env|envvars|env_?variables)$",
    re.IGNORECASE,
)
"""Maps that accept any key even if the chart's default has some: `podLabels`, `nodeSelector`."""
_COMMENTED = re.compile(r"^\s*#+\s*(?:-\s+)?([A-Za-z][\w.-]*)\s*:", re.MULTILINE)
_PARAMETER = re.compile(r"@param\s+([\w.-]+)")
_REFERENCE = re.compile(r"\.Values((?:\.[A-Za-z_]\w*)+)")
_INDEXED = re.compile(r"index\s+\$?\.Values((?:\.[A-Za-z_]\w*)*)((?:\s+\"[^\"]+\")+)")


def problems(chart: Chart, values: Mapping[str, Any]) -> list[str]:
    """One line for each value that the chart does not have, with its path and a similar name."""
    return list(_problems(chart, values, chart.defaults, ()))


def _problems(chart: Chart, values: Mapping[str, Any], defaults: Mapping[str, Any], path: Path) -> Iterator[str]:
    for key, value in values.items():
        here = (*path, key)
        if not path and key in dict(chart.dependencies):
            yield from _subchart_problems(chart, key, value, defaults)
        elif key not in defaults:
            if not _known_otherwise(chart, here):
                yield _unknown(chart, here, defaults)
        elif isinstance(defaults[key], Mapping) and defaults[key] and not _open(chart, here):
            if isinstance(value, Mapping):
                yield from _problems(chart, value, defaults[key], here)
            elif value is not None and value != PLACEHOLDER:
                yield f"values.{'.'.join(here)}: chart {_title(chart)} requires a map here, got {value!r}"


def _subchart_problems(chart: Chart, key: str, value: Any, defaults: Mapping[str, Any]) -> Iterator[str]:
    """Values below a subchart's name belong to that chart; they are not checked if it is not packed with the chart."""
    subchart = chart.subchart(dict(chart.dependencies)[key])
    if subchart is None or not isinstance(value, Mapping):
        return
    preset = defaults.get(key)
    known = {**subchart.defaults, **(preset if isinstance(preset, Mapping) else {}), "enabled": True}
    for problem in _problems(subchart, value, known, ()):
        yield problem.replace("values.", f"values.{key}.", 1)


def _known_otherwise(chart: Chart, path: Path) -> bool:
    if path[0] == "global" or (path == ("tags",) and chart.dependencies):
        return True
    dotted = ".".join(path)
    if any(condition == dotted or condition.startswith(f"{dotted}.") for condition in chart.conditions):
        return True
    return path[-1] in _commented(chart.values_text) or _referenced(chart, path) or _in_schema(chart.schema, path)


def _open(chart: Chart, path: Path) -> bool:
    """Whether a map accepts any key: by its name, or because a template passes it on as a whole."""
    return OPEN.search(path[-1]) is not None or path in _references(chart)


def _referenced(chart: Chart, path: Path) -> bool:
    """Whether a template reads the value, something below it, or a map that contains it."""
    return any(used[: len(path)] == path or path[: len(used)] == used for used in _references(chart))


def _references(chart: Chart) -> frozenset[Path]:
    return _references_in(chart.template_text) if chart.has_templates else frozenset()


@lru_cache(maxsize=64)
def _references_in(templates: str) -> frozenset[Path]:
    dotted = {tuple(match.lstrip(".").split(".")) for match in _REFERENCE.findall(templates)}
    indexed = {
        tuple([*filter(None, before.split(".")), *re.findall(r'"([^"]+)"', keys)])
        for before, keys in _INDEXED.findall(templates)
    }
    return frozenset(dotted | indexed)


@lru_cache(maxsize=64)
def _commented(text: str) -> frozenset[str]:
    """Keys that values.yaml documents in comments: optional values without a default."""
    parameters = {name.rpartition(".")[2] for name in _PARAMETER.findall(text)}
    return frozenset(_COMMENTED.findall(text)) | parameters


def _in_schema(schema: Mapping[str, Any] | None, path: Path) -> bool:
    at: Any = schema or {}
    for part in path:
        at = (at.get("properties") or {}).get(part) if isinstance(at, Mapping) else None
        if at is None:
            return False
    return True


def _unknown(chart: Chart, path: Path, siblings: Iterable[str]) -> str:
    close = difflib.get_close_matches(path[-1], list(siblings), n=1)
    hint = f'; did you mean "{close[0]}"?' if close else ""
    return f"values.{'.'.join(path)}: chart {_title(chart)} has no such value{hint}"


def _title(chart: Chart) -> str:
    return f"{chart.name} {chart.version}".strip()
