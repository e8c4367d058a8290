"""The README in order: a run without charts, then with them, then with others, in one sandbox that keeps running."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from sandbox import CHARTS
from sandbox.kubernetes.client import KubeClient
from sandbox.kubernetes.controllers.table import VARIABLE as CONTROLLERS
from sandbox.kubernetes.objects import Ref
from tests.e2e.world import BRIEF, World, some_charts, updated
from tests.sandbox.kubernetes.helm.charts import needs_helm

pytestmark = [pytest.mark.sandbox, needs_helm]

ADDONS: Final = "    addons: {kueue: {}, leaderWorkerSet: {}}\n"
USED: Final = ("aws-vpc-cni", "kueue", "lws")
INSTALLED: Final = "Helm releases: 2 installed by Helm, "
NONE_PODS: Final = "Pods: none, because no chart is installed: "


@pytest.fixture
def bare(shared: Path, tmp_path: Path) -> Iterator[World]:
    """Stack brief with two add-ons, and the folders `charts` and `fewer` in the checkout; nothing names them."""
    world = replace(World.make(tmp_path), more={CONTROLLERS: "none"})
    (world.checkout / "stacks" / "Pulumi.brief.yaml").write_text(BRIEF + ADDONS, encoding="utf-8")
    for folder, names in {"charts": USED, "fewer": USED[:1], "empty": ()}.items():
        some_charts(shared, names, world.checkout / folder)
    try:
        yield world
    finally:
        world.run("sandbox", "stop")


def test_charts_that_come_later_are_installed_and_stay(bare: World) -> None:
    def up(charts: str | None, more: dict[str, str] | None = None) -> str:
        world = replace(bare, more={**bare.more, **({} if charts is None else {CHARTS: charts}), **(more or {})})
        return world.succeed("up", "brief", "--sandbox")

    first = up(None)
    assert f"{NONE_PODS}none is on this machine" in first
    client = bare.api("brief")
    assert not ready(client)

    lacking = up("empty")
    assert f"charts: those of {bare.checkout / 'empty'} from now on, none before" in lacking
    assert f"{NONE_PODS}{bare.checkout / 'empty'} has none of its charts" in lacking
    assert updated(lacking) == set()

    some = up("fewer")
    assert updated(some) == {"addons-early-vpc-cni"}
    assert re.search(r"Pods: [1-9]\d* wanted, [1-9]", some)

    whole = up("charts")
    assert updated(whole) == {"kueue-release", "leader-worker-set-lws"}
    assert INSTALLED in whole
    assert f"  Without a chart in {bare.checkout / 'charts'}: " in whole
    assert ready(client)
    assert "the charts are still" not in whole

    kept = up("", {CONTROLLERS: "kueue"})
    assert f"{CHARTS} is unset: the charts are still those of {bare.checkout / 'charts'}" in kept
    assert f"{CONTROLLERS}=kueue has no effect: the sandbox was started with {CONTROLLERS}=none" in kept
    assert updated(kept) == set()
    assert NONE_PODS not in kept
    assert INSTALLED in kept

    without = up("fewer")
    assert updated(without) == set()
    assert INSTALLED in without
    assert ready(client)

    wrong = replace(bare, more={**bare.more, CHARTS: "nowhere"}).run("up", "brief", "--sandbox")
    assert f"{CHARTS}: it must be a folder of charts (given: 'nowhere'" in wrong.stdout
    bare.succeed("destroy", "brief", "--sandbox", "--yes")


def ready(client: KubeClient) -> bool:
    """Whether the controller of Kueue has its pod."""
    found = client.get(Ref("apps/v1", "Deployment", "kueue-controller-manager", "kueue-system")) or {}
    return bool((found.get("status") or {}).get("readyReplicas"))
