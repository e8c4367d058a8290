"""NVIDIA's device plugin, run on the configurations of every GPU, MIG layout and sharing of the catalog.

Its answers are recorded in `device_plugin.yaml`, which a test compares with `PoolSpec`; another runs the plugin
(docs/adr/0150-gpus-by-nvidias-code.md). `python -m tests.components.addons.test_device_plugin` records them anew.
"""

import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from components.addons.gpu_operator import EXCLUSIVE, config_map, configurations
from sandbox.toolchain.obtain import ensure
from sandbox.toolchain.tools import get
from spec import strict_yaml
from spec.catalog import gpus, instances, mig
from spec.pools import PoolSpec, keys, resolve_all
from tests.components.pools.samples import platform
from tests.support.mocks import REGION

RECORDED: Final = Path(__file__).with_name("device_plugin.yaml")
SHARING: Final = {"own": None, "sliced": ("time-slicing", 4), "mps": ("mps", 3)}
BASE: Final = {"preset": "gpu-spot", "localNvme": "none", "capacity": {"market": "on-demand"}, "max": 1, "maxPods": 30}
OWN: Final = {"A100-40GB": {"3g.20gb": 1, "1g.5gb": 3, "1g.5gb+me": 1}, "H100-80GB": {"1g.10gb+me": 1, "1g.20gb": 3}}
"""Layouts that mig-parted has no name for, among them instances with media engines."""


def _settings() -> dict[str, dict[str, Any]]:
    """Pools by name: each GPU on its smallest machine, in each layout, shared in each way that the checks accept."""
    found = {}
    for gpu in sorted(gpus.GPUS):
        kinds = [kind for kind in instances.ALL.values() if kind.gpu_name == gpu and kind.offered_in(REGION)]
        smallest = min(kinds, key=lambda kind: (kind.gpus, kind.vcpus, kind.name))
        layouts: dict[str, dict[str, Any]] = {"whole": {}}
        if mig.is_capable(gpu):
            layouts |= {name: {"mig": {"layout": name}} for name in mig.layout_names(gpu)}
        if gpu in OWN:
            layouts["own-layout"] = {"mig": {"profiles": OWN[gpu]}}
        for layout, partition in layouts.items():
            for label, shared in SHARING.items():
                if shared and shared[0] == "mps" and layout not in {"whole", mig.DISABLED}:
                    continue  # refused: spec/settings/checks/gpus.py, sharing_fits
                sharing = {"sharing": {"mode": shared[0], "replicas": shared[1]}} if shared else {}
                name = "-".join([gpu, layout, label]).lower().replace(".", "")
                found[name] = {**BASE, "instanceTypes": [smallest.name], **partition, **sharing}
    return found


def pools() -> dict[str, PoolSpec]:
    """All of them in one stack, whose nodes therefore share the documents of the ConfigMap."""
    return {name: spec for name, spec in resolve_all(platform(_settings())).items() if spec.gpu}


def _nodes(specs: dict[str, PoolSpec]) -> dict[str, dict[str, Any]]:
    """What the plugin is asked, by pool: the node's GPUs, and the document that its label chooses."""
    documents = config_map("device-plugin", EXCLUSIVE, configurations(specs.values()))["data"]
    found = {}
    for name, spec in specs.items():
        assert spec.gpu is not None
        layout = spec.mig.profiles if spec.mig else {}
        placed = mig.placements(spec.gpu.name, layout) if layout else ()
        found[name] = {
            "count": spec.gpu_count,
            "memoryMiB": spec.gpu.memory_mib,
            "mig": spec.gpu.mig_capable,
            "instances": [{"profile": profile, "start": start} for profile, start in placed],
            "config": documents[spec.labels.get(keys.DEVICE_PLUGIN_CONFIG, EXCLUSIVE)],
        }
    return found


def real() -> dict[str, dict[str, Any]]:
    """The same of an H100 that the machine has, whose NVML is asked instead of the mock."""
    return {
        name: {"real": True, "config": node["config"]}
        for name, node in _nodes(pools()).items()
        if name.startswith("h100-80gb-whole-")
    }


