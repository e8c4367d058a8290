import json
from typing import Any

import pytest

from sandbox.kubernetes.targets import UNKNOWN_KUBECONFIG
from sandbox.rpc.hooks import Resource
from sandbox.rpc.wire import UNKNOWN
from tests.sandbox.kubernetes.hooks import Hooks
from tests.sandbox.plane import ControlPlane

pytestmark = pytest.mark.sandbox

PROVIDER = Resource("urn", "pulumi:providers:kubernetes", "k8s")


def kubeconfig(server: str) -> str:
    document: dict[str, Any] = {
        "current-context": "c",
        "clusters": [{"name": "c", "cluster": {"server": server}}],
        "contexts": [{"name": "c", "context": {"cluster": "c"}}],
    }
    return json.dumps(document)


ONE, TWO = kubeconfig("https://127.0.0.1:1"), kubeconfig("https://127.0.0.1:2")


def test_previews_work_with_an_unknown_kubeconfig(hooks: Hooks, plane: ControlPlane) -> None:
    news = {"kubeconfig": UNKNOWN, "context": UNKNOWN, "namespace": "team"}
    assert hooks.provider.check_config(PROVIDER, news, {}) == (
        {"kubeconfig": UNKNOWN_KUBECONFIG, "namespace": "team"},
        [],
    )
    assert plane.pool.prewarm().result().process.exit_code is None


def test_a_wrong_kubeconfig_is_refused_before_anything_is_planned(hooks: Hooks) -> None:
    _, failures = hooks.provider.check_config(PROVIDER, {"kubeconfig": "a: [\n"}, {})
    assert "not valid YAML or JSON" in failures[0].reason


@pytest.mark.parametrize(
    ("olds", "news", "replaced"),
    [
        ({"kubeconfig": ONE}, {"kubeconfig": TWO}, {"kubeconfig"}),
        ({"kubeconfig": ONE}, {"kubeconfig": ONE, "namespace": "x"}, set()),
        ({"kubeconfig": ONE}, {"kubeconfig": UNKNOWN_KUBECONFIG}, set()),
        # The engine calls it so while the cluster is being replaced: without a check before it.
        ({"kubeconfig": ONE}, {"kubeconfig": UNKNOWN}, {"kubeconfig"}),
        (
            {"kubeconfig": ONE, "clusterIdentifier": "a"},
            {"kubeconfig": TWO, "clusterIdentifier": "a"},
            set(),
        ),
        (
            {"kubeconfig": ONE, "clusterIdentifier": "a"},
            {"kubeconfig": ONE, "clusterIdentifier": "b"},
            {"clusterIdentifier"},
        ),
    ],
)
def test_only_another_cluster_replaces_the_provider(
    hooks: Hooks, olds: dict[str, str], news: dict[str, str], replaced: set[str]
) -> None:
    found = hooks.provider.diff_config(PROVIDER, olds, news)
    assert {change.path[0] for change in found.changes if change.replace} == replaced
    assert found.changes
