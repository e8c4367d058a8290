"""Compares two renderings of a stack, resource by resource, by URN: also with the stack at another commit.

This shows changes of the program as well as of the settings; `slipway.cost.difference` only compares the settings, with
today's program.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from sandbox.rpc import diff
from slipway.engine.project import Project, is_ours, take_out
from slipway.engine.stacks import STACKS, stack_file
from slipway.report.plan.changes import (
    Plan,
    PropertyChange,
    ResourceChange,
    Verb,
    at,
    forces_new,
    ordered,
    shown,
    verdict,
    with_losses,
)
from spec.errors import SlipwayError
from spec.pricing import Estimate, estimate
from spec.settings import ConfigurationError, load, read_stack

# Compares two renderings of a stack, resource by resource, by URN.


Data = Mapping[str, Any]  # an entry of `resources.json` of a rendering (`slipway.render.layout.as_data`)

_OPTIONS: Final = ("protect", "retainOnDelete")
"""Options whose change is shown; others (dependencies, timeouts, providers) don't change the resource."""
_NOTE: Final = (
    "Two versions of the program and its settings are compared, not the live resources. To see manual changes, run "
    "slipway preview, which reads the live resources from AWS."
)


def compare(
    before: Iterable[Data], after: Iterable[Data], needs: Mapping[str, Mapping[str, Sequence[str]]], *, against: str
) -> Plan:
    """The changes from one rendering to another.

    Args:
        needs: For each resource of the current program, the URNs that its properties come from, by property.
    """
    old = {one["urn"]: one for one in before if _counts(one)}
    new = {one["urn"]: one for one in after if _counts(one)}
    compared = {urn: _changed(old[urn], new[urn]) for urn in sorted(old.keys() & new.keys())}
    changes = {urn: change for urn, change in compared.items() if change is not None}
    _add_dependents(changes, new, needs)
    changes |= {urn: _deleted(old[urn]) for urn in old.keys() - new.keys()}
    changes |= {
        urn: ResourceChange(urn=urn, type=new[urn]["type"], verb=Verb.CREATE) for urn in new.keys() - old.keys()
    }
    return Plan(
        against=against,
        changes=ordered(list(changes.values())),
        unchanged=len(new.keys() - changes.keys()),
        notes=(_NOTE,),
    )


def _counts(one: Data) -> bool:
    """Whether it is a resource; components only group others, and providers only reach them."""
    return not str(one["type"]).startswith(("slipway:", "pulumi:"))


def _deleted(one: Data) -> ResourceChange:
    change = ResourceChange(urn=one["urn"], type=one["type"], verb=Verb.DELETE)
    return with_losses(change, one["inputs"], retained=bool(one["options"].get("retainOnDelete")))


def _changed(old: Data, new: Data) -> ResourceChange | None:
    before, after = old["inputs"], new["inputs"]
    ignored = new["options"].get("ignoreChanges") or ()
    properties = [
        PropertyChange(
            path=diff.write(one.path),
            before=shown(at(before, one.path)),
            after=shown(at(after, one.path)),
            forces=forces_new(new["type"], one.path, before, after),
        )
        for one in diff.compare(before, after)
        if not diff.ignored(one.path, ignored)
    ]
    verb = verdict([one.forces for one in properties])
    for option in _OPTIONS:
        was, is_ = bool(old["options"].get(option)), bool(new["options"].get(option))
        if was != is_:
            properties.append(PropertyChange(path=f"option {option}", before=shown(was), after=shown(is_)))
    if not properties:
        return None
    return with_losses(
        ResourceChange(urn=new["urn"], type=new["type"], verb=verb, properties=tuple(properties)), before
    )


def _add_dependents(
    changes: dict[str, ResourceChange], new: Mapping[str, Data], needs: Mapping[str, Mapping[str, Sequence[str]]]
) -> None:
    """Add resources that may be replaced because they reference a replaced one: a mount target and its file system.

    A replaced resource gets a new id. Whether the referenced value changes (an id does, a name may not) is not known
    beforehand, so the verb is "update or replace".
    """
    waiting = [urn for urn, change in changes.items() if change.verb is Verb.REPLACE]
    while waiting:
        replaced = waiting.pop()
        for urn, sources in needs.items():
            known = changes.get(urn)
            if urn not in new or (known and known.verb is not Verb.UPDATE):
                continue
            one = new[urn]
            referring = [key for key, urns in sorted(sources.items()) if replaced in urns]
            forced = [key for key in referring if forces_new(one["type"], (key,), one["inputs"], one["inputs"])]
            if forced:
                changes[urn] = _dependent(one, forced, replaced, known.properties if known else ())
                waiting.append(urn)


