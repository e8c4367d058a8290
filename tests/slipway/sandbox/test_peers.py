"""Connections of other users of the machine are recognized."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from slipway.sandbox import peers
from slipway.sandbox.peers import Peers, owner

NOBODY = 65534


@pytest.fixture
def server() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(10)
        yield listening


def port_of(one: socket.socket) -> int:
    return int(one.getsockname()[1])


@pytest.mark.parametrize("family", [socket.AF_INET, socket.AF_INET6])
def test_a_connection_of_ours_is_recognized(server: socket.socket, family: socket.AddressFamily) -> None:
    with socket.socket(family) as client:
        client.connect(("127.0.0.1" if family is socket.AF_INET else "::ffff:127.0.0.1", port_of(server)))
        connection, (_, port) = server.accept()
        with connection:
            assert owner(port, port_of(server)) == os.getuid()
            assert Peers().ours(port, port_of(server))


def test_the_same_holds_where_the_kernel_has_no_table(server: socket.socket, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    with socket.create_connection(("127.0.0.1", port_of(server))):
        connection, (_, port) = server.accept()
        with connection:
            assert Peers().ours(port, port_of(server))
    assert owner(port, port_of(server) + 1) is None


def test_a_connection_of_another_user_is_not_ours(server: socket.socket, monkeypatch: pytest.MonkeyPatch) -> None:
    bash = shutil.which("bash")
    if os.getuid() != 0 or bash is None:
        pytest.skip("only root starts a process of another user")
    script = f"exec 3<>/dev/tcp/127.0.0.1/{port_of(server)}; read -r -t 30 <&3"
    with subprocess.Popen([bash, "-c", script], user=NOBODY, cwd="/", stdin=subprocess.DEVNULL):
        connection, (_, port) = server.accept()
        with connection:
            assert owner(port, port_of(server)) == NOBODY
            assert not Peers().ours(port, port_of(server))
            monkeypatch.setattr(sys, "platform", "darwin")
            assert not Peers().ours(port, port_of(server))


def test_an_unknown_connection_is_not_ours(server: socket.socket) -> None:
    assert owner(1, port_of(server)) is None
    assert not Peers().ours(1, port_of(server))


def test_the_user_is_read_from_the_table_of_the_kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    row = "  0: {}:C350 {}:1F90 01 00000000:00000000 00:00000000 00000000  {}        0 1234 1 0 20 4 30 10 -1"
    mapped = "0000000000000000FFFF00000100007F"
    rows = [row.format("0100007F", "0200007F", 5), row.format("0100007F", "0100007F", 1001)]
    table, table6 = tmp_path / "tcp", tmp_path / "tcp6"
    table.write_text("\n".join(["sl local rem", *rows]))
    table6.write_text("\n".join(["sl local rem", row.format(mapped, mapped, 1002)]))
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(peers, "TABLES", (table, table6))
    assert owner(0xC350, 0x1F90) == 1001
    monkeypatch.setattr(peers, "TABLES", (tmp_path / "none", table6))
    assert owner(0xC350, 0x1F90) == 1002


def test_an_answer_is_remembered_for_a_moment_only(server: socket.socket, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def look_up(port: int, _: int) -> int:
        asked.append(port)
        return os.getuid()

    monkeypatch.setattr(peers, "owner", look_up)
    remembering, forgetting = Peers(remember=60), Peers(remember=0)
    for one in (remembering, remembering, forgetting, forgetting):
        assert one.ours(7, port_of(server))
    assert len(asked) == 3


def test_root_may_and_others_may_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 1000)
    for user, expected in ((1000, True), (0, True), (1001, False), (None, False)):
        monkeypatch.setattr(peers, "owner", lambda *_, user=user: user)
        assert Peers(remember=0).ours(7, 8) is expected
