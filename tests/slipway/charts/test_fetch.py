"""Charts of a run that names no folder: downloaded once, from a repository on loopback; without one nothing waits."""

import hashlib
import http.server
import socket
import tarfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import date
from functools import partial
from pathlib import Path
from typing import Final

import pytest
import yaml

from sandbox import CHARTS, asked, toolchain
from sandbox.kubernetes.helm.chart import Charts
from slipway.charts import fetch
from slipway.charts.fetch import ChartSource, reachable, variables
from slipway.charts.pull import stated_digest
from spec.catalog.software import ChartRef
from spec.settings.charts import Charts as Settings
from tests.sandbox.kubernetes.helm.charts import write_chart
from tests.support.cases import beside

CASES: Final = beside(__file__)

COMMAND = "slipway up dev --sandbox"
PINS = tuple(
    ChartRef(name=name, repository="https://charts.example", version="1.2.3", released=date(2026, 9, 1), source="s")
    for name in ("one", "two")
)
Make = Callable[..., tuple[Mapping[str, str], list[str]]]


@pytest.fixture(autouse=True)
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache of this test, two pinned charts, and the machine's helm."""
    helm = toolchain.find("helm")
    monkeypatch.setenv("SLIPWAY_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(fetch, "pinned", lambda: PINS)
    for name in ("http_proxy", "https_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)

    def ensure(name: str) -> Path:
        if helm is None:
            pytest.skip(f"no {name} here: run `python -m sandbox.toolchain ensure helm`, or `make test`")
        return helm

    monkeypatch.setattr(toolchain, "ensure", ensure)


def make(
    named: str = "", present: Path | None = None, settings: Settings | None = None
) -> tuple[Mapping[str, str], list[str]]:
    """The environment of a run that names this, and what it says."""
    said: list[str] = []
    environment = {CHARTS: named} if named else {}
    return variables(environment, present, settings or Settings(), COMMAND, said.append), said


@pytest.fixture
def repository(tmp_path: Path) -> Iterator[str]:
    """A repository of the pinned charts on loopback, as `helm repo index` writes it."""
    root = tmp_path / "repository"
    root.mkdir()
    entries = {}
    for pin in PINS:
        chart = write_chart(tmp_path / "source", name=pin.name, version=pin.version)
        archive = root / f"{pin.name}-{pin.version}.tgz"
        with tarfile.open(archive, "w:gz") as file:
            file.add(chart, pin.name)
        digest = hashlib.sha256(archive.read_bytes()).hexdigest()
        entries[pin.name] = [{"name": pin.name, "version": pin.version, "urls": [archive.name], "digest": digest}]
    (root / "index.yaml").write_text(yaml.safe_dump({"apiVersion": "v1", "entries": entries}), encoding="utf-8")

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(root))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


@pytest.fixture
def closed() -> Iterator[str]:
    """A repository at a port of loopback that refuses connections."""
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))  # and never listens
        yield f"http://127.0.0.1:{holder.getsockname()[1]}"


def test_charts_are_downloaded_once_from_a_repository(repository: str) -> None:
    environment, said = make(repository)
    assert said[0].startswith(f"charts: downloading 2 from {repository}, once")
    assert said[1:] == [f"charts: 2 downloaded to {asked.cached()}"]
    assert environment[CHARTS] == str(asked.cached())
    assert asked.folder(environment) == asked.cached()
    for pin in PINS:
        chart = Charts(asked.cached()).find(pin.name, pin.version)
        assert chart is not None
        assert chart.version == pin.version
    assert make() == ({CHARTS: str(asked.cached())}, [])
    assert make(repository)[1] == []


