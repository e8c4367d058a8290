import hashlib
import inspect
import io
import socket
import tarfile
import textwrap
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from pulumi.automation import PulumiCommand

from slipway.errors import AttemptError
from slipway.toolchain import cache, install
from slipway.toolchain.progress import Progress
from slipway.toolchain.tools import Download, PulumiInstaller, Tool

BINARY = b"#!/bin/sh\necho gadget v1.2.3\n"


@dataclass
class Host:
    """A release host on loopback."""

    url: str = ""
    files: dict[str, bytes] = field(default_factory=dict)

    def publish(self, name: str, content: bytes, checksum: str | None = None) -> None:
        self.files[f"/{name}"] = content
        self.files[f"/{name}.sha256"] = f"{checksum or hashlib.sha256(content).hexdigest()}  {name}\n".encode()


@pytest.fixture
def host(machine: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Host]:
    host = Host()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            content = host.files.get(self.path)
            self.send_response(404 if content is None else 200)
            self.send_header("Content-Length", str(len(content or b"")))
            self.end_headers()
            self.wfile.write(content or b"")

        def log_message(self, *arguments: object) -> None:
            """Log nothing."""

    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        host.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield host
        server.shutdown()
        thread.join()


def fetch(tool: Tool, installer: Download | PulumiInstaller, directory: Path) -> Path:
    (directory / "bin").mkdir()
    install.install_into(directory, replace(tool, installer=installer), Progress("test", io.StringIO()))
    return directory / "bin" / tool.name


def test_a_bare_binary_is_downloaded_and_made_executable(gadget: Tool, host: Host, tmp_path: Path) -> None:
    host.publish(f"v1.2.3/{cache.system()}/{cache.architecture()}/gadget", BINARY)
    binary = fetch(gadget, Download(host.url + "/v{version}/{os}/{arch}/gadget", ".sha256"), tmp_path / "bin")
    assert binary.read_bytes() == BINARY
    assert cache.is_executable(binary)


def test_a_binary_is_taken_out_of_its_archive(gadget: Tool, host: Host, tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        entry = tarfile.TarInfo(f"{cache.system()}/gadget")
        entry.size = len(BINARY)
        archive.addfile(entry, io.BytesIO(BINARY))
    host.publish("gadget.tar.gz", buffer.getvalue())
    binary = fetch(gadget, Download(host.url + "/gadget.tar.gz", ".sha256", "{os}/gadget"), tmp_path / "bin")
    assert binary.read_bytes() == BINARY
    assert [path.name for path in (tmp_path / "bin").iterdir()] == ["bin"], "the archive is left behind"


def test_a_file_with_another_checksum_is_refused(gadget: Tool, host: Host, tmp_path: Path) -> None:
    host.publish("gadget", BINARY, checksum="0" * 64)
    with pytest.raises(AttemptError, match=r"its SHA-256 is [0-9a-f]{64}, the project publishes 0{64}"):
        fetch(gadget, Download(host.url + "/gadget", ".sha256"), tmp_path / "bin")


def test_a_file_that_is_not_published_is_reported(gadget: Tool, host: Host, tmp_path: Path) -> None:
    with pytest.raises(AttemptError, match=r"127\.0\.0\.1:\d+ does not answer: .*404"):
        fetch(gadget, Download(host.url + "/gadget", ".sha256"), tmp_path / "bin")


def test_nothing_is_downloaded_for_a_system_without_a_published_binary(gadget: Tool, tmp_path: Path) -> None:
    with pytest.raises(AttemptError, match="publishes no binary for"):
        fetch(gadget, Download("http://127.0.0.1:9/gadget", ".sha256", systems=("plan9",)), tmp_path / "bin")


def test_the_installer_of_the_sdk_gets_the_directory_and_the_version(
    gadget: Tool, host: Host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert {"root", "version"} <= set(inspect.signature(PulumiCommand.install).parameters)
    host.publish("install.sh", b"")
    monkeypatch.setattr(install, "PULUMI_INSTALLER_URL", f"{host.url}/install.sh")
    stand_in = """
        import pathlib
        from pulumi.automation import PulumiCommand
        def install(root, version):
            pathlib.Path(root, "bin", "gadget").write_text(f"{version.major}.{version.minor}.{version.patch}")
        PulumiCommand.install = install
    """
    monkeypatch.setattr(install, "_INSTALL", textwrap.dedent(stand_in) + install._INSTALL)
    assert fetch(gadget, PulumiInstaller.SDK, tmp_path / "bin").read_text() == "1.2.3"


@pytest.mark.parametrize("kind", ["download", "pulumi"])
def test_a_host_that_does_not_answer_fails_quickly(
    gadget: Tool, host: Host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setattr(install, "_ANSWER_SECONDS", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        monkeypatch.setattr(install, "PULUMI_INSTALLER_URL", url)
        installer = PulumiInstaller.SDK if kind == "pulumi" else Download(url, ".sha256")
        started = time.monotonic()
        with pytest.raises(AttemptError, match="does not answer"):
            fetch(gadget, installer, tmp_path / "bin")
        assert time.monotonic() - started < 3
