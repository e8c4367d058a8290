"""`slipway sandbox start|status|wait|stop|save|restore|network|cluster`: manage the sandbox."""

import argparse
import itertools
import json
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Final

from sandbox import worlds
from sandbox.aws import existing_cluster
from sandbox.aws.checked import Limit, limits, summary
from sandbox.aws.existing_network import make
from sandbox.kubernetes.controllers.running import Entry, State, load
from sandbox.state import FAULTS, default_home, tell
from sandbox.state import load as load_state
from sandbox.toolchain import building, process
from slipway.account.context import Client, session
from slipway.cli import offline, shell
from slipway.cli.check import checked
from slipway.cli.output import Progress, table
from slipway.cli.summary import controllers, waiting
from slipway.engine.project import find
from spec import strict_yaml
from spec.errors import fail
from spec.settings.platform import Platform


def start(_options: argparse.Namespace) -> int:
    """Start the sandbox, unless it is running."""
    already = offline.find_running() is not None
    sandbox = offline.start(Progress())
    print(f"the sandbox is {'already ' if already else ''}running, in {sandbox.home}")
    print('enter it with: eval "$(slipway sandbox env)"')
    return 0


def status(options: argparse.Namespace) -> int:
    """Print the status, or what is checked of the inputs of AWS types; 1 unless all is running."""
    if options.limits is not None:
        return show_limits(options.limits, as_json=options.json)
    found = offline.status()
    print(json.dumps(found.as_data(), indent=2) if options.json else found.text())
    return 0 if found.healthy else 1


def stop(_options: argparse.Namespace) -> int:
    """Stop the sandbox."""
    print("the sandbox is stopped" if offline.stop(Progress()) else "the sandbox was not running")
    if now := building.present():
        print(f"{now.name} is being built, for whoever needs it next: `kill {now.pid}` ends that")
    return 0


def save(options: argparse.Namespace) -> int:
    """Save the sandbox, list what was saved, or remove one."""
    home = default_home()
    if options.name is None:
        found = [(one.name, one.saved, f"{one.bytes / 2**20:.1f} MiB", _use(one)) for one in worlds.listed(home)]
        print(table(found, right=frozenset({2})) if found else "nothing was saved: `slipway sandbox save NAME`")
        return 0
    if options.remove:
        worlds.read(home, options.name)
        worlds.file_of(home, options.name).unlink()
        print(f"world {options.name} is removed")
        return 0
    offline.require_running()
    state, began = load_state(home), time.monotonic()
    if state is None:
        fail("the sandbox was just stopped: nothing was saved")
    saved = worlds.save(state, options.name)
    print(f"world {saved.name} is saved: {saved.bytes / 2**20:.1f} MiB, {time.monotonic() - began:.1f} s")
    return 0


def _use(world: worlds.World) -> str:
    return f"not usable: made with {'; '.join(world.misfits)}" if world.misfits else ""


def restore(options: argparse.Namespace) -> int:
    """Start a sandbox from a saved world."""
    began = time.monotonic()
    sandbox = offline.start(Progress(), world=options.name)
    print(f"world {options.name} is restored, in {sandbox.home}: {time.monotonic() - began:.1f} s")
    return 0


def faults(options: argparse.Namespace) -> int:
    """Set faults, or list them."""
    state = load_state(offline.require_running().home)
    if state is None:
        fail("the sandbox was just stopped")
    document = json.dumps({"faults": []}) if options.clear else ""
    if options.file is not None:
        document = json.dumps(next(iter(strict_yaml.documents(options.file)), None))
    found = json.loads(tell(state, FAULTS, document))
    rows = [(one["on"] or one["part"], one["fails"], f"{one['failed']} of {one['met']} requests") for one in found]
    print(json.dumps(found, indent=2) if options.json else table(rows) if rows else "no faults")
    return 0


SETTLE_SECONDS: Final = 60.0
"""How long one may fail while no other comes up: it is started again, and may have waited for a Secret of its chart."""
LOOK_SECONDS: Final = 2.0