def test_a_chart_in_the_cache_with_another_digest_than_the_pinned_one_is_downloaded_again(
    repository: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(repository)
    stated = [replace(pin, digest=stated_digest(asked.cached() / f"{pin.name}-{pin.version}")) for pin in PINS]
    assert all(pin.digest for pin in stated)
    monkeypatch.setattr(fetch, "pinned", lambda: stated)
    assert make(repository)[1] == []
    monkeypatch.setattr(fetch, "pinned", lambda: [replace(stated[0], digest=f"sha256:{64 * '0'}"), stated[1]])
    first, last = make(repository)[1]
    assert first.startswith("charts: downloading 1 from")
    assert "is pinned in spec/catalog/data/software.yaml" in last


def test_a_chart_that_the_repository_lacks_is_named_and_the_others_are_used(repository: str, tmp_path: Path) -> None:
    (tmp_path / "repository" / "two-1.2.3.tgz").unlink()
    environment, said = make(repository)
    assert f"1 downloaded to {asked.cached()}; not two (127.0.0.1:" in said[-1]
    assert said[-1].endswith(". The next `up` tries again")
    assert environment[CHARTS] == str(asked.cached())


def test_without_a_network_one_line_says_so_and_how_to_have_charts(closed: str) -> None:
    began = time.monotonic()
    environment, said = make(closed)
    assert time.monotonic() - began < 60  # no wait for helm, nor for a second connection
    assert environment == {CHARTS: closed}
    assert asked.folder(environment) is None
    (line,) = said
    assert f"`{CHARTS}=DIR {COMMAND}`" in line
    assert "\n" not in line


def test_the_publishers_are_asked_at_once_and_named_where_none_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[object] = []

    def answers(addresses: Iterator[object]) -> frozenset[object]:
        tried.extend(addresses)
        return frozenset()

    monkeypatch.setattr(fetch, "reachable", answers)
    environment, said = make()
    assert environment == {}
    assert set(tried) == {("charts.example", 443)}
    (line,) = said
    assert line.startswith("charts: no chart repository answers (3 s), so add-ons are recorded and no pod runs.")
    assert line.endswith(f"`{CHARTS}=DIR {COMMAND}`")


def test_a_name_that_is_never_resolved_does_not_hold_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    hang = threading.Event()

    def connect(address: object, **_: object) -> socket.socket:
        hang.wait(60)
        raise OSError(str(address))

    monkeypatch.setattr(socket, "create_connection", connect)
    began = time.monotonic()
    assert reachable([("charts.example", 443), ("other.example", 443)], 0.2) == frozenset()
    assert time.monotonic() - began < 30
    hang.set()


@pytest.mark.parametrize(("environment", "repository", "host", "port"), CASES["behind a proxy the proxy is asked"])
def test_behind_a_proxy_the_proxy_is_asked(
    environment: Mapping[str, str], repository: str, host: str, port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert fetch._address(repository) == (host, port)


def test_nothing_is_asked_where_nothing_is_wanted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "create_connection", lambda *_, **__: pytest.fail("connects"))
    monkeypatch.setattr(toolchain, "ensure", lambda _: tmp_path)
    folder = tmp_path / "charts"
    assert make("none") == ({CHARTS: "none"}, [])
    assert make(str(folder)) == ({CHARTS: str(folder)}, [])
    assert make(present=folder) == ({}, [])
    assert make(settings=Settings(directory="charts")) == ({}, [])


def test_a_stacks_own_registry_is_asked_instead_of_the_publishers(monkeypatch: pytest.MonkeyPatch) -> None:
    source = ChartSource(directory=asked.cached(), mirror="oci://registry.example/charts")
    assert [chart.chart for chart in source.charts()] == [f"oci://registry.example/charts/{pin.name}" for pin in PINS]
    monkeypatch.setattr(fetch, "reachable", lambda addresses: frozenset(addresses) - {("registry.example", 443)})
    (line,) = make(settings=Settings(registry="oci://registry.example/charts"))[1]
    assert line.startswith("charts: registry.example does not answer")


def test_without_helm_a_folder_is_checked_and_the_cause_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(_: str) -> Path:
        msg = "helm 3.22.0 is missing and can't be installed:\n  - download: no"
        raise toolchain.ToolError(msg)

    monkeypatch.setattr(toolchain, "ensure", missing)
    monkeypatch.setattr(fetch, "reachable", frozenset)
    (line,) = make("charts")[1]
    assert line.startswith("helm 3.22.0 is missing and can't be installed; charts are checked, not installed;")
    (line,) = make()[1]
    assert line.startswith("charts: not downloaded, because helm 3.22.0 is missing and can't be installed;")
