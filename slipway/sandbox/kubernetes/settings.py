"""The arguments of one instance of the kubernetes provider."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from slipway.sandbox.rpc.errors import ProviderError
from slipway.sandbox.rpc.wire import nested

UNKNOWN_KUBECONFIG = "(known after the cluster exists)"
"""Replaces a kubeconfig that is not known yet: with an unknown argument the engine would not check any resource."""

REFUSED = {"renderYamlToDirectory": "renders manifests to files and applies none; `slipway render` does that"}


@dataclass(frozen=True)
class Settings:
    """The arguments that the sandbox supports.

    `server` is empty if the kubeconfig is not known yet, or if there is none: then `ambient` is true, and the sandbox's
    own kubeconfig applies, whose current context is the newest cluster. `program` is the stack and project of the
    resource that a call is about.
    """

    server: str = ""
    namespace: str = ""
    cluster_identifier: str = ""
    patch_force: bool = False
    upsert: bool = False
    config_map_mutable: bool = False
    secret_mutable: bool = False
    ambient: bool = False
    program: str = ""


def read_settings(config: Mapping[str, Any]) -> Settings:
    """Parse the arguments. Raises ProviderError for an invalid kubeconfig."""
    for key, why in REFUSED.items():
        if config.get(key):
            msg = f"the sandbox does not support {key}: it {why}"
            raise ProviderError(msg)
    text = str(config.get("kubeconfig") or "")
    context = _context(text, config) if text and text != UNKNOWN_KUBECONFIG else {}
    return Settings(
        server=context.get("server", ""),
        namespace=str(config.get("namespace") or context.get("namespace", "")),
        cluster_identifier=str(config.get("clusterIdentifier") or ""),
        patch_force=nested(config.get("enablePatchForce")) is True,
        upsert=nested(config.get("upsertExistingObjects")) is True,
        config_map_mutable=nested(config.get("enableConfigMapMutable")) is True,
        secret_mutable=nested(config.get("enableSecretMutable")) is True,
        ambient=not text,
    )


def _context(text: str, config: Mapping[str, Any]) -> dict[str, str]:
    document = _document(text)
    named = {
        section: {str(each.get("name")): each for each in document.get(section) or ()}
        for section in ("clusters", "contexts")
    }
    name = str(config.get("context") or document.get("current-context") or "")
    context = (named["contexts"].get(name) or {}).get("context")
    if context is None:
        msg = f"kubeconfig: there is no context {name!r}; it has: {', '.join(sorted(named['contexts'])) or 'none'}"
        raise ProviderError(msg)
    cluster = str(config.get("cluster") or context.get("cluster") or "")
    entry = (named["clusters"].get(cluster) or {}).get("cluster")
    if not entry or not entry.get("server"):
        clusters = ", ".join(sorted(named["clusters"])) or "none"
        msg = f"kubeconfig: there is no cluster {cluster!r} with a server; it has: {clusters}"
        raise ProviderError(msg)
    return {"server": str(entry["server"]).rstrip("/"), "namespace": str(context.get("namespace") or "")}


def _document(text: str) -> Mapping[str, Any]:
    """The kubeconfig's text, or the file of that path."""
    if "\n" not in text and "{" not in text:
        path = Path(text).expanduser()
        if not path.is_file():
            msg = f"kubeconfig: {text!r} is neither the contents of a kubeconfig nor the path of a file"
            raise ProviderError(msg)
        text = path.read_text(encoding="utf-8")
    try:
        document = yaml.safe_load(text)
    except yaml.YAMLError as error:
        msg = f"kubeconfig: not valid YAML or JSON: {error}"
        raise ProviderError(msg) from error
    if not isinstance(document, Mapping):
        msg = "kubeconfig: must be a map with clusters, contexts and users"
        raise ProviderError(msg)
    return document
