"""Runs the commands of a quickstart's page as a member of the team would: kubectl with a kubeconfig of theirs."""

import os
import re
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from sandbox.kubernetes.client import KubeClient
from sandbox.kubernetes.objects import Ref
from tests.e2e.world import World
from tests.sandbox.plane import existing
from tests.slipway.quickstarts.pages import STACK, Page
from tests.support.patience import SECONDS

DONE: Final = {"Job": "Complete", "TrainJob": "Complete", "InferenceService": "Ready"}
"""The condition in which a workload of each kind ends, or serves."""


def commands(page: Page) -> list[str]:
    """The blocks of commands in the section "Run it", each a script, character by character."""
    section = page.path.read_text(encoding="utf-8").partition("## Run it\n")[2].partition("\n## ")[0]
    return re.findall(r"^```bash\n(.*?)^```", section, re.M | re.S)


def removal(page: Page) -> list[str]:
    """The commands that remove what the YAML of the page made."""
    ended = page.path.read_text(encoding="utf-8").partition("\n## How long it runs\n")[0]
    return re.findall(r"^(kubectl .* delete .*)$", ended, re.M)


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
            timeout=SECONDS,
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


def ref(manifest: Mapping[str, Any]) -> Ref:
    """The object of a manifest."""
    metadata = manifest["metadata"]
    return Ref(manifest["apiVersion"], manifest["kind"], metadata["name"], metadata["namespace"])


def conditions(found: Mapping[str, Any]) -> set[str]:
    """The conditions of an object that are true."""
    listed = (found.get("status") or {}).get("conditions") or ()
    return {one["type"] for one in listed if one["status"] == "True"}


def finish(client: KubeClient, manifest: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Wait until a workload is complete, or serves; its pods."""
    end, wanted = time.monotonic() + SECONDS, DONE[manifest["kind"]]
    name, namespace = manifest["metadata"]["name"], manifest["metadata"]["namespace"]
    kind = client.discovery.find("v1", "Pod")
    while True:
        found = existing(client, ref(manifest))
        pods = [one for one in client.list(kind, namespace) if one["metadata"]["name"].startswith(f"{name}-")]
        if wanted in conditions(found):
            return pods
        states = [(pod["metadata"]["name"], pod["status"]) for pod in pods]
        assert time.monotonic() < end, f"{name} is not {wanted} after {SECONDS} s: {found.get('status')}, {states}"
        time.sleep(0.5)


def running(client: KubeClient, job: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Wait until pods of a Job run; those that do."""
    end, kind = time.monotonic() + SECONDS, client.discovery.find("v1", "Pod")
    name, namespace = job["metadata"]["name"], job["metadata"]["namespace"]
    while True:
        pods = list(client.list(kind, namespace, selector=f"job-name={name}"))
        if found := [pod for pod in pods if (pod.get("status") or {}).get("phase") == "Running"]:
            return found
        assert time.monotonic() < end, f"no pod of {name} runs after {SECONDS} s: {[pod['status'] for pod in pods]}"
        time.sleep(0.5)


def gone(client: KubeClient, *refs: Ref) -> None:
    """Wait until none of these objects exists."""
    end = time.monotonic() + SECONDS
    while found := [str(each) for each in refs if client.get(each) is not None]:
        assert time.monotonic() < end, f"still there after {SECONDS} s: {', '.join(found)}"
        time.sleep(1)


def queued(client: KubeClient, manifest: Mapping[str, Any]) -> set[str]:
    """The conditions of the Workload that Kueue made for an object or its pods."""
    name = manifest["metadata"]["name"]
    kind = client.discovery.find("kueue.x-k8s.io/v1beta2", "Workload")
    (found,) = [
        one
        for one in client.list(kind, manifest["metadata"]["namespace"])
        if any(owner["name"].startswith(name) for owner in one["metadata"]["ownerReferences"])
    ]
    return conditions(found)
