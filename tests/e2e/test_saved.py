"""A sandbox that was saved goes on after it was killed, as it was."""

from pathlib import Path
from typing import Any

import psutil
import pytest

from sandbox.kubernetes.objects import Ref
from sandbox.lifecycle import status
from tests.e2e.world import World, counts

pytestmark = pytest.mark.sandbox
WAITS: dict[str, Any] = {
    **Ref("v1", "Pod", "waits", "default").as_object(),
    "spec": {"nodeSelector": {"no": "node"}, "containers": [{"name": "one", "image": "one"}]},
}


def test_a_saved_world_goes_on_after_a_kill(tmp_path: Path) -> None:
    world = World.make(tmp_path)
    try:
        made = counts(world.succeed("up", "brief", "--sandbox"))["created"]
        world.api("brief").create(WAITS, "test")
        before = seen(world)
        assert before["Pod"]["waits"][1] == "Pending"
        world.succeed("sandbox", "save", "brief")
        world.api("brief").create(Ref("v1", "Namespace", "later").as_object(), "test")
        assert "a sandbox runs" in world.run("sandbox", "restore", "brief").stdout
        state = status(world.home).state
        assert state is not None
        psutil.Process(state.daemon.pid).kill()
        world.succeed("sandbox", "restore", "brief")
        assert seen(world) == before
        assert world.api("brief").get(Ref("v1", "Namespace", "later")) is None
        assert counts(world.succeed("preview", "brief", "--sandbox")) == {"unchanged": made}
        assert counts(world.succeed("destroy", "brief", "--sandbox", "--yes"))["deleted"] == made
    finally:
        world.run("sandbox", "stop")


def seen(world: World) -> dict[str, dict[str, tuple[str, str]]]:
    """UID and phase of nodes and pods, by kind and name."""
    api = world.api("brief")
    return {
        kind: {
            one["metadata"]["name"]: (one["metadata"]["uid"], (one.get("status") or {}).get("phase", ""))
            for one in api.list(api.discovery.find("v1", kind))
        }
        for kind in ("Node", "Pod")
    }
