"""Pulumi's own Kubernetes provider, and a checkout that runs with it; with its language host, where that is on PATH."""

import io
import shutil
import sys
import tarfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import yaml

from sandbox import official, toolchain
from sandbox.errors import SandboxError
from sandbox.kubernetes.helm.chart import Charts
from tests.e2e.world import World

SECONDS: Final = 900.0
"""Of one command; `up` of prod takes 90 s on two free cores (2026-11)."""
_STUB_VALUES: Final[Mapping[str, Any]] = {
    # The parent's templates read these keys of the subchart's own values.
    name: {"kubeRBACProxy": {"enabled": False}}
    for name in ("kube-state-metrics", "prometheus-node-exporter")
}
_ENTRY: Final = "def _declare()"


def find() -> Path | None:
    """The provider: as built from its Go module, else that of the user's Pulumi; None if there is neither."""
    try:
        return toolchain.find("pulumi-kubernetes") or official.find(official.OFFICIAL)
    except SandboxError:
        return None


def charts(samples: Path, into: Path) -> Path:
    """A directory of charts as `slipway catalog pull` writes it, of links to samples.

    Samples from source trees get the version in their SOURCE.txt, as a published chart has it.

    Samples without all subcharts get an empty one for each: Helm refuses a chart that lacks a dependency, even one that
    is switched off. It is packed, because ours looks for values in unpacked ones.
    """
    for sample in sorted(path.parent for path in samples.glob("*/Chart.yaml")):
        metadata = yaml.safe_load((sample / "Chart.yaml").read_text(encoding="utf-8"))
        chart = into / metadata["name"]
        _link_all(sample, chart, "charts", "Chart.yaml")
        _link_all(sample / "charts", chart / "charts")
        known = Charts(None).find(str(sample.absolute()))
        assert known is not None
        metadata["version"] = known.version
        (chart / "Chart.yaml").write_text(yaml.safe_dump(metadata), encoding="utf-8")
        for one in metadata.get("dependencies") or ():
            if not (sample / "charts" / one["name"]).is_dir():
                _pack_stub(chart / "charts", one["name"], one["version"].replace("*", "0"))
    return into


def _link_all(source: Path, target: Path, *without: str) -> None:
    target.mkdir()
    for path in source.iterdir() if source.is_dir() else ():
        if path.name not in without:
            (target / path.name).symlink_to(path)


def _pack_stub(folder: Path, name: str, version: str) -> None:
    metadata = {"apiVersion": "v2", "name": name, "version": version}
    with tarfile.open(folder / f"{name}-{version}.tgz", "w:gz") as archive:
        for file, content in (("Chart.yaml", metadata), ("values.yaml", _STUB_VALUES.get(name, {}))):
            text = yaml.safe_dump(content).encode()
            member = tarfile.TarInfo(f"{name}/{file}")
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text))


def make(directory: Path, provider: Path, chart_samples: Path) -> World:
    """A checkout whose sandbox runs with the official provider, and whose stacks take their charts from a directory."""
    plain = World.make(directory)
    world = replace(plain, more={official.VARIABLE: str(provider)}, seconds=SECONDS)
    (directory / "charts").mkdir()
    found = charts(chart_samples, directory / "charts")
    for stack in ("dev", "prod"):
        world.edit(
            f"stacks/Pulumi.{stack}.yaml", "\n    teams:\n", f"\n    charts: {{directory: {found}}}\n    teams:\n"
        )
    # So that it can be destroyed.
    world.edit("stacks/Pulumi.prod.yaml", "protect: true", "protect: false")
    world.edit("stacks/Pulumi.prod.yaml", "deletionProtection: true", "deletionProtection: false")
    # The official host runs the environment that Pulumi.yaml names.
    (world.checkout / ".venv").symlink_to(sys.prefix)
    shutil.copy2(Path(__file__).with_name("changes.py"), world.checkout / "infra" / "changes.py")
    world.edit("infra/__main__.py", _ENTRY, f"import changes  # noqa: F401\n\n{_ENTRY}")
    return world
