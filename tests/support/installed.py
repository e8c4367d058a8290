"""Slipway as a wheel in a clean environment: outside of the clone, with what a part declares and nothing else."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Final

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from spec import clock
from tests.support.patience import SECONDS

ROOT: Final = Path(__file__).resolve().parents[2]
SHIPPED: Final = ("spec", "infra", "components", "policies", "sandbox", "slipway")
UV: Final = str(Path(sys.executable).parent / "uv")


def build(folder: Path) -> Path:
    """The wheel of this tree, built by its backend in a copy: setuptools writes into the tree that it builds."""
    source = folder / "source"
    for name in SHIPPED:
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source / name)
    command = [UV, "build", "--wheel", "--offline", "--no-build-isolation", "--python", sys.executable]
    subprocess.run([*command, "--out-dir", str(folder), str(source)], check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


@dataclass(frozen=True)
class Installed:
    """An environment with the wheel."""

    environment: Path  # its folder
    folder: Path  # where commands run: an empty folder

    @classmethod
    def make(cls, wheel: Path, folder: Path, *extras: str) -> "Installed":
        """Install the wheel, and link what it and these extras require from the environment of the tests."""
        environment, empty = folder / "environment", folder / "empty"
        empty.mkdir(parents=True)
        offline = [UV, "--offline", "--no-config", "--quiet"]
        subprocess.run([*offline, "venv", "--python", sys.executable, str(environment)], check=True)
        python = environment / "bin" / "python"
        install = [*offline, "pip", "install", "--no-index", "--no-deps", "--python", str(python), str(wheel)]
        subprocess.run(install, check=True)
        (site,) = environment.glob("lib/python*/site-packages")
        (slipway,) = metadata.distributions(name="slipway", path=[str(site)])
        for name in _closure(slipway.requires or (), extras):
            for top in {path.parts[0] for path in metadata.distribution(name).files or () if path.parts[0] != ".."}:
                if not (site / top).exists():
                    (site / top).symlink_to(Path(str(metadata.distribution(name).locate_file(top))).resolve())
        return cls(environment, empty)

    def run(self, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """A command of the environment, without variables that lead to the clone."""
        kept = {
            name: value
            for name, value in os.environ.items()
            if name == clock.VARIABLE or not name.startswith(("PYTHON", "SLIPWAY_", "AWS_", "PULUMI_", "KUBECONFIG"))
        }
        kept |= {"HOME": str(self.folder), "XDG_CACHE_HOME": str(Path.home() / ".cache"), **variables}
        return subprocess.run(
            [str(self.environment / "bin" / words[0]), *words[1:]], cwd=self.folder, env=kept, text=True,
            stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, check=False,
        )  # fmt: skip


def _closure(requirements: Iterable[str], extras: Iterable[str]) -> set[str]:
    """The distributions that requirements with extras need, and those that these need."""
    wanted = set(_direct(requirements, ("", *extras)))
    found: set[tuple[str, str]] = set()
    while new := wanted - found:
        found |= new
        for name, extra in new:
            wanted |= set(_direct(metadata.distribution(name).requires or (), (extra,)))
    return {name for name, _ in found}


def _direct(requirements: Iterable[str], extras: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The names of requirements that hold here, each with an empty extra and those that it asks for."""
    for text in requirements:
        one = Requirement(text)
        if any(one.marker is None or one.marker.evaluate({"extra": extra}) for extra in extras):
            yield from ((canonicalize_name(one.name), extra) for extra in ("", *one.extras))
