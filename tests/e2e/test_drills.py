"""Drills: after a fault in the middle of an `up`, the same command again ends where it would have ended without it."""

import json
import os
import random
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from tests.e2e import cloud
from tests.e2e.world import World, counts

pytestmark = pytest.mark.sandbox
DRILLS: Final = int(os.environ.get("SLIPWAY_DRILLS", "4"))
"""How many drills there are, each by its own seed; each takes a minute on two cores. `make drills` runs many."""
FAILS: Final = ("denied", "internal", "throttled", "unavailable", "failed", "lost", "kube-apiserver", "etcd")
AWAY: Final[Mapping[str, Any]] = {"fails": "away", "seconds": 40}
"""Longer than a request of the provider lasts."""
FOREVER: Final = 40
"""More often than clients repeat a request (terraform-provider-aws, 25 times)."""


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A sandbox of its own: faults meet whoever asks."""
    world = World.make(tmp_path_factory.mktemp("drills"))
    try:
        world.succeed("sandbox", "start")
        yield world
    finally:
        world.run("sandbox", "stop")


def put(world: World, tmp_path: Path, *faults: Mapping[str, Any], seed: int = 0) -> None:
    file = tmp_path / "faults.yaml"
    file.write_text(json.dumps({"seed": seed, "faults": faults}), encoding="utf-8")
    world.succeed("sandbox", "faults", str(file))


def account(world: World) -> dict[str, int]:
    """How many objects of each kind the account has."""
    return {kind: len(names) for kind, names in cloud.contents(world.variables("brief")).items()}


def objects(world: World) -> set[tuple[str, str, str]]:
    """Kind, namespace and name of what is in the cluster, but for what comes and goes by itself."""
    api = world.api("brief")
    return {
        (kind, one["metadata"].get("namespace", ""), one["metadata"]["name"])
        for kind, version in KINDS.items()
        for one in api.list(api.discovery.find(version, kind))
    }


KINDS: Final = {
    **dict.fromkeys(("ConfigMap", "Namespace", "Service", "ServiceAccount"), "v1"),
    **dict.fromkeys(("DaemonSet", "Deployment"), "apps/v1"),
    "ClusterRole": "rbac.authorization.k8s.io/v1",
    "PriorityClass": "scheduling.k8s.io/v1",
    "StorageClass": "storage.k8s.io/v1",
    "ValidatingAdmissionPolicy": "admissionregistration.k8s.io/v1",
}


@pytest.fixture(scope="module")
def undisturbed(world: World, tmp_path_factory: pytest.TempPathFactory) -> tuple[int, dict[str, int], int, set[Any]]:
    """Without a fault: the requests of an `up`, the objects that it makes in the account, and in the cluster."""
    put(world, tmp_path_factory.mktemp("counted"), {"on": "*", "fails": "internal", "times": 0, "probability": 0.0})
    made = counts(world.succeed("up", "brief", "--sandbox"))["created"]
    (counted,) = json.loads(world.succeed("sandbox", "faults", "--json"))
    found = counted["met"], account(world), made, objects(world)
    world.succeed("destroy", "brief", "--sandbox", "--yes")
    return found


@pytest.mark.parametrize("seed", range(DRILLS))
def test_the_same_command_ends_where_it_would_have_ended(
    world: World, undisturbed: tuple[int, dict[str, int], int, set[Any]], tmp_path: Path, seed: int
) -> None:
    requests, of_account, made, of_cluster = undisturbed
    chance = random.Random(seed)  # noqa: S311 - repeatable
    # Other runs make some requests less, and repeat others.
    fails, after = FAILS[seed % len(FAILS)], chance.randrange(requests * 9 // 10)
    fault: Mapping[str, Any] = {"on": "*", "fails": fails, "after": after, "times": chance.choice((1, FOREVER))}
    if fails in ("failed", "kube-apiserver", "etcd"):
        # Only EKS works on after its answer, and the parts are there once there is a cluster.
        of_part = {"fails": fails} if fails == "failed" else {"part": fails, **AWAY}
        fault = {"on": "eks:Create*", "after": 1 + seed % 5, **of_part}
    try:
        put(world, tmp_path, fault, seed=seed)
        disturbed = world.run("up", "brief", "--sandbox")
        assert "Traceback" not in disturbed.stdout, disturbed.stdout
        (struck,) = json.loads(world.succeed("sandbox", "faults", "--json"))
        assert struck["failed"], f"{fault} met nothing"
        world.succeed("sandbox", "faults", "--clear")
        world.succeed("up", "brief", "--sandbox")
        preview = world.succeed("preview", "brief", "--sandbox")
        assert counts(preview) == {"unchanged": made}, f"{fault}: {disturbed.stdout}\n{preview}"
        assert objects(world) == of_cluster
        assert account(world) == of_account, f"{fault}: {disturbed.stdout}"
    finally:
        world.run("sandbox", "faults", "--clear")
        world.succeed("destroy", "brief", "--sandbox", "--yes")
