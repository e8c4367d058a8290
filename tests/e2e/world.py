"""A separate checkout and sandbox, for tests that run the command like a user."""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from sandbox.kubernetes.client import KubeClient
from spec import clock

REPOSITORY: Final = Path(__file__).parents[2]
COPIED: Final = ("Pulumi.yaml", "infra", "stacks")
"""Files of a checkout that the engine reads; the packages come from the environment that runs the tests."""
BRIEF: Final = Path(__file__).with_name("brief.yaml").read_text(encoding="utf-8")
"""Stack brief: no add-on, no team, no GPU; a third of the resources of dev. Tests interrupt and kill its runs, so its
state is undefined."""
_COUNT: Final = re.compile(r"\b(\d+) (created|updated|deleted|replaced|unchanged|to \w+)")
_ERROR: Final = re.compile(r"(?:^  \S.*:\n)?^.*\berror:.*(?:\n(?: {5,}|\t).*){0,5}", re.M)
"""The line of an error, with the name of its resource before it, and up to five lines that continue it."""
_OPERATIONS: Final = ("up", "preview", "refresh", "destroy")
_UPDATED: Final = re.compile(r"^ ~ +\S+ (\S+) updated? ", re.M)
"""A line of a resource that is updated, or would be; other lines name unchanged resources."""


@dataclass(frozen=True)
class World:
    """A place to run the command in."""

    checkout: Path  # copy of the program, whose stack files a test may change
    home: Path  # sandbox home
    charts: Path | None = None  # directory of charts, if the sandbox has any
    prefix: tuple[str, ...] = ()  # prefix of each command
    more: Mapping[str, str] = field(default_factory=dict)  # more variables of the environment
    seconds: float = 900  # timeout of a command

    @classmethod
    def make(cls, directory: Path, charts: Path | None = None, prefix: tuple[str, ...] = ()) -> World:
        """Copy the necessary files of the checkout into a new directory."""
        checkout = directory / "checkout"
        checkout.mkdir()
        for name in COPIED:
            source = REPOSITORY / name
            copy = shutil.copytree if source.is_dir() else shutil.copy2
            copy(source, checkout / name)
        (checkout / "stacks" / "Pulumi.brief.yaml").write_text(BRIEF, encoding="utf-8")
        return cls(checkout, directory / "sandbox", charts, prefix)

    @cached_property
    def environment(self) -> Mapping[str, str]:
        """No credentials, and only the charts of this world.

        The state is written once, at the end of a run: writing it twice per resource takes half of the engine's time.
        Killed runs are tested with stack brief (test_runs.py).
        """
        kept = {
            key: value
            for key, value in os.environ.items()
            if key == clock.VARIABLE or not key.startswith(("AWS_", "PULUMI_", "SLIPWAY_"))
        }
        ours = {"SLIPWAY_SANDBOX_HOME": str(self.home), "PULUMI_SKIP_CHECKPOINTS": "true"}
        return kept | ours | {"SLIPWAY_CHARTS": str(self.charts or "none")} | dict(self.more)

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run `slipway` with these arguments; `stdout` has the output of both streams.

        Without a terminal the engine's rows, which tests read, are shown only with `--verbose`.
        """
        rows = ("--verbose",) if arguments[0] in _OPERATIONS else ()
        return subprocess.run(
            [*self.prefix, sys.executable, "-m", "slipway", arguments[0], *rows, *arguments[1:]],
            cwd=self.checkout,
            env=self.environment,
            text=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=self.seconds,
            check=False,
        )

    def succeed(self, *arguments: str) -> str:
        """Run `slipway`, which must succeed; returns its output."""
        done = self.run(*arguments)
        if done.returncode:
            # Last, because a log of continuous integration is cut from above.
            found = "\n".join(_ERROR.findall(done.stdout))
            pytest.fail(
                f"slipway {' '.join(arguments)} ended with {done.returncode}:\n{done.stdout}\nIts errors:\n{found}",
                pytrace=False,
            )
        return done.stdout

    def edit(self, file: str, old: str, new: str) -> None:
        """Replace a text, which must exist, in a file of the checkout."""
        path = self.checkout / file
        text = path.read_text(encoding="utf-8")
        assert old in text, f"{file} has no {old!r}"
        path.write_text(text.replace(old, new), encoding="utf-8")

    @contextmanager
    def stack(self, name: str, text: str = BRIEF) -> Iterator[str]:
        """Brief, or a change of it, under another name for the block; destroyed afterwards."""
        path = self.checkout / "stacks" / f"Pulumi.{name}.yaml"
        path.write_text(text.replace("name: brief", f"name: {name}"), encoding="utf-8")
        try:
            yield name
        finally:
            self.run("destroy", name, "--sandbox", "--yes")
            path.unlink()

    def resources(self, stack: str) -> list[dict[str, Any]]:
        """The resources in the state of a stack."""
        path = self.home / "pulumi" / ".pulumi" / "stacks" / "slipway" / f"{stack}.json"
        latest = json.loads(path.read_text(encoding="utf-8"))["checkpoint"]["latest"]
        return list(latest["resources"])

    def variables(self, stack: str) -> dict[str, str]:
        """The variables of `slipway sandbox env` for a stack, cached."""
        if stack not in self._variables:
            self._variables[stack] = json.loads(self.succeed("sandbox", "env", stack, "--json"))
        return self._variables[stack]

    @cached_property
    def _variables(self) -> dict[str, dict[str, str]]:
        return {}

    def api(self, stack: str) -> KubeClient:
        """A client of a stack's API server, without our providers, like `kubectl`."""
        config = yaml.safe_load((self.home / "kubeconfig").read_text(encoding="utf-8"))
        context = _entry(config["contexts"], f"slipway-{stack}")["context"]
        cluster = _entry(config["clusters"], context["cluster"])["cluster"]
        user = _entry(config["users"], context["user"])["user"]
        authority = base64.b64decode(cluster["certificate-authority-data"]).decode()
        return KubeClient(cluster["server"], authority, user["token"])


def some_charts(shared: Path, names: Iterable[str], into: Path) -> Path:
    """A folder with these of the charts that have templates; skips the test where there are none."""
    whole = shared / "charts-full"
    if not whole.is_dir():
        pytest.skip(f"{whole} has no charts with templates: this test installs some of them")
    into.mkdir()
    for name in names:
        (into / name).symlink_to(whole / name)
    return into


def _entry(entries: list[dict[str, Any]], name: str) -> dict[str, Any]:
    return next(entry for entry in entries if entry["name"] == name)


def counts(output: str) -> dict[str, int]:
    """The engine's last summary: how many resources were created, updated, unchanged and so on."""
    # Slipway's own summary, which follows after an empty line, has such words too.
    summary = output[output.rindex("Resources:\n") :].partition("\n\n")[0]
    return {what: int(number) for number, what in _COUNT.findall(summary)}


def updated(output: str) -> set[str]:
    """Names of the resources that a run updated, or would update."""
    return set(_UPDATED.findall(output))
