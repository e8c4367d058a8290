"""`slipway doctor`: show what is missing on this machine, or in a stack's AWS account, and how to fix it.

Findings about the machine (interpreter, tools, cache, disk), the checkout and the shell; those about an account are in
`slipway.account`.
"""

import argparse
import json
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from datetime import date
from importlib import metadata
from pathlib import Path
from typing import Final

from sandbox.kubernetes import serving
from sandbox.kubernetes.client import ApiError, UnreachableError
from sandbox.toolchain import ToolError, archive, building, locate, obtain
from sandbox.toolchain import cache as tool_cache
from sandbox.toolchain.tools import TOOLS, Tool
from slipway.account.context import AccountContext, Diagnosis, Level, session
from slipway.account.examination import examine
from slipway.cli import cluster, offline
from slipway.cli.check import checked
from slipway.cli.offline import Condition, Status
from slipway.cli.output import table
from slipway.engine import backend
from slipway.engine.project import Project, find
from spec import clock
from spec.catalog.ageing import Aged, ageing
from spec.settings import ConfigurationError, load, read_stack


def run(options: argparse.Namespace) -> int:
    """Print every finding; 1 if one of them prevents `slipway up STACK`, in the sandbox or with `--aws` on AWS."""
    findings = _machine() if options.aws is None else _account(options.aws)
    print(json.dumps([as_data(one) for one in findings], indent=2) if options.json else report(findings))
    return 1 if any(finding.level is Level.FAILED for finding in findings) else 0


def _machine() -> list[Diagnosis]:
    today, status = clock.today(), offline.status()
    return [
        python(),
        *tools(),
        engine_and_sdk(),
        cache(),
        disk(),
        sandbox(status),
        *webhooks(status),
        day(today),
        catalog(ageing(today)),
        *stack_files(find(Path.cwd())),
        aws_variables(os.environ),
    ]


def _account(stack: str) -> list[Diagnosis]:
    project = find(Path.cwd())
    platform = checked(project, stack).platform
    context = AccountContext(platform, session(platform.account.region), backend.current(project, stack, os.environ))
    return examine(context)


def as_data(finding: Diagnosis) -> dict[str, str]:
    """A finding as plain values; the level is `ok`, `note` or `failed`."""
    return {"level": finding.level.name.lower(), "what": finding.what, "state": finding.state, "fix": finding.fix}


def report(findings: list[Diagnosis]) -> str:
    """The table of findings, followed by the fixes."""
    rows = [(finding.level.value, finding.what, finding.state) for finding in findings]
    fixes = dict.fromkeys(f"{finding.what}: {finding.fix}" for finding in findings if finding.fix)
    text = table(rows)
    return text if not fixes else "\n".join([text, "", "To do:", *(f"  - {fix}" for fix in fixes)])


PYTHONS: Final = ((3, 11), (3, 13))  # oldest and newest supported version, as `requires-python` in pyproject.toml
BUILD_GIB: Final = 8
"""GiB for Go's module cache (2.6) and build cache (3.8) after building the engine, the API server and helm, and for the
binaries; measured 2026-11-21."""
RUN_GIB: Final = 1  # GiB for etcd's write-ahead log and the sandbox's logs, with headroom


def python() -> Diagnosis:
    """The interpreter's version."""
    version = ".".join(map(str, sys.version_info[:3]))
    oldest, newest = PYTHONS
    if oldest <= sys.version_info[:2] <= newest:
        return Diagnosis(Level.OK, "Python", f"{version} ({sys.executable})")
    supported = f"{oldest[0]}.{oldest[1]} to {newest[0]}.{newest[1]}"
    return Diagnosis(
        Level.FAILED, "Python", f"{version} ({sys.executable})", f"use Python {supported}, then `make setup`"
    )


def tools() -> list[Diagnosis]:
    """Each tool: its version and source, or how it will be installed; controllers of add-ons; and Go, which builds what
    is missing."""
    wanted = [tool for tool in TOOLS.values() if not (tool.for_tests or tool.in_background)]
    findings = [_tool(tool) for tool in wanted]
    built = [tool for tool in TOOLS.values() if tool.in_background and not tool.for_tests]
    missing = [tool for tool in (*wanted, *built) if _search(tool) is None]
    return [*findings, _controllers(built), _go(missing)]


