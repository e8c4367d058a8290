"""Runs the commands of a quickstart's page as a member of the team would: kubectl with a kubeconfig of theirs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from slipway.sandbox.kubernetes.client import KubeClient
from slipway.sandbox.kubernetes.objects import Ref
from tests.e2e.world import World
from tests.slipway.quickstarts.pages import STACK, Page

KUEUE: Final = "system:serviceaccount:kueue-system:kueue-controller-manager"
SECONDS: Final = 90.0


def commands(page: Page) -> list[str]:
    """The blocks of commands in the section "Run it", each a script, character by character."""
    section = page.path.read_text(encoding="utf-8").partition("## Run it\n")[2].partition("\n## ")[0]
    blocks = re.findall(r"(?:^    .*\n)+", section, re.M)
    return ["".join(line[4:] + "\n" for line in block.splitlines()) for block in blocks]


def yaml_of(page: Page) -> str:
    """The block of YAML on the page."""
    (found,) = re.findall(r"```yaml\n(.*?)```", page.path.read_text(encoding="utf-8"), re.S)
    return str(found)


@dataclass(frozen=True)
class Member:
    """A member of a team with the role `edit`, at a shell of the sandbox."""

    world: World
    directory: Path
    team: str

    def shell(self, script: str) -> str:
        """Run a script of a page; its output."""
        self.directory.mkdir(exist_ok=True)
        config = self._kubeconfig()
        ours = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "KUBECONFIG": str(config)}
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script],
            cwd=self.directory,
            env={**self.world.environment, **self.world.variables(STACK), **ours},
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, f"{script}\nended with {done.returncode}:\n{done.stdout}"
        return done.stdout

    def _kubeconfig(self) -> Path:
        """The sandbox's kubeconfig, in which the administrator acts as the member: access entries sign no one in."""
        document = yaml.safe_load((self.world.home / "kubeconfig").read_text(encoding="utf-8"))
        groups = [f"slipway:{self.team}:edit", "system:authenticated"]
        for entry in document["users"]:
            entry["user"] |= {"as": f"ml-{self.team}", "as-groups": groups}
        path = self.directory / "kubeconfig"
        path.write_text(yaml.safe_dump(document), encoding="utf-8")
        return path


def start(world: World, namespace: str, job: str) -> None:
    """What Kueue does when it admits a Job: nobody else may, and no Kueue runs in this world."""
    kubectl = ["kubectl", "--kubeconfig", str(world.home / "kubeconfig"), "--context", f"slipway-{STACK}"]
    identity = ["--as", KUEUE, "--as-group", "system:masters"]
    patch = ["patch", "job", job, "-n", namespace, "--type", "merge", "-p", '{"spec":{"suspend":false}}']
    subprocess.run([*kubectl, *identity, *patch], check=True, capture_output=True, timeout=60)


def pods_until_done(client: KubeClient, namespace: str, job: str) -> list[dict[str, Any]]:
    """The pods of a Job when it is complete."""
    end = time.monotonic() + SECONDS
    kind = client.discovery.find("v1", "Pod")
    while True:
        found = client.get(Ref("batch/v1", "Job", job, namespace))
        assert found is not None
        pods = list(client.list(kind, namespace, f"batch.kubernetes.io/job-name={job}"))
        conditions = {one["type"] for one in found["status"].get("conditions", ()) if one["status"] == "True"}
        if "Complete" in conditions:
            return pods
        states = [(pod["metadata"]["name"], pod["status"]) for pod in pods]
        assert time.monotonic() < end, f"{job} is not complete after {SECONDS} s: {conditions}, {states}"
        time.sleep(0.5)
