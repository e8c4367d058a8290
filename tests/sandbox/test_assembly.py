from pathlib import Path

import pytest

from sandbox import assembly
from sandbox.assembly import Sandbox, Settings
from sandbox.cluster.control_plane import PROGRAMS
from sandbox.rpc.errors import ProviderError
from sandbox.state import STATE_FILE, load, load_children

pytestmark = pytest.mark.sandbox


def test_a_part_that_does_not_start_stops_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def start(_port: int) -> None:
        msg = "no port"
        raise ProviderError(msg)

    monkeypatch.setattr(assembly, "start_moto", start)
    with pytest.raises(ProviderError, match="no port"):
        Sandbox.start(Settings(tmp_path))
    assert load_children(tmp_path) == ()
    assert not (tmp_path / STATE_FILE).exists()


def test_the_files_list_clusters_as_they_are_added_and_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    warmed: list[str] = []
    monkeypatch.setattr(assembly, "warm", lambda clients, region: warmed.append(region))
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    sandbox = Sandbox.start(Settings(tmp_path))
    try:
        sandbox.warm()
        assert warmed == ["eu-west-1"]
        endpoint = sandbox.pool.create("dev")
        state = load(tmp_path)
        assert state is not None
        assert state.clusters == {"dev": endpoint.server}
        assert endpoint.server in state.kubeconfig.read_text()
        beside = [f"{program} api-1" for program in PROGRAMS]
        assert [child.name for child in load_children(tmp_path)] == ["etcd", "kube-apiserver api-1", *beside]

        sandbox.registry.node_group_changed("dev", "system", {"instanceTypes": ["m7i.large"]}, None)
        client = sandbox.targets.of_cluster("dev")
        assert client is not None
        assert [node["metadata"]["name"] for node in client.get_path("/api/v1/nodes")["items"]] == ["system-0"]

        sandbox.pool.delete("dev")
        assert (load(tmp_path) or state).clusters == {}
        assert endpoint.server not in state.kubeconfig.read_text()
        assert [child.name for child in load_children(tmp_path)] == ["etcd"]
    finally:
        sandbox.stop()
    assert load_children(tmp_path) == ()
