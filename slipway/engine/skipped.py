"""Deletions that a destroy skipped, and a state in which they are undone if it did not come to its end.

The engine deletes nothing of a resource whose `deletedWith` is to be deleted, too: it drops it from the state, some
steps before that other resource is gone (pulumi v3.258.0, pkg/resource/deploy/step.go, `DeleteStep.Apply`). A destroy
that ends in between leaves a cluster whose objects the state has forgotten, and the next `up` fails with "already
exists" for each of them.
"""

import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from slipway.engine.invocation import Invocation
from slipway.engine.pending import needs, without_missing
from slipway.engine.process import EngineRun
from spec.errors import fail

_PROVIDER: Final = "pulumi:providers:"


def put_back(
    before: str,
    export: Callable[[], str],
    command: Callable[[Sequence[str]], Invocation],
    engine: EngineRun,
    stack: str,
) -> None:
    """After a destroy that failed or was interrupted: the state gets what still exists."""
    earlier: Sequence[Mapping[str, Any]] = (json.loads(before)["deployment"] or {}).get("resources") or ()
    document, count = with_skipped(earlier, export())
    if count:
        import_state(document, stack, command, engine)


def import_state(document: str, stack: str, command: Callable[[Sequence[str]], Invocation], engine: EngineRun) -> None:
    """Make a document the state of a stack, by `pulumi stack import`.

    Raises:
        SlipwayError: The engine refuses it; the state is as it was.
    """
    with tempfile.TemporaryDirectory(prefix="slipway-state-") as directory:
        file = Path(directory) / "state.json"
        file.write_text(document, encoding="utf-8")
        arguments = ("stack", "import", "--stack", stack, "--file", str(file))
        if engine(command(arguments), output=Path(directory) / "output"):
            fail("the engine refuses the state with what was found, see above; the state is as it was")


def with_skipped(before: Sequence[Mapping[str, Any]], after: str) -> tuple[str, int]:
    """The later state with the resources of the earlier one that are deleted with what it still has, and their number.

    Components above them and their providers come back with them: the engine alone knows these.
    """
    whole = json.loads(after)
    deployment = whole["deployment"] or {}
    left = {_key(one): one for one in deployment.get("resources") or ()}
    if not left:
        return after, 0
    earlier = {_key(one): one for one in before}
    by_urn = {one["urn"]: one for one in earlier.values()}
    there = {one["urn"] for one in left.values()}
    # What a killed run was replacing is settled by its operation.
    open_urns = {each["resource"]["urn"] for each in deployment.get("pending_operations") or ()}
    kept = there | open_urns
    count = 0
    for one in earlier.values():
        if one["urn"] not in kept and one.get("deletedWith") in kept:
            kept.add(one["urn"])
            count += bool(one.get("custom"))
            _add_logical(one, by_urn, kept)
    order = {**earlier, **left}
    deployment["resources"] = [
        left.get(key) or without_missing(one, kept)
        for key, one in order.items()
        if key in left or one["urn"] in kept - there - open_urns
    ]
    return json.dumps(whole), count


def _add_logical(resource: Mapping[str, Any], by_urn: Mapping[str, Mapping[str, Any]], kept: set[str]) -> None:
    """Add what a resource needs and nothing outside the engine knows."""
    for urn in needs(resource):
        needed = by_urn.get(urn)
        if needed is None or urn in kept:
            continue
        if not needed.get("custom") or needed["type"].startswith(_PROVIDER):
            kept.add(urn)
            _add_logical(needed, by_urn, kept)


def _key(resource: Mapping[str, Any]) -> tuple[str, str, bool]:
    """A replaced resource has the URN of the one that replaced it."""
    return resource["urn"], resource.get("id") or "", bool(resource.get("delete"))
