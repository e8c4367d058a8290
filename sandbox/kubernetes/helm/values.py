"""Values and inputs of a release: whether the chart has them, its schema accepts them, and as arguments of `helm`."""

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Final, TypeAlias

import jsonschema

from sandbox.kubernetes.helm.chart import Chart, Charts
from sandbox.kubernetes.objects import Object
from sandbox.kubernetes.validation import PLACEHOLDER

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


# Validating values against the chart's values.schema.json, after merging them with the defaults like Helm.


def schema_problems(chart: Chart, values: Mapping[str, Any]) -> list[str]:
    """One line for each value that violates the schema; none if the chart has no schema."""
    if chart.schema is None:
        return []
    validator = jsonschema.validators.validator_for(chart.schema)(chart.schema)
    errors = sorted(validator.iter_errors(merged(chart.defaults, values)), key=lambda error: list(map(str, error.path)))
    return [_line(chart, error) for error in errors if PLACEHOLDER not in error.message]


def merged(defaults: Any, values: Any) -> Any:
    """Merge maps and replace anything else; a null removes the default."""
    if not isinstance(defaults, Mapping) or not isinstance(values, Mapping):
        return values
    both = {key: merged(defaults.get(key), value) if key in defaults else value for key, value in values.items()}
    return {key: value for key, value in {**defaults, **both}.items() if value is not None or key not in values}


def _line(chart: Chart, error: Any) -> str:
    path = ".".join(["values", *map(str, error.absolute_path)])
    return f"{path}: chart {chart.name} {chart.version} refuses it: {error.message}{_hint(error)}"


def _hint(error: Any) -> str:
    if error.validator != "additionalProperties" or not isinstance(error.instance, Mapping):
        return ""
    known: Iterable[str] = (error.schema.get("properties") or {}).keys()
    for key in error.instance:
        close = difflib.get_close_matches(key, [each for each in known if each != key], n=1)
        if key not in known and close:
            return f'; did you mean "{close[0]}"?'
    return ""


# Inputs of a release in the form in which the official provider keeps and compares them.
#
# It decodes them into a Go structure and back, so that every argument has a value and unknown ones are gone. The
# version of a local chart comes from its Chart.yaml (pulumi-kubernetes v4.32.0, provider/pkg/provider/helm_release.go,
# Check).

_FLAGS: Final = (
    "allowNullValues", "atomic", "cleanupOnFail", "createNamespace", "dependencyUpdate", "devel", "disableCRDHooks",
    "disableOpenapiValidation", "disableWebhooks", "forceUpdate", "lint", "recreatePods", "renderSubchartNotes",
    "replace", "resetValues", "reuseValues", "skipAwait", "skipCrds", "verify", "waitForJobs",
)  # fmt: skip
_TEXTS: Final = ("chart", "description", "keyring", "name", "namespace", "postrender", "version")
_OTHERS: Final = ("maxHistory", "repositoryOpts", "takeOwnership", "values", "valueYamlFiles")
"""Without a default; `takeOwnership` is newer than that version."""
TIMEOUT_SECONDS: Final = 300


def normalized(inputs: Object, charts: Charts) -> Object:
    """The inputs with every argument, and without those that the provider does not know."""
    defaults: dict[str, Any] = {**dict.fromkeys(_FLAGS, False), **dict.fromkeys(_TEXTS, "")}
    if not inputs.get("skipAwait"):
        defaults["timeout"] = TIMEOUT_SECONDS
    known = {*defaults, *_OTHERS, "timeout"}
    given = {key: value for key, value in inputs.items() if key in known and value is not None}
    complete = {**defaults, **given}
    if str(complete["chart"]).startswith(("/", ".")) and (chart := charts.find(str(complete["chart"]))) is not None:
        complete["version"] = chart.version
    return complete


# A release's inputs as arguments of `helm`, as the official provider passes them to Helm's library.
#
# Source: pulumi/pulumi-kubernetes, provider/pkg/provider/helm_release.go, helmCreate, helmUpdate and Delete (2026-07).

DEFAULT_SECONDS: Final = 300
_UNBOUNDED: Final = ("--timeout", "24h")
"""Helm counts the seconds of a busy machine. The sandbox interrupts it instead, once nothing changes any more."""
REFUSED: Final = {
    "postrender": "the sandbox runs a post-renderer of its own",
    "valueYamlFiles": "the sandbox takes no assets: pass the values themselves",
}
"""Inputs that a release in the sandbox can't have."""


def install_arguments(inputs: Mapping[str, Any], chart: str) -> list[str]:
    """`helm install`. The sandbox creates the namespace and the CRDs of `crds/` itself."""
    flags = {"--atomic": "atomic", "--no-hooks": "disableWebhooks", "--replace": "replace", **_BOTH}
    return ["install", *_common(inputs, chart), "--skip-crds", *_set(inputs, flags)]


def upgrade_arguments(inputs: Mapping[str, Any], chart: str) -> list[str]:
    """`helm upgrade`, which never installs CRDs. Without `maxHistory` Helm keeps every revision."""
    flags = {
        "--atomic": "atomic",
        "--cleanup-on-fail": "cleanupOnFail",
        # The provider disables hooks of an upgrade by disableCRDHooks, and those of an installation by disableWebhooks.
        "--no-hooks": "disableCRDHooks",
        "--force": "forceUpdate",
        "--reset-values": "resetValues",
        "--reuse-values": "reuseValues",
        "--recreate-pods": "recreatePods",
        **_BOTH,
    }
    history = int(inputs.get("maxHistory") or 0)
    return ["upgrade", *_common(inputs, chart), "--history-max", str(history), *_set(inputs, flags)]


def uninstall_arguments(inputs: Mapping[str, Any]) -> list[str]:
    """`helm uninstall`; it waits unless `skipAwait` is set on a release that is not atomic."""
    waits = inputs.get("atomic") is True or inputs.get("skipAwait") is not True
    return ["uninstall", *_named(inputs), *(["--wait", *_UNBOUNDED] if waits else [])]


_BOTH: Final = {
    "--disable-openapi-validation": "disableOpenapiValidation",
    "--render-subchart-notes": "renderSubchartNotes",
    "--take-ownership": "takeOwnership",
}


def _common(inputs: Mapping[str, Any], chart: str) -> list[str]:
    name, *namespace = _named(inputs)
    arguments = [name, chart, *namespace, *_UNBOUNDED]
    if inputs.get("skipAwait") is not True:
        arguments += ["--wait", *(["--wait-for-jobs"] if inputs.get("waitForJobs") is True else [])]
    if inputs.get("description"):
        arguments += ["--description", str(inputs["description"])]
    return arguments


def _named(inputs: Mapping[str, Any]) -> list[str]:
    return [str(inputs["name"]), "--namespace", str(inputs["namespace"])]


def limit(inputs: Mapping[str, Any]) -> float:
    """The release's own limit in seconds: how long nothing may change (`running.Readiness`)."""
    return float(inputs.get("timeout") or DEFAULT_SECONDS)


def _set(inputs: Mapping[str, Any], flags: Mapping[str, str]) -> list[str]:
    return [flag for flag, key in flags.items() if inputs.get(key) is True]
