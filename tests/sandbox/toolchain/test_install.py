import hashlib
import io
import re
import shutil
import socket
import tarfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from sandbox.errors import AttemptError
from sandbox.toolchain import archive, cache, ensure, install
from sandbox.toolchain.process import Progress
from sandbox.toolchain.tools import TOOLS, Download, Tool
from tests.sandbox.toolchain.conftest import FakeGo
from tests.support.patience import SECONDS

BINARY = b"#!/bin/sh\necho gadget v1.2.3\n"


@dataclass
class Host:
    """A release host on loopback."""

    url: str = ""
    files: dict[str, bytes] = field(default_factory=dict)

    def publish(self, name: str, content: bytes, checksum: str | None = None) -> None:
        self.files[f"/{name}"] = content
        digest = checksum or hashlib.sha256(content).hexdigest()
        self.files[f"/{name}.sha256"] = f"{digest}  {name.rpartition('/')[2]}\n".encode()


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


def fetch(tool: Tool, installer: Download, directory: Path, *, pinned: bool = False) -> Path:
    (directory / "bin").mkdir(parents=True)
    install.install_into(directory, replace(tool, installer=installer), Progress("test", io.StringIO()), pinned=pinned)
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


def packed(**files: bytes) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as opened:
        for name, content in files.items():
            entry = tarfile.TarInfo(name.replace("__", "/"))
            entry.size = len(content)
            opened.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()


@pytest.fixture
def commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    """Commits a checksum for an address."""
    file = tmp_path / "checksums.txt"
    file.write_text("# sums\n")
    monkeypatch.setattr(install, "CHECKSUMS", file)

    def add(url: str, digest: str) -> None:
        install.write_checksums({**install.committed(), url: digest})

    return add


def test_a_committed_checksum_counts_and_not_that_of_the_host(
    gadget: Tool, host: Host, tmp_path: Path, commit: Callable[[str, str], None]
) -> None:
    """Whoever replaces a file on its host replaces the checksum beside it as well."""
    url = f"{host.url}/gadget"
    commit(url, hashlib.sha256(BINARY).hexdigest())
    host.publish("gadget", BINARY + b"echo more\n")
    with pytest.raises(AttemptError, match=r"its SHA-256 is [0-9a-f]{64}, checksums.txt has [0-9a-f]{64}"):
        fetch(gadget, Download(url, ".sha256"), tmp_path / "one")
    host.publish("gadget", BINARY)
    assert fetch(gadget, Download(url, ".sha256"), tmp_path / "two").read_bytes() == BINARY


def test_without_a_committed_checksum_nothing_is_downloaded_where_it_has_to_be_pinned(
    gadget: Tool, host: Host, tmp_path: Path
) -> None:
    host.publish("gadget", BINARY)
    message = r"no checksum of it is committed; `python -m sandbox.toolchain checksums`"
    with pytest.raises(AttemptError, match=message):
        fetch(gadget, Download(f"{host.url}/gadget", ".sha256"), tmp_path / "pinned", pinned=True)


def test_what_is_beside_a_binary_in_its_archive_comes_along(
    gadget: Tool, host: Host, tmp_path: Path, commit: Callable[[str, str], None]
) -> None:
    content = packed(gadget__gadget=BINARY, gadget__host=b"#!/bin/sh\n", other__file=b"", gadget__deep__file=b"")
    host.publish("gadget-x64.tar.gz", content)
    commit(f"{host.url}/gadget-x64.tar.gz", hashlib.sha256(content).hexdigest())
    download = Download(f"{host.url}/gadget-{{cpu}}.tar.gz", member="gadget/gadget", whole=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cache, "architecture", lambda: "amd64")
        binary = fetch(gadget, download, tmp_path / "bin")
    assert {path.name for path in binary.parent.iterdir()} == {"gadget", "host"}
    assert all(cache.is_executable(path) for path in binary.parent.iterdir())


