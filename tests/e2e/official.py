"""Pulumi's own Python language host and Kubernetes provider, and a checkout that runs with them."""

import hashlib
import io
import lzma
import os
import shutil
import sys
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import yaml

from sandbox import official
from sandbox.errors import SandboxError
from sandbox.kubernetes.helm.chart import Charts
from sandbox.language.shims import LANGUAGE_HOST
from tests.e2e.world import World

EXEC: Final = f"{LANGUAGE_HOST}-exec"
SECONDS: Final = 900.0
"""Of one command; `up` of prod takes 90 s on two free cores (2026-11)."""
_STUB_VALUES: Final[Mapping[str, Any]] = {
    # The parent's templates read these keys of the subchart's own values.
    name: {"kubeRBACProxy": {"enabled": False}}
    for name in ("kube-state-metrics", "prometheus-node-exporter")
}
_ENTRY: Final = "def _declare()"


@dataclass(frozen=True)
class Parts:
    """Where the official parts are: the folder of the language host, and the provider's executable."""

    host: Path
    provider: Path


def find(shared: Path | None, cache: Path) -> Parts | None:
    """The parts among the shared samples, else those of the user's Pulumi; None if one of them is missing."""
    samples = shared / "official" if shared else None
    if samples and samples.is_dir():
        return _unpacked(samples, cache)
    host = shutil.which(LANGUAGE_HOST)
    try:
        provider = official.find(official.OFFICIAL)
    except SandboxError:
        return None
    return Parts(Path(host).parent, provider) if host else None


def default_cache() -> Path:
    """Outside the tree, beside the toolchain's."""
    base = (
        os.environ.get("SLIPWAY_CACHE") or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "slipway"
    )
    return Path(base) / "official"


def _unpacked(samples: Path, cache: Path) -> Parts:
    """The packed executables, unpacked once for each version; raises AssertionError if one is not what its sum says."""
    lines = (samples / "SHA256SUMS").read_text(encoding="ascii").split("\n")
    sums = {name: digest for digest, name in (line.split() for line in lines if line)}
    folder = cache / hashlib.sha256(repr(sorted(sums.items())).encode()).hexdigest()[:16]
    # In folders of their own: a provider on PATH would come before the one that the engine is given.
    parts = Parts(folder / "host", folder / "provider" / official.EXECUTABLE)
    for executable in (parts.host / LANGUAGE_HOST, parts.provider):
        if not executable.exists():
            packed = samples / f"{executable.name}.xz"
            content = packed.read_bytes()
            assert hashlib.sha256(content).hexdigest() == sums[packed.name], f"{packed} is not what SHA256SUMS says"
            _write(executable, lzma.decompress(content))
    _write(parts.host / EXEC, (samples / EXEC).read_bytes())
    return parts


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    draft.write_bytes(content)
    draft.chmod(0o755)
    draft.replace(path)


def charts(samples: Path, into: Path) -> Path:
    """A directory of charts as `slipway charts pull` writes it, of links to samples.

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


def make(directory: Path, parts: Parts, chart_samples: Path) -> World:
    """A checkout whose sandbox runs with the official parts, and whose stacks take their charts from a directory."""
    plain = World.make(directory)
    path = os.pathsep.join([str(parts.host), os.environ.get("PATH", os.defpath)])
    world = replace(plain, more={"PATH": path, official.VARIABLE: str(parts.provider)}, seconds=SECONDS)
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
