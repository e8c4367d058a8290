"""Charts of a run in the sandbox that names no folder of them: each pinned one is downloaded once, into the cache.

Without a network nothing waits: one connection to each host of a chart that is missing, all at the same time.
"""

import socket
import threading
import time
import urllib.request
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from sandbox import CHARTS, asked, toolchain
from sandbox.toolchain import cache
from slipway.charts.pull import TIMED_OUT, Pulled, download, pinned, stated_digest
from spec.catalog.software import ChartRef
from spec.settings.charts import Charts as Settings

PROBE_SECONDS: Final = 3.0
"""For name and connection together, all hosts at once. A registry on another continent answers within 0.5 s."""
AT_ONCE: Final = 8  # Hosts from which charts are downloaded at the same time. There are 17 (2026-11).
HOSTS_SHOWN: Final = 3
_PORTS: Final = {"http": 80}
_HTTPS: Final = 443
Address = tuple[str, int]
Say = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class ChartSource:
    """Where charts come from, and what of that a test replaces."""

    directory: Path  # the cache: a folder for each chart and version
    mirror: str = ""  # a repository or registry with a copy of every chart; empty for those of their publishers
    helm: Callable[[], Path] = lambda: toolchain.ensure("helm")
    """The helm binary, which is installed if it is missing. Raises ToolError."""

    def charts(self) -> list[ChartRef]:
        """Every pinned chart, at its place in this source."""
        return [replace(chart, repository=self.mirror or chart.repository) for chart in pinned()]


def variables(
    environment: Mapping[str, str], present: Path | None, settings: Settings, command: str, say: Say
) -> Mapping[str, str]:
    """The environment of a run, in which `SLIPWAY_CHARTS` names the folder of charts that it uses, if there is one.

    Args:
        environment: The user's.
        present: The folder that the running sandbox uses; None without one.
        settings: Where the stack's settings say that charts are.
        command: What the user runs, for messages.
        say: Called with each message.
    """
    named = environment.get(CHARTS) or ""
    if named == asked.NONE:
        return environment
    mirror = named if asked.is_repository(named) else ""
    # A folder that an earlier command named is still in use.
    kept = not named and present is not None and present != asked.cached()
    if settings.directory is not None or kept or (named and not mirror):
        _require_helm(say)
        return environment
    source = ChartSource(directory=asked.cached(), mirror=mirror or settings.registry or "")
    fetch(source, command, say)
    return {**environment, CHARTS: str(source.directory)} if any(source.directory.glob("*/Chart.yaml")) else environment


def fetch(source: ChartSource, command: str, say: Say) -> None:
    """Download the charts that the cache lacks. Failures are said, in one line, and end nothing."""
    if not missing(source):
        return
    answering = reachable(_address(chart.repository) for chart in missing(source))
    if not answering:
        hosts = urlsplit(source.mirror).netloc if source.mirror else "no chart repository"
        does = "does not answer" if source.mirror else "answers"
        say(
            f"charts: {hosts} {does} ({PROBE_SECONDS:g} s), so {_without(source)}. With a folder that "
            f"`slipway catalog pull --dir DIR` filled elsewhere: `{CHARTS}=DIR {command}`"
        )
        return
    try:
        helm = source.helm()
    except toolchain.ToolError as error:
        say(f"charts: not downloaded, because {_first_line(error)}; `slipway doctor` says how to get it")
        return
    with cache.holding(source.directory / ".lock", lambda: say("charts: another process is downloading them")):
        if wanted := missing(source):  # of another process's download, nothing is
            where = source.mirror or "their publishers"
            say(f"charts: downloading {len(wanted)} from {where}, once ({CHARTS}={asked.NONE} goes without)")
            say(_described(_download(helm, wanted, answering, source.directory), source.directory))


def missing(source: ChartSource) -> list[ChartRef]:
    """The pinned charts that the cache lacks, or has with another digest."""
    return [one for one in source.charts() if not _is_there(_folder(source.directory, one), one)]