def _ask(nodes: dict[str, dict[str, Any]]) -> dict[str, Any]:
    if sys.platform != "linux" or not (shutil.which("gcc") or shutil.which("clang")):
        pytest.skip("NVIDIA's device plugin needs Linux and a C compiler")
    found = subprocess.run(
        [ensure("device-plugin")], input=json.dumps(nodes), capture_output=True, text=True, check=False, timeout=120
    )
    if "namespace" in found.stderr and found.returncode:
        pytest.skip(f"NVIDIA's device plugin needs namespaces of its own: {found.stderr.strip().splitlines()[-1]}")
    assert found.returncode == 0, found.stderr
    answers: dict[str, Any] = json.loads(found.stdout)
    return answers


def _digest(nodes: dict[str, dict[str, Any]]) -> str:
    return hashlib.sha256(json.dumps(nodes, sort_keys=True).encode()).hexdigest()


@pytest.fixture(scope="module")
def specs() -> dict[str, PoolSpec]:
    return pools()


@pytest.fixture(scope="module")
def recorded() -> dict[str, Any]:
    found: dict[str, Any] = strict_yaml.read(RECORDED.read_text(encoding="utf-8"))
    return found


def test_the_plugin_advertises_what_a_pool_promises(specs: dict[str, PoolSpec], recorded: dict[str, Any]) -> None:
    assert recorded["plugin"] == get("device-plugin").version
    assert recorded["asked"] == _digest(_nodes(specs)), f"{RECORDED.name} is out of date: python -m {__spec__.name}"
    answers = recorded["answers"]
    assert {name: answer["resources"] for name, answer in answers.items()} == {
        name: {resource: count for resource, count in spec.resources.items() if resource != keys.EFA}
        for name, spec in specs.items()
    }


def test_a_container_gets_one_share_or_as_many_devices_as_it_requests(
    specs: dict[str, PoolSpec], recorded: dict[str, Any]
) -> None:
    """Two shares may be of one GPU, so that the plugin refuses a request for two."""
    for name, spec in specs.items():
        for resource, granted in recorded["answers"][name]["granted"].items():
            assert granted == (1 if spec.sharing else min(2, spec.resources[resource])), name


def test_the_plugin_still_answers_as_recorded(specs: dict[str, PoolSpec], recorded: dict[str, Any]) -> None:
    assert _ask(_nodes(specs)) == recorded["answers"]


MIG_3G: Final = "nvidia.com/mig-3g.20gb"
WRONG: Final[dict[str, tuple[dict[str, Any], str]]] = {
    "instances that overlap": ({"instances": [("3g.20gb", 0), ("2g.10gb", 2)]}, "memory slice 2 is of"),
    "a profile that the card lacks": ({"instances": [("1g.10gb+me", 0)]}, "no profile 1g.10gb+me"),
    "a second set of media engines": ({"instances": [("1g.5gb+me", 0), ("1g.5gb+me", 1)]}, "at most 1 of"),
    "a start that the card lacks": ({"instances": [("3g.20gb", 2)]}, "does not start at memory slice 2"),
    "MPS on instances": (
        {"instances": [("3g.20gb", 0)], "sharing": {"mps": {"resources": [{"name": MIG_3G, "replicas": 2}]}}},
        "not supported for MIG",
    ),
    "a version of the configuration that it doesn't read": ({"version": "v2"}, "unknown version: v2"),
    "one replica": (
        {"sharing": {"timeSlicing": {"resources": [{"name": "nvidia.com/gpu", "replicas": 1}]}}},
        "number of replicas must be >= 2",
    ),
}


def test_the_plugin_refuses_what_is_wrong() -> None:
    """Otherwise its answers would prove nothing."""
    nodes = {}
    for name, (change, _) in WRONG.items():
        placed = change.get("instances", [])
        document = {"version": "v1", "flags": {"migStrategy": "mixed"}, **change}
        document.pop("instances", None)
        nodes[name] = {
            "count": 1,
            "memoryMiB": 40960,
            "mig": True,
            "instances": [{"profile": profile, "start": start} for profile, start in placed],
            "config": yaml.safe_dump(document),
        }
    answers = _ask(nodes)
    for name, (_, expected) in WRONG.items():
        assert expected in answers[name].get("error", ""), (name, answers[name])


def _record() -> None:
    nodes = _nodes(pools())
    lines = [
        "# What NVIDIA's device plugin answers for each pool of test_device_plugin.py, which records this file.",
        f"plugin: {get('device-plugin').version}",
        f"asked: {_digest(nodes)}",
        "answers:",
        *(f"  {name}: {json.dumps(answer)}" for name, answer in sorted(_ask(nodes).items())),
    ]
    RECORDED.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    print(json.dumps(real())) if "--real" in sys.argv else _record()
