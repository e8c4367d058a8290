"""Inputs of a release in the form in which the official provider keeps and compares them.

It decodes them into a Go structure and back, so that every argument has a value and unknown ones are gone. The version
of a local chart comes from its Chart.yaml (pulumi-kubernetes v4.32.0, provider/pkg/provider/helm_release.go, Check).
"""

from __future__ import annotations

from typing import Any, Final

from slipway.sandbox.kubernetes.helm.chart import Charts
from slipway.sandbox.kubernetes.objects import Object

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