def _is_there(folder: Path, chart: ChartRef) -> bool:
    other = chart.digest and stated_digest(folder) != chart.digest
    return (folder / "Chart.yaml").is_file() and not other


def reachable(addresses: Iterable[Address], seconds: float = PROBE_SECONDS) -> frozenset[Address]:
    """The addresses that accept a connection within some seconds, which is all that this takes."""
    found: set[Address] = set()

    def connect(address: Address) -> None:
        try:
            with socket.create_connection(address, timeout=seconds):
                found.add(address)
        except OSError:
            pass

    # Threads that end with the process: a resolver may hang for half a minute, and has no time-out of its own here.
    threads = [threading.Thread(target=connect, args=(one,), daemon=True) for one in set(addresses)]
    for thread in threads:
        thread.start()
    end = time.monotonic() + seconds
    for thread in threads:
        thread.join(max(0.0, end - time.monotonic()))
    return frozenset(found)


def _address(repository: str) -> Address:
    """Host and port of a repository, or of the proxy that helm uses for it."""
    place = urlsplit(repository)
    scheme = "http" if place.scheme == "http" else "https"
    proxy = urllib.request.getproxies_environment().get(scheme)
    if proxy and not urllib.request.proxy_bypass(place.hostname or ""):
        place = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
    return place.hostname or "", place.port or _PORTS.get(place.scheme, _HTTPS)


def _folder(directory: Path, chart: ChartRef) -> Path:
    return directory / f"{chart.name}-{chart.version}"


def _download(
    helm: Path, charts: Collection[ChartRef], answering: Collection[Address], directory: Path
) -> list[Pulled]:
    by_host: defaultdict[str, list[ChartRef]] = defaultdict(list)
    for chart in charts:
        by_host[urlsplit(chart.repository).netloc].append(chart)

    def of_host(group: Iterable[ChartRef]) -> list[Pulled]:
        done: list[Pulled] = []
        for chart in group:
            folder, problem = _folder(directory, chart), ""
            if _address(chart.repository) not in answering:
                problem = "does not answer"
            elif done and TIMED_OUT in done[-1].problem:
                problem = done[-1].problem  # each further one would take as long
            done.append(
                Pulled(chart=chart, folder=folder, problem=problem) if problem else download(helm, chart, folder)
            )
        return done

    pool = ThreadPoolExecutor(AT_ONCE)
    try:
        return [each for group in pool.map(of_host, by_host.values()) for each in group]
    finally:
        pool.shutdown(cancel_futures=True)  # after Ctrl-C


def _described(pulled: Collection[Pulled], directory: Path) -> str:
    """How many were downloaded; by host, which were not, with the reason of the first."""
    failed: defaultdict[str, list[Pulled]] = defaultdict(list)
    for each in pulled:
        if each.problem:
            failed[urlsplit(each.chart.repository).netloc].append(each)
    done = f"charts: {sum(not each.problem for each in pulled)} downloaded to {directory}"
    if not failed:
        return done
    shown = [
        f"{', '.join(each.chart.name for each in group)} ({host}: {group[0].problem.removeprefix('Error: ')})"
        for host, group in failed.items()
    ]
    rest = f" and those of {len(shown) - HOSTS_SHOWN} more hosts" if len(shown) > HOSTS_SHOWN else ""
    return f"{done}; not {'; '.join(shown[:HOSTS_SHOWN])}{rest}. The next `up` tries again"


def _without(source: ChartSource) -> str:
    there = len(source.charts()) - len(missing(source))
    return f"{there} of {len(source.charts())} are there" if there else "add-ons are recorded and no pod runs"


def _require_helm(say: Say) -> None:
    """Install helm, if it is missing: without it, charts are checked and not installed."""
    try:
        toolchain.ensure("helm")
    except toolchain.ToolError as error:
        say(f"{_first_line(error)}; charts are checked, not installed; `slipway doctor` says how to get it")


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0].rstrip(":.")
