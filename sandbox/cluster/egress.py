"""The way from an API server to the Services of its cluster: an HTTP CONNECT proxy on a UNIX socket.

An API server calls webhooks and aggregated APIs at the ClusterIP of their Service. Here nothing routes that address, so
the API server is configured to reach the cluster through a proxy (kubernetes.io, "Set up Konnectivity service",
EgressSelectorConfiguration), which leads to the port of loopback where the Service's controller listens. Webhook
configurations, Services and certificates therefore stay as their chart makes them.
"""

import json
import logging
import selectors
import shutil
import socket
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

LOG = logging.getLogger(__name__)
SOCKET_PATH: Final = 100
"""Longest path of a socket: the kernel takes 107 bytes (unix(7)), macOS 103."""
DIAL_SECONDS: Final = 5.0
HEADER_BYTES: Final = 8192
BUFFER: Final = 65536

Resolve = Callable[[str, str, int], int | str]
"""The local port for a slot, a ClusterIP and a port of the Service; or why nothing of the sandbox serves it. The API
server repeats that in its error (k8s.io/apiserver 1.36, pkg/server/egressselector/egress_selector.go)."""


class Egress:
    """One socket for each API server. Thread-safe."""

    def __init__(self, directory: Path, resolve: Resolve) -> None:
        self._directory = directory
        self._resolve = resolve
        self._sockets: dict[str, tuple[socket.socket, Path]] = {}
        self._temporary: Path | None = None
        self._lock = threading.Lock()

    def configuration(self, slot: str) -> Path:
        """The value of `--egress-selector-config-file` for the API server of a slot; its socket listens."""
        with self._lock:
            if slot not in self._sockets:
                self._sockets[slot] = self._listen(slot)
            path = self._sockets[slot][1]
        uds = {"proxyProtocol": "HTTPConnect", "transport": {"uds": {"udsName": str(path)}}}
        document = {
            "apiVersion": "apiserver.k8s.io/v1beta1",
            "kind": "EgressSelectorConfiguration",
            "egressSelections": [{"name": "cluster", "connection": uds}],
        }
        file = self._directory / f"{slot}.json"
        # JSON is YAML.
        file.write_text(json.dumps(document), encoding="utf-8")
        return file

    def stop(self) -> None:
        """Close all sockets; connections end with the controllers that they lead to."""
        with self._lock:
            listening = list(self._sockets.values())
            self._sockets.clear()
        for listener, path in listening:
            # Ends `accept` in the thread of the socket.
            with suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            listener.close()
            path.unlink(missing_ok=True)
        if self._temporary is not None:
            shutil.rmtree(self._temporary, ignore_errors=True)

    def _listen(self, slot: str) -> tuple[socket.socket, Path]:
        self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = self._directory / f"{slot}.sock"
        if len(str(path).encode()) > SOCKET_PATH:
            self._temporary = self._temporary or Path(tempfile.mkdtemp(prefix="slipway-"))
            path = self._temporary / path.name
        path.unlink(missing_ok=True)
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind(str(path))
        listener.listen(64)
        threading.Thread(target=self._accept, args=(slot, listener), name=f"egress {slot}", daemon=True).start()
        return listener, path

    def _accept(self, slot: str, listener: socket.socket) -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(slot, client), name=f"egress {slot}", daemon=True).start()

    def _serve(self, slot: str, client: socket.socket) -> None:
        with client:
            try:
                address = _requested(client)
                host, _, port = address.rpartition(":")
                local = self._resolve(slot, host.strip("[]"), int(port))
                if isinstance(local, str):
                    _answer(client, f"503 {local}")
                    return
                server = socket.create_connection(("127.0.0.1", local), DIAL_SECONDS)
            except (OSError, ValueError) as error:
                with suppress(OSError):
                    _answer(client, f"503 {error}")
                return
            with server, suppress(OSError):
                server.settimeout(None)
                _answer(client, "200 OK")
                _join(client, server)


def _requested(client: socket.socket) -> str:
    """The `host:port` of a CONNECT request. Raises ValueError for anything else."""
    client.settimeout(DIAL_SECONDS)
    header = b""
    while b"\r\n\r\n" not in header:
        part = client.recv(BUFFER)
        if not part or len(header) > HEADER_BYTES:
            msg = "no whole request"
            raise ValueError(msg)
        header += part
    client.settimeout(None)
    method, address, _ = header.split(b"\r\n", 1)[0].decode().split(" ", 2)
    if method != "CONNECT":
        msg = f"{method} instead of CONNECT"
        raise ValueError(msg)
    return address


def _answer(client: socket.socket, status: str) -> None:
    client.sendall(f"HTTP/1.1 {' '.join(status.split())}\r\nContent-Length: 0\r\n\r\n".encode())


def _join(left: socket.socket, right: socket.socket) -> None:
    """Pass on what either side sends, until one ends."""
    with selectors.DefaultSelector() as selector:
        selector.register(left, selectors.EVENT_READ, right)
        selector.register(right, selectors.EVENT_READ, left)
        while True:
            for key, _ in selector.select():
                data = key.fileobj.recv(BUFFER)  # type: ignore[union-attr]
                if not data:
                    return
                key.data.sendall(data)