def wait(_options: argparse.Namespace) -> int:
    """Wait until the controllers of add-ons are built and run; 1 if one can't be built, or keeps failing."""
    entries = settled()
    print(controllers(entries) or "no controller of an add-on is installed")
    return 1 if {State.FAILING, State.MISSING} & {each.state for each in entries} else 0


def settled() -> Sequence[Entry]:
    """The controllers once none is being built or starts; shows meanwhile what is awaited."""
    home, progress = offline.require_running().home, process.Progress("controllers")
    running, since, waited = 0, time.monotonic(), False
    while True:
        entries = load(home)
        states = Counter(each.state for each in entries)
        if states[State.RUNNING] != running:
            running, since = states[State.RUNNING], time.monotonic()
        settled = not states[State.FAILING] or time.monotonic() - since > SETTLE_SECONDS
        if settled and not states[State.BUILDING] and not states[State.STARTING]:
            break
        progress.update(progress_of(entries))
        waited = True
        time.sleep(LOOK_SECONDS)
        offline.require_running()
    if waited:
        progress.finish(progress_of(entries))
    return entries


def progress_of(entries: Sequence[Entry]) -> str:
    """`2 of 6 run; kueue is being built, then jobset, trainer: about 9 min on 2 cores`."""
    head = f"{sum(each.state is State.RUNNING for each in entries)} of {len(entries)} run"
    if not (queue := waiting(entries)):
        return head
    now = building.present()
    first = now.name if now is not None else queue[0]
    then = ", ".join(each for each in queue if each != first)
    left = building.about(building.minutes(queue, now))
    return f"{head}; {first} is being built{then and f', then {then}'}: {left}"


def cluster(options: argparse.Namespace) -> int:
    """Make the cluster that the settings of a stack name, with its VPC."""
    platform, client = _account_of(options.stack)
    if platform.cluster.existing is None:
        fail(f"stack {options.stack} makes its cluster: only `cluster.existing` names one that must be there before")
    made = existing_cluster.make(client, platform.network, platform.cluster, platform.account.region)
    print(f"{platform.cluster_name} is in the sandbox{'' if made.new else ' already'}, in {made.vpc}")
    return 0


def _account_of(stack: str) -> tuple[Platform, Client]:
    """The settings of a stack, and clients of the sandbox in its account."""
    sandbox = offline.require_running()
    project = find(Path.cwd())
    platform = checked(project, stack, strict=False).platform
    keys = shell.account(sandbox, project, stack)
    return platform, session(platform.account.region, keys, sandbox.variables["AWS_ENDPOINT_URL"])


def network(options: argparse.Namespace) -> int:
    """Make the VPC that the settings of a stack name."""
    platform, client = _account_of(options.stack)
    if platform.network.existing is None:
        fail(f"stack {options.stack} makes its VPC: only `network.existing` names one that must be there before")
    if platform.cluster.existing is not None:
        fail(f"stack {options.stack} is on a cluster that exists: run `slipway sandbox cluster {options.stack}`")
    made = make(client("ec2"), platform.network, platform.account.region)
    print(f"{made.vpc} {'is in the sandbox' if made.new else 'is in the sandbox already'}: {', '.join(made.subnets)}")
    return 0


def show_limits(containing: str, *, as_json: bool) -> int:
    """Print the limits of the types whose token contains a text. Raises SlipwayError if there are none."""
    found = list(limits(containing))
    if not found:
        fail(f"no AWS type with a table of limits contains {containing!r}: `slipway sandbox status --limits` lists all")
    print(json.dumps([asdict(one) for one in found], indent=2) if as_json else _text(found))
    return 0


def _text(found: list[Limit]) -> str:
    parts = []
    for type_token, group in itertools.groupby(found, key=lambda one: one.type):
        rows = [(one.parameter, _last(one)) for one in group]
        parts.append(f"{type_token}\n{table(rows, indent='  ')}\n")
    return "\n".join([*parts, summary(found)])


def _last(one: Limit) -> str:
    return f"{one.limits} [{one.source}]" if one.source else one.limits
