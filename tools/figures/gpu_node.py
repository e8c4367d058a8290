"""What a machine with an NVIDIA GPU answers to the programs of a node: `mig.sh`, and NVIDIA's device plugin.

`python -m tools.figures.gpu_node FOLDER [PLUGIN NODES]`, on such a machine, with nvidia-ml-py. It only reads: `mig.sh`
finds an `nvidia-smi` that refuses what changes a setting, and a `systemctl` that does nothing. PLUGIN is the program of
sandbox/toolchain/go/device-plugin, NODES what it is asked (`python -m tests.components.addons.test_device_plugin
--real`).
"""

from __future__ import annotations

import ctypes
import importlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

MIG: Final = Path(__file__).resolve().parents[2] / "components/pools/mig.sh"
QUERIES: Final = ("index", "mig.mode.current", "mig.mode.pending")
"""What `mig.sh` asks of nvidia-smi, beside its list of GPUs and instances."""
_GUARD: Final = """#!/bin/sh
echo "nvidia-smi $*" >>CALLS
case "$1" in -L | --query-gpu=*) exec REAL "$@" ;; esac
echo "refused: it changes a setting" >&2
exit 1
"""
_NOTHING: Final = """#!/bin/sh
echo "systemctl $*" >>CALLS
exit 1
"""


def main(folder: Path, plugin: tuple[str, str] | None) -> int:
    """Write `gpu_node.json` into a folder; the exit code."""
    found = {"date": time.strftime("%Y-%m-%d"), "nvidia-smi": _asked(), "nvml": _nvml(), "mig.sh": _script(folder)}
    if plugin:
        found["device plugin"] = _ran([plugin[0]], Path(plugin[1]).read_text(encoding="utf-8"))
    (folder / "gpu_node.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(found))
    return 0


def _ran(command: list[str], given: str = "", **environment: str) -> dict[str, Any]:
    done = subprocess.run(
        command, input=given, env={**os.environ, **environment}, capture_output=True, text=True, check=False, timeout=90
    )
    return {"exit": done.returncode, "output": done.stdout.strip(), "error": done.stderr.strip()}


def _asked() -> dict[str, str]:
    queries = {name: ["nvidia-smi", f"--query-gpu={name}", "--format=csv,noheader"] for name in QUERIES}
    return {name: _ran(command)["output"] for name, command in (queries | {"-L": ["nvidia-smi", "-L"]}).items()}


def _script(folder: Path) -> dict[str, Any]:
    """`mig.sh` for a pool of whole GPUs, which changes nothing where MIG is disabled."""
    real = shutil.which("nvidia-smi") or "nvidia-smi"
    tools, calls = folder / "guard", folder / "calls"
    tools.mkdir(exist_ok=True)
    for name, text in {"nvidia-smi": _GUARD, "systemctl": _NOTHING}.items():
        (tools / name).write_text(text.replace("CALLS", str(calls)).replace("REAL", real), encoding="utf-8")
        (tools / name).chmod(0o755)
    count = len(_asked()["index"].splitlines())
    calls.write_text("", encoding="utf-8")
    environment = {
        "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
        "SLIPWAY_MIG_STATE": str(folder / "kept"),
        "SLIPWAY_MIG_SECONDS": "0",
    }
    ran = _ran(["bash", str(MIG), str(count), "none"], **environment)
    return {**ran, "calls": calls.read_text(encoding="utf-8").splitlines()}


def _nvml() -> dict[str, Any]:
    nvml: Any = importlib.import_module("pynvml")
    nvml.nvmlInit()
    gpus = []
    for index in range(nvml.nvmlDeviceGetCount()):
        gpu = nvml.nvmlDeviceGetHandleByIndex(index)
        memory = nvml.nvmlDeviceGetMemoryInfo(gpu)
        pci = nvml.nvmlDeviceGetPciInfo(gpu)
        gpus.append(
            {
                "name": nvml.nvmlDeviceGetName(gpu),
                "pci": f"0x{pci.pciDeviceId:08X}",
                "memory": memory.total,
                "used": memory.used,
                "profiles": list(_profiles(nvml, gpu)),
            }
        )
    return {"driver": nvml.nvmlSystemGetDriverVersion(), "gpus": gpus}


def _profiles(nvml: Any, gpu: Any) -> Iterator[dict[str, Any]]:
    """GPU instances that the card can have, and where they can start; an error where the driver doesn't say."""
    for number in range(nvml.NVML_GPU_INSTANCE_PROFILE_COUNT):
        try:
            info = nvml.nvmlDeviceGetGpuInstanceProfileInfo(gpu, number)
        except nvml.NVMLError as error:
            if error.value not in (nvml.NVML_ERROR_NOT_SUPPORTED, nvml.NVML_ERROR_INVALID_ARGUMENT):
                yield {"profile": number, "error": str(error)}
            continue
        found = {"profile": number, "name": _text(info.name), "memoryMiB": info.memorySizeMB, "max": info.instanceCount}
        try:
            count = ctypes.c_uint(0)
            nvml.nvmlDeviceGetGpuInstancePossiblePlacements(gpu, info.id, None, ctypes.byref(count))
            places = (nvml.c_nvmlGpuInstancePlacement_t * count.value)()
            nvml.nvmlDeviceGetGpuInstancePossiblePlacements(gpu, info.id, places, ctypes.byref(count))
            found |= {"starts": [place.start for place in places], "slices": sorted({place.size for place in places})}
        except nvml.NVMLError as error:
            found["error"] = str(error)
        yield found


def _text(name: Any) -> str:
    return name.decode() if isinstance(name, bytes) else str(name)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), (sys.argv[2], sys.argv[3]) if len(sys.argv) > 3 else None))
