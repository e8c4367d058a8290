"""A machine for `components/pools/mig.sh`: `nvidia-smi` and `systemctl` that remember what they were asked.

Their outputs and exit statuses are NVIDIA's (MIG User Guide, "Getting Started with MIG", R580): a command that changes
the mode succeeds with a warning where a reset or a reboot has to follow, and destroying nothing fails.
"""

import json
import os
import subprocess
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from components.pools import user_data
from tests.support.patience import SECONDS

SCRIPT: Final = Path(user_data.__file__).parent / "mig.sh"
_STUB: Final = """#!PYTHON -IS
import json, pathlib, sys
home = pathlib.Path(__file__).parent
state = json.loads((home / "state.json").read_text())
args = sys.argv[1:]


def done(text="", code=0):
    (home / "state.json").write_text(json.dumps(state))
    if text:
        print(text)
    sys.exit(code)


def called():
    state["calls"].append(" ".join([pathlib.Path(__file__).name, *args]))


if pathlib.Path(__file__).name == "systemctl":
    called()
    done(code=0 if args[0] != "list-unit-files" or state["cdi"] else 1)
if args[0].startswith("--query-gpu="):
    state["asked"] += 1
    if state["asked"] <= state["loads_after"]:
        done("NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.", 9)
    name = args[0].partition("=")[2]
    values = {"index": range(state["gpus"]), "mig.mode.current": state["current"], "mig.mode.pending": state["pending"]}
    done("\\n".join(str(value) for value in values[name]))
if args == ["-L"]:
    lines = []
    for gpu in range(state["gpus"]):
        lines.append(f"GPU {gpu}: NVIDIA A100-SXM4-40GB (UUID: GPU-{gpu})")
        for device, profile in enumerate(profile for at, profile in state["instances"] if at == gpu):
            lines.append(f"  MIG {profile:<12} Device {device:>2}: (UUID: MIG-{gpu}-{device})")
    done("\\n".join(lines))
called()
if args[0] == "-mig":
    mode = "Enabled" if args[1] == "1" else "Disabled"
    state["pending"] = [mode] * state["gpus"]
    if state["live"]:
        state["current"] = state["pending"]
    done("Warning: MIG mode is in pending enable state" if not state["live"] else "All done.")
if args[0] == "--gpu-reset":
    if not state["resets"]:
        done("GPU Reset couldn't run because the GPUs are in use", 255)
    state["current"] = state["pending"]
    done()
if args[1] in ("-dci", "-dgi"):
    nothing = not state["instances"]
    if args[1] == "-dgi":
        state["instances"] = []
    done("No GPU instances found" if nothing else "", 6 if nothing else 0)
if args[1] == "-cgi":
    wanted = args[2].split(",")
    if state["refuses"] == "all" or (state["refuses"] == "places" and ":" in args[2]):
        state["instances"] = [(0, wanted[0].partition(":")[0])]
        done("Unable to create a GPU instance: Insufficient Resources", 19)
    made = [(gpu, each.partition(":")[0]) for gpu in range(state["gpus"]) for each in wanted]
    state["instances"] = made[: len(made) - state["loses"]]
    done()
done(f"unknown: {args}", 2)
""".replace("PYTHON", sys.executable)


@dataclass
class Node:
    """The machine."""

    home: Path
    gpus: int = 2  # GPUs that its driver knows
    current: list[str] = field(default_factory=list)  # MIG mode of each
    pending: list[str] = field(default_factory=list)  # mode after a reset or reboot
    instances: list[tuple[int, str]] = field(default_factory=list)  # GPU and profile of each MIG instance
    live: bool = False  # whether a mode takes effect without a reset, as on Hopper
    resets: bool = True  # whether the hypervisor lets GPUs be reset
    refuses: str = ""  # which instances the driver refuses: `all`, or those with a `places`
    loses: int = 0  # instances that are not created although the command succeeds
    loads_after: int = 0  # queries that fail before the driver is loaded
    cdi: bool = False  # whether the image has nvidia-cdi-refresh
    asked: int = 0
    calls: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.current = self.current or ["Disabled"] * self.gpus
        self.pending = self.pending or list(self.current)
        for command in ("nvidia-smi", "systemctl"):
            path = self.home / command
            path.write_text(_STUB)
            path.chmod(0o755)

    def boot(self, layout: str, gpus: int | None = None) -> subprocess.CompletedProcess[str]:
        """Run the script once; `calls` are then those that change something."""
        state = {key: value for key, value in asdict(self).items() if key != "home"} | {"calls": [], "asked": 0}
        (self.home / "state.json").write_text(json.dumps(state))
        command = ["bash", str(SCRIPT), str(self.gpus if gpus is None else gpus), layout]
        result = subprocess.run(
            command, env=self.environment, capture_output=True, text=True, check=False, timeout=SECONDS
        )
        after: dict[str, Any] = json.loads((self.home / "state.json").read_text())
        for key, value in after.items():
            setattr(self, key, value)
        return result

    def reboot(self) -> None:
        """Modes that are pending take effect, and instances are gone."""
        self.current, self.instances = list(self.pending), []

    @property
    def environment(self) -> dict[str, str]:
        """What the script sees of the machine."""
        path = f"{self.home}{os.pathsep}{os.environ['PATH']}"
        return {"PATH": path, "SLIPWAY_MIG_STATE": str(self.home / "kept"), "SLIPWAY_MIG_SECONDS": "0"}
