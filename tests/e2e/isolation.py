"""A separate network namespace with only a loopback interface. Needs Linux, unshare(1), nsenter(1) and root."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Final

# A new network namespace has its loopback interface down: SIOCGIFFLAGS, IFF_UP, SIOCSIFFLAGS (netdevice(7)).
LOOPBACK_UP: Final = """
import fcntl, socket, struct, sys
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
    request = bytearray(fcntl.ioctl(one, 0x8913, struct.pack("16sh14x", b"lo", 0)))
    flags = struct.unpack_from("h", request, 16)[0]
    fcntl.ioctl(one, 0x8914, struct.pack("16sh14x", b"lo", flags | 1))
print("up", flush=True)
sys.stdin.read()
"""
_HOLDER: Final = ("unshare", "--net", "--", sys.executable, "-c", LOOPBACK_UP)


@cache
def possible() -> bool:
    """Whether such a namespace can be created here."""
    if not all(map(shutil.which, ("unshare", "nsenter"))):
        return False
    return subprocess.run(_HOLDER, stdin=subprocess.DEVNULL, capture_output=True, check=False).returncode == 0


@contextmanager
def isolated() -> Iterator[tuple[str, ...]]:
    """The prefix of a command that runs in such a namespace; empty if none can be created."""
    if not possible():
        yield ()
        return
    with subprocess.Popen(_HOLDER, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "up\n"
        try:
            yield ("nsenter", "--target", str(holder.pid), "--net", "--")
        finally:
            holder.communicate("")
