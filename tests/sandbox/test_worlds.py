"""Saved worlds as files: who may read one, and what it must fit."""

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from sandbox import lifecycle, toolchain, worlds
from sandbox.errors import SandboxError
from sandbox.state import STATE_FILE
from sandbox.worlds import World


@pytest.fixture
def world(tmp_path: Path) -> World:
    """A saved one, of a home with a stack state and etcd's data."""
    for name in ("etcd/member/log", "etcd/member/0.tmp", "pulumi/state", "kubeconfig", "notes.json"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name, encoding="utf-8")
    world = World("dev", worlds.now(), worlds.made_from(), None, {"AWS": 1})
    assert worlds.write(tmp_path, world, b"memory") == worlds.file_of(tmp_path, "dev").stat().st_size
    return world


def test_a_world_is_listed_and_unpacked(tmp_path: Path, world: World) -> None:
    (found,) = worlds.listed(tmp_path)
    assert found == world
    assert found.misfits == []
    other = tmp_path / "other"
    other.mkdir()
    (other / worlds.FOLDER).symlink_to(tmp_path / worlds.FOLDER)
    worlds.unpack(other, world)
    files = {str(each.relative_to(other)) for each in other.rglob("*") if each.is_file()}
    assert files == {"etcd/member/log", "pulumi/state", "notes.json", worlds.MEMORY}
    assert (other / worlds.MEMORY).read_bytes() == b"memory"


@pytest.mark.parametrize("what", ["moto", "etcd", "kube-apiserver", "the account's code"])
def test_a_world_of_other_versions_is_refused(tmp_path: Path, world: World, what: str) -> None:
    old = replace(world, made_from={**world.made_from, what: "0.1"})
    worlds.write(tmp_path, old, b"code")
    reason = f"made with {what} 0.1, here {world.made_from[what]}. Make it anew"
    with pytest.raises(SandboxError, match=reason):
        worlds.require_fit(worlds.read(tmp_path, "dev"))
    if all(toolchain.find(tool) for tool in lifecycle.REQUIRED):
        with pytest.raises(SandboxError, match=reason):
            lifecycle.start(home=tmp_path, world="dev")
        assert not (tmp_path / STATE_FILE).exists()
        assert (tmp_path / "kubeconfig").exists()


def test_a_file_that_others_can_write_is_not_read(
    tmp_path: Path, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = worlds.file_of(tmp_path, "dev")
    path.chmod(0o620)
    with pytest.raises(SandboxError, match=r"it has uid .* and mode 620"):
        worlds.read(tmp_path, "dev")
    path.chmod(0o600)
    path.with_name("link.tar.gz").symlink_to(path)
    with pytest.raises(SandboxError, match=r"link.tar.gz is not read"):
        worlds.read(tmp_path, "link")
    monkeypatch.setattr(os, "getuid", lambda: path.stat().st_uid + 1)
    with pytest.raises(SandboxError, match="must be a file of this user"):
        worlds.read(tmp_path, "dev")


def test_what_is_no_world_is_refused(tmp_path: Path, world: World) -> None:
    with pytest.raises(SandboxError, match=r"there is no world prod in .*, but dev"):
        worlds.read(tmp_path, "prod")
    with pytest.raises(SandboxError, match="a world's name has lower-case letters"):
        worlds.read(tmp_path, "../dev")
    worlds.file_of(tmp_path, "dev").write_bytes(b"half")
    with pytest.raises(SandboxError, match="can't be read"):
        worlds.read(tmp_path, "dev")


def test_a_stack_that_is_being_changed_is_not_saved(tmp_path: Path) -> None:
    lock = tmp_path / "pulumi" / ".pulumi" / "locks" / "organization" / "slipway" / "dev" / "one.json"
    lock.parent.mkdir(parents=True)
    for pid in (2**22 + 1, "none"):
        lock.write_text(json.dumps({"pid": pid}), encoding="utf-8")
        worlds.require_idle(tmp_path)
    lock.write_text(json.dumps({"pid": os.getpid()}), encoding="utf-8")
    with pytest.raises(SandboxError, match="stack dev is being changed"):
        worlds.require_idle(tmp_path)
