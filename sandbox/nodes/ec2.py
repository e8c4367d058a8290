"""What a user says about the EC2 of a sandbox: where it has no capacity, and how long an instance takes to start.

A file of the sandbox's home, `ec2.json`, which `slipway sandbox capacity` writes. Karpenter's provider reads it at each
launch (`sandbox/toolchain/go/karpenter/ec2.go`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

from sandbox.errors import SandboxError
from sandbox.files import write_atomically

FILE: Final = "ec2.json"
LAUNCH_SECONDS: Final = 2.0
"""From the launch of an instance until its kubelet registers. On AWS it is a minute or more, by type and image."""


@dataclass(frozen=True, order=True)
class Refusal:
    """A lack of capacity; an empty field stands for all."""

    instance_type: str = ""
    zone: str = ""
    capacity_type: str = ""

    @property
    def text(self) -> str:
        """`p5.48xlarge in us-east-1a, on-demand`."""
        where = f" in {self.zone}" if self.zone else ""
        return f"{self.instance_type or 'every type'}{where}{f', {self.capacity_type}' if self.capacity_type else ''}"


@dataclass(frozen=True)
class Ec2:
    """The content of the file."""

    refused: tuple[Refusal, ...] = ()
    launch_seconds: float = LAUNCH_SECONDS

    def refuse(self, refusal: Refusal) -> Ec2:
        """With one lack of capacity more."""
        return replace(self, refused=tuple(sorted({*self.refused, refusal})))

    def restore(self, refusal: Refusal) -> Ec2:
        """Without those that a refusal covers."""
        return replace(self, refused=tuple(one for one in self.refused if not _covers(refusal, one)))


def read(home: Path) -> Ec2:
    """The file of a sandbox's home; the defaults if there is none. Raises SandboxError."""
    path = home / FILE
    try:
        document: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        refused = [
            Refusal(one["instanceType"], one["zone"], one["capacityType"]) for one in document.get("refused") or ()
        ]
        return Ec2(tuple(sorted(refused)), float(document.get("launchSeconds", LAUNCH_SECONDS)))
    except FileNotFoundError:
        return Ec2()
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        msg = f"{path} can't be read ({error!r}): remove it, and use `slipway sandbox capacity`"
        raise SandboxError(msg) from error


def write(home: Path, settings: Ec2) -> None:
    """Replace the file."""
    names = {"instance_type": "instanceType", "zone": "zone", "capacity_type": "capacityType"}
    refused = [{names[key]: value for key, value in asdict(one).items()} for one in settings.refused]
    document = {"refused": refused, "launchSeconds": settings.launch_seconds}
    write_atomically(home / FILE, json.dumps(document, indent=2) + "\n")


def _covers(wide: Refusal, narrow: Refusal) -> bool:
    pairs = zip(asdict(wide).values(), asdict(narrow).values(), strict=True)
    return all(one in ("", other) for one, other in pairs)