def test_a_checksum_is_found_in_the_list_of_the_project(gadget: Tool, host: Host, tmp_path: Path) -> None:
    host.publish("gadget", BINARY)
    listing = f"{'0' * 64}  gadget-arm64\n{hashlib.sha256(BINARY).hexdigest()}  gadget\n"
    host.files["/gadget-1.2.3-checksums.txt"] = listing.encode()
    download = Download(f"{host.url}/gadget", checksums=f"{host.url}/gadget-{{version}}-checksums.txt")
    assert fetch(gadget, download, tmp_path / "one").read_bytes() == BINARY
    host.files["/gadget-1.2.3-checksums.txt"] = f"{'0' * 64}  gadget-arm64\n".encode()
    with pytest.raises(AttemptError, match="no published checksum of gadget"):
        fetch(gadget, download, tmp_path / "two")


def test_every_release_file_has_a_published_checksum() -> None:
    for tool in TOOLS.values():
        if tool.installer is not None:
            assert bool(tool.installer.checksum_suffix) != bool(tool.installer.checksums), tool.name


def test_no_tool_is_installed_by_a_script() -> None:
    """A script from the network is checked by nothing."""
    for tool in TOOLS.values():
        assert tool.installer is None or not tool.installer.url.endswith((".sh", "/install")), tool.name


def test_a_host_that_does_not_answer_fails_quickly(
    gadget: Tool, host: Host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(install, "_ANSWER_SECONDS", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        started = time.monotonic()
        with pytest.raises(AttemptError, match="does not answer"):
            fetch(gadget, Download(url, ".sha256"), tmp_path / "bin")
        assert time.monotonic() - started < SECONDS / 2


# The archive of a release.


@pytest.fixture
def release(gadget: Tool, host: Host, fake_go: FakeGo, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A host that has the archive, a machine that has nothing, and the log of its `go`; returns the log."""
    fake_go("")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SLIPWAY_CACHE", str(tmp_path / "runner"))
        ensure(gadget.name)
        name, content = archive.name(), io.BytesIO()
        with tarfile.open(fileobj=content, mode="w:gz") as packed:
            packed.add(cache.root() / "tools", "tools")
    host.publish(f"v1/{name}", content.getvalue())
    monkeypatch.setenv(archive.VARIABLE, f"{host.url}/v1/")
    calls = fake_go("")
    calls.unlink()
    return calls


def test_a_release_brings_its_tools_without_go(release: Path, gadget: Tool) -> None:
    assert ensure(gadget.name, read=True) == cache.binary(gadget)
    assert not release.exists()
    assert [path.name for path in cache.root().iterdir()] == [".archive.lock", "tools"]
    assert not cache.verified(cache.directory(gadget)), "the host published its checksum"


def test_only_a_committed_checksum_of_a_release_counts_where_it_has_to_be_pinned(
    release: Path, gadget: Tool, host: Host, commit: Callable[[str, str], None]
) -> None:
    ensure(gadget.name, pinned=True)
    assert release.exists()
    shutil.rmtree(cache.root())
    url = f"{host.url}/v1/{archive.name()}"
    commit(url, hashlib.sha256(host.files[f"/v1/{archive.name()}"]).hexdigest())
    release.unlink()
    assert ensure(gadget.name, pinned=True) == cache.binary(gadget)
    assert not release.exists()


@pytest.mark.parametrize(
    ("what", "said"), [("changed", "its SHA-256 is"), ("gone", "does not answer"), ("silent", "timed out")]
)
def test_tools_are_built_where_a_release_does_not_have_what_was_published(
    release: Path, gadget: Tool, host: Host, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
    what: str, said: str,
) -> None:  # fmt: skip
    with socket.create_server(("127.0.0.1", 0)) as silent:
        if what == "silent":
            monkeypatch.setenv(archive.VARIABLE, f"http://127.0.0.1:{silent.getsockname()[1]}")
        elif what == "gone":
            host.files.clear()
        else:
            host.files[f"/v1/{archive.name()}"] += b"more"
        assert ensure(gadget.name) == cache.binary(gadget)
    assert re.search(rf"SLIPWAY_TOOLCHAIN: .*{said}", capsys.readouterr().err)
    assert release.exists()
