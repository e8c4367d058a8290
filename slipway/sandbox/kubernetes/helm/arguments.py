"""A release's inputs as arguments of `helm`, as the official provider passes them to Helm's library.

Source: pulumi/pulumi-kubernetes, provider/pkg/provider/helm_release.go, helmCreate, helmUpdate and Delete (2026-07).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

DEFAULT_SECONDS: Final = 300
REFUSED: Final = {
    "postrender": "the sandbox runs a post-renderer of its own",
    "valueYamlFiles": "the sandbox takes no assets: pass the values themselves",
}
"""Inputs that a release in the sandbox can't have."""


def install(inputs: Mapping[str, Any], chart: str) -> list[str]:
    """`helm install`. The sandbox creates the namespace and the CRDs of `crds/` itself."""
    flags = {
        "--atomic": "atomic",
        "--no-hooks": "disableWebhooks",
        "--replace": "replace",
        **_BOTH,
    }
    return ["install", *_common(inputs, chart), "--skip-crds", *_set(inputs, flags)]


def upgrade(inputs: Mapping[str, Any], chart: str) -> list[str]:
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


def uninstall(inputs: Mapping[str, Any]) -> list[str]:
    """`helm uninstall`; it waits unless `skipAwait` is set on a release that is not atomic."""
    waits = inputs.get("atomic") is True or inputs.get("skipAwait") is not True
    return ["uninstall", *_named(inputs), *(["--wait", *_timeout(inputs)] if waits else [])]


_BOTH: Final = {
    "--disable-openapi-validation": "disableOpenapiValidation",
    "--render-subchart-notes": "renderSubchartNotes",
    "--take-ownership": "takeOwnership",
}


def _common(inputs: Mapping[str, Any], chart: str) -> list[str]:
    name, *namespace = _named(inputs)
    arguments = [name, chart, *namespace, *_timeout(inputs)]
    if inputs.get("skipAwait") is not True:
        arguments += ["--wait", *(["--wait-for-jobs"] if inputs.get("waitForJobs") is True else [])]
    if inputs.get("description"):
        arguments += ["--description", str(inputs["description"])]
    return arguments


def _named(inputs: Mapping[str, Any]) -> list[str]:
    return [str(inputs["name"]), "--namespace", str(inputs["namespace"])]


def _timeout(inputs: Mapping[str, Any]) -> list[str]:
    return ["--timeout", f"{int(inputs.get('timeout') or DEFAULT_SECONDS)}s"]


def _set(inputs: Mapping[str, Any], flags: Mapping[str, str]) -> list[str]:
    return [flag for flag, key in flags.items() if inputs.get(key) is True]