def _controllers(built: Sequence[Tool]) -> Diagnosis:
    """Controllers of add-ons: which are there, and what becomes of the others."""
    missing = [tool for tool in built if _search(tool) is None]
    there = ", ".join(f"{tool.name} {tool.version}" for tool in built if tool not in missing)
    if not missing:
        return Diagnosis(Level.OK, "controllers", there)
    names = [tool.name for tool in missing]
    state = f"{there or 'none'}; missing: {', '.join(names)}"
    if (why := next(filter(None, map(_obstacle, missing)), None)) is not None:
        return Diagnosis(Level.NOTE, "controllers", f"{state}: without Go they can't be built, and do not run", why)
    left = building.about(building.minutes(names, building.present()))
    fix = f"to build them now, run `python -m sandbox.toolchain ensure {' '.join(names)}`"
    state = f"{state}, built with Go when a stack installs them, {left} in all"
    return Diagnosis(Level.NOTE, "controllers", state, fix)


def engine_and_sdk() -> Diagnosis:
    """Whether engine and SDK have the same version: the SDK's generated code and the engine's protocol must match."""
    sdk = metadata.version("pulumi")
    found = _search(TOOLS["pulumi"])
    if found is None:
        wanted = TOOLS["pulumi"].version
        return Diagnosis(Level.OK, "engine and SDK", f"SDK {sdk}; engine {wanted} will be installed")
    if found.version == sdk:
        return Diagnosis(Level.OK, "engine and SDK", f"both {sdk}")
    return Diagnosis(Level.NOTE, "engine and SDK", f"engine {found.version}, SDK {sdk}: only equal versions are tested")


def cache() -> Diagnosis:
    """Whether the cache of binaries is writable."""
    root = tool_cache.root()
    existing = next(path for path in (root, *root.parents) if path.exists())
    if existing.is_dir() and os.access(existing, os.W_OK | os.X_OK):
        return Diagnosis(Level.OK, "cache", str(root))
    fix = f"make {existing} writable, or set SLIPWAY_CACHE to a directory that is"
    return Diagnosis(Level.FAILED, "cache", f"{root} is not writable", fix)


def disk() -> Diagnosis:
    """Whether there is enough disk space for the tools that must still be built."""
    building = any(_search(TOOLS[name]) is None and TOOLS[name].go for name in offline.REQUIRED)
    place = Path.home() if building else tool_cache.root()
    place = next(path for path in (place, *place.parents) if path.exists())
    free = shutil.disk_usage(place).free / 2**30
    wanted = BUILD_GIB if building else RUN_GIB
    space = f"{free:.1f} GiB free at {place}, about {wanted} needed"
    if free >= wanted:
        return Diagnosis(Level.OK, "disk", space)
    return Diagnosis(
        Level.FAILED, "disk", space, f"free {wanted - free:.1f} GiB, or point GOPATH and GOCACHE elsewhere"
    )


def _tool(tool: Tool) -> Diagnosis:
    try:
        found = locate.search(tool)
    except ToolError as error:
        return Diagnosis(Level.FAILED, tool.name, "unusable", str(error))
    if found is not None:
        return Diagnosis(Level.OK, tool.name, f"{found.version} ({found.source}: {found.path})")
    if tool.go is None:
        return Diagnosis(Level.FAILED, tool.name, "missing", "run `make setup`")
    needed = tool.name in offline.REQUIRED
    without = "" if needed else "; without it charts are checked, not installed"
    level = Level.FAILED if needed and not _downloadable(tool) and _obstacle(tool) else Level.NOTE
    fix = f"to install it now, run `python -m sandbox.toolchain ensure {tool.name}`"
    return Diagnosis(level, tool.name, f"missing; {_how(tool)}{without}", fix)


def _how(tool: Tool) -> str:
    ways = ["downloaded"] if _downloadable(tool) else []
    if tool.go is not None and _obstacle(tool) is None:
        ways.append(f"built with Go in {building.about(tool.go.minutes)}")
    return f"{' or '.join(ways)} when first needed" if ways else "it can be neither downloaded nor built here"


def _go(missing: list[Tool]) -> Diagnosis:
    go = obtain.go_command()
    installed = "not installed" if go is None else f"{'.'.join(map(str, go.version))} ({go.path})"
    required = [tool for tool in missing if tool.go is not None and tool.name in offline.REQUIRED]
    # Else controllers, whose projects publish no binaries.
    needed = required or [tool for tool in missing if tool.go is not None and not _downloadable(tool)]
    names, why = ", ".join(tool.name for tool in needed), next(filter(None, map(_obstacle, needed)), None)
    if why is None:
        return Diagnosis(Level.OK, "Go", f"{installed}; {f'builds {names}' if needed else 'not needed'}")
    if required and all(map(_downloadable, required)):
        return Diagnosis(Level.NOTE, "Go", f"{installed}; needed only if {names} can't be downloaded", why)
    return Diagnosis(Level.FAILED if required else Level.NOTE, "Go", f"{installed}; needed for {names}", why)


