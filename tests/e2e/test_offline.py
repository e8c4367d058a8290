"""No account, no credential, no network: a rehearsal needs none of them."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.world import World, counts

pytestmark = pytest.mark.sandbox

# A new network namespace has its loopback interface down: SIOCGIFFLAGS, IFF_UP, SIOCSIFFLAGS (netdevice(7)).
LOOPBACK_UP = """
import fcntl, os, socket, struct, sys
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
    request = bytearray(fcntl.ioctl(one, 0x8913, struct.pack("16sh14x", b"lo", 0)))
    flags = struct.unpack_from("h", request, 16)[0]
    fcntl.ioctl(one, 0x8914, struct.pack("16sh14x", b"lo", flags | 1))
os.execv(sys.argv[1], sys.argv[1:])
"""


def _isolated(*command: str) -> list[str]:
    return ["unshare", "--net", "--", sys.executable, "-c", LOOPBACK_UP, *command]


def _can_isolate() -> bool:
    return shutil.which("unshare") is not None and (
        subprocess.run(_isolated("/bin/true"), capture_output=True, check=False).returncode == 0
    )


@pytest.mark.skipif(not _can_isolate(), reason="a network namespace needs Linux, unshare(1) and root")
def test_prod_is_previewed_from_nothing_without_a_network_or_a_credential(tmp_path: Path) -> None:
    world = World.make(tmp_path)
    slipway = f"{sys.executable} -m slipway"
    script = f"{slipway} preview prod --sandbox; code=$?; {slipway} sandbox stop >/dev/null; exit $code"
    done = subprocess.run(
        _isolated("/bin/sh", "-c", script),
        cwd=world.checkout,
        env=world.environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert counts(done.stdout)["to create"] > 150
