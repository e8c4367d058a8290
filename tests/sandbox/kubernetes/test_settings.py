import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from sandbox.kubernetes.targets import UNKNOWN_KUBECONFIG, read_settings
from sandbox.rpc.errors import ProviderError

DOCUMENT: dict[str, Any] = {
    "current-context": "a",
    "clusters": [
        {"name": "one", "cluster": {"server": "https://127.0.0.1:1/"}},
        {"name": "two", "cluster": {"server": "https://127.0.0.1:2"}},
    ],
    "contexts": [
        {"name": "a", "context": {"cluster": "one", "user": "u", "namespace": "team"}},
        {"name": "b", "context": {"cluster": "two", "user": "u"}},
    ],
    "users": [{"name": "u", "user": {"exec": {"command": "aws", "args": ["eks", "get-token"]}}}],
}


@pytest.mark.parametrize("text", [json.dumps(DOCUMENT), yaml.safe_dump(DOCUMENT)])
def test_a_kubeconfig_may_be_json_or_yaml(text: str) -> None:
    settings = read_settings({"kubeconfig": text})
    assert (settings.server, settings.namespace, settings.ambient) == ("https://127.0.0.1:1", "team", False)


def test_a_kubeconfig_may_be_a_path(tmp_path: Path) -> None:
    path = tmp_path / "config"
    path.write_text(json.dumps(DOCUMENT))
    assert read_settings({"kubeconfig": str(path)}).server == "https://127.0.0.1:1"


@pytest.mark.parametrize(("key", "value"), [("context", "b"), ("cluster", "two")])
def test_context_and_cluster_can_be_chosen(key: str, value: str) -> None:
    assert read_settings({"kubeconfig": json.dumps(DOCUMENT), key: value}).server == "https://127.0.0.1:2"


def test_the_providers_namespace_precedes_that_of_the_context() -> None:
    assert read_settings({"kubeconfig": json.dumps(DOCUMENT), "namespace": "mine"}).namespace == "mine"


def test_an_unknown_kubeconfig_names_no_server_and_is_not_the_sandboxs_own() -> None:
    settings = read_settings({"kubeconfig": UNKNOWN_KUBECONFIG})
    assert (settings.server, settings.ambient) == ("", False)


def test_without_a_kubeconfig_the_sandboxs_own_is_used() -> None:
    assert read_settings({}).ambient


def test_flags_may_be_booleans_or_strings() -> None:
    config = {"enablePatchForce": "true", "upsertExistingObjects": True, "enableSecretMutable": "false"}
    settings = read_settings(config)
    assert (settings.patch_force, settings.upsert, settings.secret_mutable) == (True, True, False)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"kubeconfig": "/no/such/file"}, "neither the contents of a kubeconfig nor the path"),
        ({"kubeconfig": "a: [\n"}, "not valid YAML or JSON"),
        ({"kubeconfig": "- a\n- b\n"}, "a map with clusters"),
        ({"kubeconfig": json.dumps(DOCUMENT), "context": "c"}, "no context 'c'; it has: a, b"),
        ({"kubeconfig": json.dumps(DOCUMENT), "cluster": "three"}, "no cluster 'three' with a server"),
        ({"renderYamlToDirectory": "out"}, "does not support renderYamlToDirectory"),
    ],
)
def test_invalid_arguments_are_refused(config: dict[str, Any], message: str) -> None:
    with pytest.raises(ProviderError, match=message):
        read_settings(config)
