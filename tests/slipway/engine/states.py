"""States of a stack as the folder backend keeps them."""

import json
from pathlib import Path
from typing import Any, Final

STACK: Final = "urn:pulumi:dev::slipway::pulumi:pulumi:Stack::slipway-dev"


def things(count: int) -> list[dict[str, Any]]:
    """A stack with so many resources, in the engine's order."""
    stack = {"urn": STACK, "custom": False, "type": "pulumi:pulumi:Stack"}
    made = [
        {
            "urn": f"urn:pulumi:dev::slipway::my:index:Thing::t{number}",
            "custom": True,
            "id": f"id-{number}",
            "type": "my:index:Thing",
            "parent": STACK,
            "outputs": {"note": "größer" * 200},
        }
        for number in range(count)
    ]
    return [stack, *made]


def checkpoint(resources: list[dict[str, Any]] | None, second: int = 0, **more: Any) -> str:
    """The content of a state file; without resources, that of a stack that was never updated."""
    latest: dict[str, Any] | None = None
    if resources is not None:
        manifest = {"time": f"2026-11-23T10:00:{second:02d}.123456789Z", "version": "v3.258.0"}
        latest = {"manifest": manifest, "secrets_providers": {"type": "passphrase"}, "resources": resources, **more}
    whole = {"version": 3, "checkpoint": {"stack": "organization/slipway/dev", "latest": latest}}
    # As the backend writes it: without spaces.
    return json.dumps(whole, separators=(",", ":"), ensure_ascii=False)


def file(backend: Path, stack: str = "dev") -> Path:
    """The path of a stack's state; its folder exists."""
    path = backend / ".pulumi/stacks/slipway" / f"{stack}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    return path
