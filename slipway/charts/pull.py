"""Downloads published charts with `helm pull`, one folder per chart; needs network access."""

import hashlib
import re
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sandbox.kubernetes.helm.chart import SOURCE_FILE
from spec.catalog.software import CHARTS, ChartRef

SECONDS: Final = 120
"""Timeout of a download. The largest chart, kube-prometheus-stack, has 1 MB packed; a mirror may be slow."""
_DIGEST: Final = re.compile(r"^chart_digest: *(sha256:[0-9a-f]{64})$", re.MULTILINE)
TIMED_OUT: Final = "no response within"


@dataclass(frozen=True, kw_only=True)
class Pulled:
    """The result for one chart; `problem` is empty if the download succeeded, and `digest` if it did not."""

    chart: ChartRef
    folder: Path
    problem: str = ""
    digest: str = ""


def pinned() -> tuple[ChartRef, ...]:
    """Every pinned chart of the platform, by name."""
    return tuple(CHARTS[name] for name in sorted(CHARTS))


def pull(helm: Path, charts: Iterable[ChartRef], directory: Path) -> list[Pulled]:
    """Download charts, each into a folder of its name, which is replaced; a failed download keeps the old folder."""
    directory.mkdir(parents=True, exist_ok=True)
    return [download(helm, chart, directory / chart.name) for chart in charts]


def arguments(chart: ChartRef, into: Path) -> list[str]:
    """The arguments of `helm pull`."""
    place = [] if chart.in_registry else ["--repo", chart.repository]
    return ["pull", chart.chart, *place, "--version", chart.version, "--destination", str(into)]


def download(helm: Path, chart: ChartRef, folder: Path) -> Pulled:
    """Download one chart into a folder, which is replaced if that succeeds, and its digest is the pinned one."""
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".pull-") as place:
        problem, digest = _run([str(helm), *arguments(chart, Path(place))]), ""
        if not problem:
            try:
                digest = _unpack(chart, Path(place), folder)
            except (OSError, tarfile.TarError, ValueError) as error:
                problem = str(error)
    return Pulled(chart=chart, folder=folder, problem=problem, digest=digest)


def stated_digest(folder: Path) -> str:
    """The digest that a folder of a chart had when it was packed; empty if nobody knows."""
    file = folder / SOURCE_FILE
    found = _DIGEST.search(file.read_text(encoding="utf-8")) if file.is_file() else None
    return found[1] if found else ""


def locked(text: str, pulled: Iterable[Pulled]) -> str:
    """The text of the file of software with the digests of downloaded charts in rows that have none: on first use.

    A row with a digest is left alone: its download had that one, or failed.
    """
    for one in pulled:
        if one.digest and not one.chart.digest:
            row = re.compile(rf"^({re.escape(one.chart.name)}:\n(?: .*\n)*?  version: .*\n)", re.MULTILINE)
            text = row.sub(rf"\g<1>  digest: {one.digest}\n", text)
    return text


def _unpack(chart: ChartRef, place: Path, folder: Path) -> str:
    (archive,) = place.glob("*.tgz")
    digest = f"sha256:{hashlib.sha256(archive.read_bytes()).hexdigest()}"
    if chart.digest and digest != chart.digest:
        msg = (
            f"its digest is {digest}, and {chart.digest} is pinned in spec/catalog/data/software.yaml: the version was "
            "published again, or this is another chart. Compare it with the former one before you pin the new digest"
        )
        raise ValueError(msg)
    with tarfile.open(archive) as files:
        files.extractall(place, filter="data")  # nothing outside the folder, no links that leave it
    fresh = place / chart.name
    if not (fresh / "Chart.yaml").is_file():
        msg = f"the archive has no {chart.name}/Chart.yaml"
        raise ValueError(msg)
    location = chart.chart if chart.in_registry else chart.repository
    source = f"chart_location: {location}\nchart_version: {chart.version}\nchart_digest: {digest}\n"
    (fresh / SOURCE_FILE).write_text(source, encoding="utf-8")
    shutil.rmtree(folder, ignore_errors=True)
    fresh.rename(folder)
    return digest


def _run(argv: list[str]) -> str:
    """The last line of helm's error output; empty if it succeeded."""
    try:
        done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return f"{TIMED_OUT} {SECONDS} s"
    if done.returncode == 0:
        return ""
    lines = [line for line in done.stderr.strip().splitlines() if line]
    return lines[-1] if lines else f"helm exited with code {done.returncode}"