def _dependent(one: Data, keys: Sequence[str], replaced: str, own: tuple[PropertyChange, ...]) -> ResourceChange:
    name = replaced.rpartition("::")[2]
    caused = tuple(
        PropertyChange(path=key, before=f"of {name}", after=f"of the new {name}", forces=None) for key in keys
    )
    change = ResourceChange(urn=one["urn"], type=one["type"], verb=Verb.MAYBE, properties=(*own, *caused), cause=name)
    return with_losses(change, one["inputs"])


# The stack at another commit: its tree is exported from git and rendered by its own program.


_MINUTES: Final = 10
_LINES: Final = 6  # lines of a failed rendering's error output that are reported


@dataclass(frozen=True, kw_only=True)
class Baseline:
    """A stack at another commit."""

    name: str  # name for readers: `main (1a2b3c4)`
    resources: tuple[Mapping[str, Any], ...] = ()
    """Entries of `resources.json`; empty if the stack does not exist there."""
    outputs: Mapping[str, Any] = field(default_factory=dict)  # `exports.json`
    problem: str = ""  # why there are no resources; empty if there is no problem
    estimate: Estimate | None = None  # cost of its settings at today's prices; None if this program can't read them
    settings: Mapping[str, Any] = field(default_factory=dict)  # its settings as its file has them
    findings: frozenset[tuple[str, str]] | None = None
    """What its own policies find, as (rule, resource); None if that is not known."""
    new: bool = False  # whether the commit does not have the stack


def baseline(project: Project, stack: str, ref: str, settings: Path | None = None, *, judged: bool = False) -> Baseline:
    """The stack at a commit, branch or tag; failures are reported in `problem`, never raised.

    Args:
        settings: Another stack file than that of the commit, for its program.
        judged: Whether its policies are evaluated as well.
    """
    with tempfile.TemporaryDirectory(prefix="slipway-against-") as folder:
        root = Path(folder) / "tree"
        try:
            commit = take_out(project, ref, root)
        except SlipwayError as error:
            return Baseline(name=ref, problem=str(error))
        if settings is not None:
            shutil.copyfile(settings, stack_file(root / STACKS, stack))
        return _at(Project(root), stack, f"{ref} ({commit})", Path(folder) / "rendering", judged=judged)


def _at(project: Project, stack: str, name: str, out: Path, *, judged: bool) -> Baseline:
    if not is_ours(project.root / "Pulumi.yaml"):
        return Baseline(name=name, problem="the commit has no Pulumi.yaml of this project")
    if not project.has(stack):
        return Baseline(name=name, new=True)
    price, data = _price(project, stack)
    environment = {**os.environ, "PYTHONPATH": str(project.root), "PYTHONDONTWRITEBYTECODE": "1"}

    def run(*words: str) -> subprocess.CompletedProcess[bytes]:
        command = [sys.executable, "-m", "slipway", *words]
        return subprocess.run(
            command, cwd=project.root, env=environment, capture_output=True, timeout=_MINUTES * 60, check=False
        )

    try:
        with ThreadPoolExecutor() as beside:
            judging = beside.submit(run, "policies", stack, "--json") if judged else None
            done = run("render", stack, "--out", str(out))
            findings = _findings(judging.result().stdout) if judging else None
    except subprocess.TimeoutExpired:
        return Baseline(
            name=name, problem=f"its program did not finish rendering within {_MINUTES} minutes", estimate=price
        )
    if done.returncode:
        return Baseline(name=name, problem=f"its program failed to render: {_last(done.stderr)}", estimate=price)
    resources, outputs = (
        json.loads((out / f"{of}.json").read_text(encoding="utf-8")) for of in ("resources", "exports")
    )
    return Baseline(
        name=name, resources=tuple(resources), outputs=outputs, estimate=price, settings=data, findings=findings
    )


def _price(project: Project, stack: str) -> tuple[Estimate | None, Mapping[str, Any]]:
    """Cost of its settings with today's program and prices, so that the difference comes from the change only; and the
    settings."""
    data: Any = {}
    try:
        data = read_stack(stack, project.stacks)
        return estimate(load(data, stack=stack).platform), data
    except ConfigurationError:
        return None, data if isinstance(data, Mapping) else {}


def _findings(output: bytes) -> frozenset[tuple[str, str]] | None:
    """What `slipway policies --json` printed; None if that is something else."""
    try:
        return frozenset((one["rule"], finding_name(one["urn"])) for one in json.loads(output))
    except (ValueError, KeyError, TypeError):
        return None


def finding_name(urn: str) -> str:
    """What violates a rule, for readers."""
    return urn.rpartition("::")[2] or "the stack"


def _last(output: bytes) -> str:
    """The last lines of a failed command's output."""
    lines = [line.strip() for line in output.decode(errors="replace").splitlines() if line.strip()]
    return " ".join(lines[-_LINES:])