def _downloadable(tool: Tool) -> bool:
    """Whether a release has it, or its project a binary for this system; reachability is not checked."""
    installer = tool.installer
    return archive.offers(tool) or (installer is not None and tool_cache.system() in installer.systems)


def _obstacle(tool: Tool) -> str | None:
    return obtain.obstacle(tool.go, obtain.go_command()) if tool.go and not archive.offers(tool) else None


def _search(tool: Tool) -> locate.Found | None:
    try:
        return locate.search(tool)
    except ToolError:
        return None


def stack_files(project: Project) -> list[Diagnosis]:
    """Whether each stack file of the checkout is accepted."""
    names = project.stack_names
    if not names:
        return [Diagnosis(Level.FAILED, "stacks", f"no file in {project.stacks}", "add one, see stacks/README.md")]
    return [_stack_file(project, name) for name in names]


def _stack_file(project: Project, stack: str) -> Diagnosis:
    what = f"stack {stack}"
    try:
        loaded = load(read_stack(stack, project.stacks), stack=stack)
    except ConfigurationError as error:
        count = len(error.problems)
        problems = f"{count} problem{'s' if count != 1 else ''}"
        return Diagnosis(Level.FAILED, what, problems, f"run `slipway check {stack}`, which lists each with its fix")
    if loaded.warnings:
        count = len(loaded.warnings)
        return Diagnosis(Level.NOTE, what, f"valid, {count} warning{'s' if count != 1 else ''} (slipway check {stack})")
    return Diagnosis(Level.OK, what, "valid")


def day(today: date) -> Diagnosis:
    """On which day the stacks are evaluated, which a forgotten variable changes without a word."""
    current = clock.current()
    if today == current:
        return Diagnosis(Level.OK, "day", f"{today} (UTC)")
    fix = f"unset {clock.VARIABLE} to evaluate on the current day, {current}"
    return Diagnosis(Level.NOTE, "day", f"{today}, by {clock.VARIABLE}", fix)


def catalog(aged: Sequence[Aged]) -> Diagnosis:
    """Whether facts that stacks are evaluated by are old."""
    if not aged:
        return Diagnosis(Level.OK, "catalog", "no fact is old")
    fix = 'CONTRIBUTING.md, "Dated facts"; prices: `slipway catalog prices`'
    return Diagnosis(Level.NOTE, "catalog", f"old facts: {', '.join(one.what.rpartition('/')[2] for one in aged)}", fix)


def sandbox(status: Status) -> Diagnosis:
    """The state of the sandbox. A stopped one is fine: the next command starts it."""
    level = {Condition.DAMAGED: Level.FAILED, Condition.STALE: Level.NOTE}.get(status.condition, Level.OK)
    memory = f", {status.memory >> 20} MiB" if status.healthy else ""
    return Diagnosis(level, "sandbox", f"{status.condition}{memory}, in {status.home}", status.fix)


def webhooks(status: Status) -> list[Diagnosis]:
    """Webhooks of the sandbox's clusters that block objects, because their Deployments don't run."""
    kubeconfig, findings = status.home / "kubeconfig", []
    for name in cluster.names_of(kubeconfig) if status.healthy else ():
        client = cluster.client_of(kubeconfig, name)
        try:
            blocked = serving.blocking(client) if client else {}
        except (ApiError, UnreachableError) as error:
            findings.append(Diagnosis(Level.NOTE, f"webhooks of {name}", str(error)))
            continue
        causes: dict[serving.Unanswered, list[str]] = {}
        for webhook, why in blocked.items():
            causes.setdefault(why, []).append(webhook)
        findings += [
            Diagnosis(Level.FAILED, f"webhooks of {name}", f"{why.cause}, so {_some(names)} block objects", why.fix)
            for why, names in causes.items()
        ]
    return findings


def _some(names: Sequence[str]) -> str:
    rest = len(names) - 2
    return ", ".join(names[:2]) + (f" and {rest} more" if rest > 0 else "")


def aws_variables(environment: Mapping[str, str]) -> Diagnosis:
    """Which AWS variables a run on AWS would see; the sandbox sees none of them."""
    names = sorted(name for name in environment if name.startswith("AWS_"))
    state = f"set: {', '.join(names)} (not passed to the sandbox)" if names else "none set (the sandbox needs none)"
    return Diagnosis(Level.OK, "AWS_* variables", state)
