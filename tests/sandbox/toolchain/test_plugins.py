"""What a deployment runs is there before it has credentials, and is what was committed."""

import hashlib
import io
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from sandbox.errors import ToolError
from sandbox.toolchain import cache, find, install, obtain, plugins, record
from sandbox.toolchain.__main__ import main
from sandbox.toolchain.tools import TOOLS
from tests.sandbox.toolchain.conftest import WriteScript

PLUGIN = b"a plugin"
PULUMI = """
    if [ "$1" = version ]; then echo v3.258.0; exit; fi
    mkdir -p "$PULUMI_HOME/plugins/resource-$4-v$5"
    cp "$7" "$PULUMI_HOME/plugins/resource-$4-v$5/archive"
    test "$1 $2 $3 $6" = "plugin install resource --file"
"""


@pytest.fixture(autouse=True)
def served(machine: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, bytes]:
    """Files by address, in place of the network; the checksums are in a file of the test."""
    files: dict[str, bytes] = {}

    def opened(url: str) -> Any:
        if url not in files:
            msg = f"404 {url}"
            raise OSError(msg)
        return io.BytesIO(files[url])

    monkeypatch.setattr(install, "_open", opened)
    monkeypatch.setattr(install, "_require_answer", lambda *_: None)
    monkeypatch.setattr(install, "CHECKSUMS", machine / "checksums.txt")
    install.CHECKSUMS.write_text("# comment\n")
    monkeypatch.setenv("PULUMI_HOME", str(machine / "home"))
    return files


@pytest.fixture
def pulumi(machine: Path, script: WriteScript) -> Path:
    """One in the cache that a committed sum verified."""
    path = script(cache.binary(TOOLS["pulumi"]), PULUMI)
    cache.record(cache.directory(TOOLS["pulumi"]))
    cache.mark_verified(cache.directory(TOOLS["pulumi"]))
    return path


def here(name: str) -> str:
    return plugins.address(name, cache.system(), cache.architecture())


def publish(served: dict[str, bytes]) -> None:
    """Every file has its address as content, and its checksum where its project publishes it."""
    for url, tool in record.files():
        served[url] = url.encode()
        if tool is not None and tool.installer is not None:
            at = install.sums(url, tool, tool.installer)
            line = f"{hashlib.sha256(url.encode()).hexdigest()}  {url.rpartition('/')[2]}\n".encode()
            served[at] = served.get(at, b"") + line


def test_a_plugin_without_a_committed_checksum_is_refused(pulumi: Path, served: dict[str, bytes]) -> None:
    served[here("aws")] = PLUGIN
    with pytest.raises(ToolError, match="no checksum of it is committed"):
        plugins.ensure_pinned(pulumi)
    assert not plugins.folder("aws").exists()


def test_a_plugin_that_is_not_the_committed_one_is_refused(pulumi: Path, served: dict[str, bytes]) -> None:
    served[here("aws")] = b"another plugin"
    install.write_checksums({here("aws"): hashlib.sha256(PLUGIN).hexdigest()})
    with pytest.raises(ToolError, match=r"its SHA-256 is [0-9a-f]{64}, checksums.txt has [0-9a-f]{64}"):
        plugins.ensure_pinned(pulumi)
    assert not plugins.folder("aws").exists()


def test_the_pipeline_gets_the_engine_and_the_plugins_of_the_locked_sdks(
    pulumi: Path, served: dict[str, bytes], capsys: pytest.CaptureFixture[str]
) -> None:
    served.update({here(name): PLUGIN for name in plugins.PROVIDERS})
    install.write_checksums({here(name): hashlib.sha256(PLUGIN).hexdigest() for name in plugins.PROVIDERS})
    assert main(["pipeline"]) == 0
    assert [plugins.folder(name) / "archive" for name in plugins.PROVIDERS] == sorted(
        plugins.folder("aws").parent.rglob("archive")
    )
    assert str(pulumi) in capsys.readouterr().out
    served.clear()
    assert main(["pipeline"]) == 0, "what is installed is not fetched again"


def test_a_plugin_that_was_there_is_replaced_by_the_committed_one(pulumi: Path, served: dict[str, bytes]) -> None:
    """The engine fetches plugins itself where nobody forbids it, and a runner may have other users."""
    for name in plugins.PROVIDERS:
        plugins.folder(name).mkdir(parents=True)
        (plugins.folder(name) / "archive").write_bytes(b"another plugin")
    with pytest.raises(ToolError, match="no checksum of it is committed"):
        plugins.ensure_pinned(pulumi)
    served.update({here(name): PLUGIN for name in plugins.PROVIDERS})
    install.write_checksums({here(name): hashlib.sha256(PLUGIN).hexdigest() for name in plugins.PROVIDERS})
    assert plugins.ensure_pinned(pulumi) == [plugins.folder(name) for name in plugins.PROVIDERS]
    assert all((plugins.folder(name) / "archive").read_bytes() == PLUGIN for name in plugins.PROVIDERS)


@pytest.mark.parametrize("brought", ["PATH", "cache"])
def test_an_empty_list_verifies_nothing(
    machine: Path,
    script: WriteScript,
    brought: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A CLI that the runner's image brings, or one that was downloaded without a committed sum, is not used."""
    monkeypatch.setattr(obtain, "go_command", lambda: None)
    tool = TOOLS["pulumi"]
    script(machine / "bin" / "pulumi" if brought == "PATH" else cache.binary(tool), PULUMI)
    if brought == "cache":
        cache.record(cache.directory(tool))
    assert find("pulumi") is not None
    assert find("pulumi", pinned=True) is None
    assert main(["pipeline"]) == 1
    assert "no checksum of it is committed" in capsys.readouterr().err


def test_the_checksums_of_all_release_files_are_recorded(served: dict[str, bytes]) -> None:
    publish(served)
    assert main(["checksums"]) == 0
    sums = install.committed()
    assert sums == {url: hashlib.sha256(url.encode()).hexdigest() for url, _ in record.files()}
    assert {"linux-amd64", "linux-arm64"} == {
        url.partition("resource-aws-")[2][-18:-7] for url in sums if "-aws-" in url
    }
    assert install.CHECKSUMS.read_text().startswith("# comment\n")
    # Each is fetched once: what was reviewed stays.
    served.clear()
    assert record.record() == 0


def test_a_file_that_is_not_the_published_one_is_not_recorded(served: dict[str, bytes]) -> None:
    publish(served)
    served.update({url: b"another file" for url, tool in record.files() if tool is not None})
    assert main(["checksums"]) == 1
    assert install.committed() == {}


def test_the_committed_checksums_are_of_files_in_use(monkeypatch: pytest.MonkeyPatch) -> None:
    """A line of an older version is nobody's."""
    monkeypatch.undo()
    assert set(install.committed()) <= {url for url, _ in record.files()}
    assert all(len(digest) == 64 for digest in install.committed().values())


def test_release_files_have_the_versions_in_use() -> None:
    urls = " ".join(url for url, _ in record.files())
    wanted = {tool.version for tool in TOOLS.values() if tool.installer is not None}
    wanted |= {metadata.version(f"pulumi-{name}") for name in plugins.PROVIDERS}
    assert [version for version in wanted if version not in urls] == []
