"""`slipway rehearse STACK [SCENARIO|FOLDER...]`: scenarios on a stack. Those that events drive are played in the
sandbox, as the manifests of a folder; those that the clock drives are replayed."""

import argparse
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, reduce
from itertools import chain
from pathlib import Path
from typing import Final

from sandbox import worlds
from sandbox.files import write_atomically
from sandbox.kubernetes.client import ApiError, KubeClient, UnreachableError
from sandbox.kubernetes.objects import Ref
from sandbox.state import load as load_state
from slipway.cli import cluster, offline, trial
from slipway.cli.check import checked
from slipway.cli.output import Progress, say
from slipway.cli.sandbox import settled
from slipway.engine.project import Project, find
from slipway.rehearsal.document import Lane, Played, Rehearsal, expectations, lane, met, page
from slipway.rehearsal.evaluation import checks as evaluate
from slipway.rehearsal.play import Stack, blocked, play
from slipway.report.make import PAGE, prepare
from slipway.trial import clock
from slipway.trial.clock import ClockScenario
from slipway.trial.evaluation import Check, Status
from slipway.trial.events import UP, Events
from slipway.trial.expectations import FILE as MANIFESTS
from slipway.trial.run import Run
from slipway.trial.scenario import FOLDER, Scenario, read
from slipway.trial.update import Update
from slipway.why.manifests import DryRun
from spec.errors import EXIT_FAILURE, SlipwayError, fail, refuse
from spec.quantities import duration
from spec.settings import Platform, load, read_stack
from spec.settings.parts import overlay

JSON: Final = "rehearsal.json"
_WORLD: Final = "before-rehearsal"
"""Name of the saved sandbox to which a scenario that updates its stack goes back."""
_CONTROLLER: Final = Ref("apps/v1", "Deployment", "kueue-controller-manager", "kueue-system")


def text(one: Played) -> str:
    """A line for the scenario, and one for each expectation."""
    lines = [f"{'passed' if one.passed else 'FAILED'}  {one.scenario}: {one.description}", f"        {one.how}"]
    for check in one.checks:
        lines.append(f"  {'ok    ' if check.status == 'passed' else 'FAILED'}  {check.sentence}")
    return "\n".join(lines)


def run(options: argparse.Namespace) -> int:
    """Print what became of each scenario, or of a folder's manifests; 1 if an expectation is not met."""
    if folders := list(_folders(options)):
        others = [one for one in (options.stack, *map(str, options.scenarios)) if one not in folders]
        if len(folders) + len(others[1:]) > 1 or options.out or options.replayed:
            refuse(f"{folders[-1]} has manifests: name it and at most a stack, without --out and --replayed")
        return trial.run(options, Path(folders[0]), *others or [None])
    if options.namespace:
        refuse("--namespace is of a folder of manifests: scenarios name their own")
    project = find(Path.cwd())
    scenarios = _scenarios(options.scenarios, project, options.stack)
    if not scenarios and not options.replayed:
        refuse(f"{project.root / FOLDER} has no scenario of stack {options.stack}: name a file")
    platform = checked(project, options.stack).platform
    replayed = [one for one in scenarios if isinstance(one, ClockScenario)]
    played = [] if options.replayed else [one for one in scenarios if isinstance(one, Scenario)]
    if options.out is not None:
        prepare(options.out)
    progress, done = Progress(), []
    for one in chain(
        _replay(replayed, project, options.stack, progress), _play(played, platform, project, options.stack, progress)
    ):
        done.append(one)
        if not options.json:
            print(text(one))
    found = Rehearsal(stack=options.stack, scenarios=done)
    print(found.as_json().rstrip() if options.json else f"\n{found.summary}")
    if options.out is not None:
        for name, content in ((PAGE, page(found)), (JSON, found.as_json())):
            write_atomically(options.out / name, content, 0o644)
        say(f"wrote {options.out / PAGE} (the timeline) and {options.out / JSON}")
    return 0 if found.passed else EXIT_FAILURE


def _folders(options: argparse.Namespace) -> Iterator[str]:
    """The arguments that name folders; the first one may be a stack of the same name."""
    if Path(options.stack).is_dir() and ({*"./"} & {*options.stack} or Path(options.stack, MANIFESTS).is_file()):
        yield options.stack
    yield from (str(one) for one in options.scenarios if one.is_dir())


def _scenarios(paths: Sequence[Path], project: Project, stack: str) -> list[Scenario | ClockScenario]:
    """Those that the user names, or those of the project for the stack."""
    files = paths or sorted((project.root / FOLDER).glob("*.yaml"))
    found = [(clock.read if clock.drives(path) else read)(path, stack) for path in files]
    chosen = [one for one in found if stack in one.stacks]
    if paths and (others := [one for one in found if one not in chosen]):
        refuse(f"scenario {others[0].name} is of stack {', '.join(others[0].stacks)}, not of {stack}: see its `stacks`")
    return chosen


def _replay(scenarios: Sequence[ClockScenario], project: Project, stack: str, say: Progress) -> Iterator[Played]:
    """The scenarios that the clock drives, each with its bad variants. They need no sandbox."""
    settings = read_stack(stack, project.stacks)
    on = Stack(stack, settings if isinstance(settings, Mapping) else {})
    for scenario in scenarios:
        for variant in scenario.variants:
            name = f"{scenario.name}/{variant.name}" if variant.name else scenario.name
            say(name)
            began = time.monotonic()
            lanes: list[Lane] = []
            try:
                result, lanes = play(variant, scenario, on, say)
            except SlipwayError as error:
                # Others may still say something, such as in a pull request that removes a team of this one.
                length, missing, checks = 0.0, "", [Check(scenario.name, "can be replayed", Status.FAILED, str(error))]
            else:
                length, checks = result.seconds, evaluate(variant, result, blocked(variant, on))
                missing = f"; in no figure: {result.left_out.amount}" if result.left_out.jobs else ""
            took = round(time.monotonic() - began, 1)
            yield Played(
                scenario=name,
                description=variant.description,
                driven_by="clock",
                how=f"replayed, by the clock: {duration(length)} in {took:.0f} s{missing}",
                seconds=took,
                length=length,
                passed=met(checks),
                checks=expectations(checks),
                lanes=lanes,
            )


def _play(
    scenarios: Sequence[Scenario], platform: Platform, project: Project, stack: str, say: Progress
) -> Iterator[Played]:
    """The scenarios that events drive, in the sandbox."""
    if not scenarios:
        return
    home = offline.require_running().home
    settled()
    client = cluster.of_sandbox(platform)
    _require_queues(client, platform, stack)
    for at, scenario in enumerate(scenarios, 1):
        say(f"{scenario.name} ({at} of {len(scenarios)})")
        try:
            with _restored(scenario, project, stack, home, say) as update:
                yield _rehearse(scenario, client, platform, Events(client, home, update), say)
        except (ApiError, UnreachableError) as error:
            fail(f"the cluster {platform.cluster_name} can't be used: {error}", error)


@contextmanager
def _restored(
    scenario: Scenario, project: Project, stack: str, home: Path, say: Callable[[str], None]
) -> Iterator[Update | None]:
    """What updates the stack, if the scenario does; afterwards the sandbox is as it was saved before."""
    changes = [one.detail or {} for one in scenario.trial.timeline if one.action == UP]
    if not changes:
        yield None
        return
    settings = read_stack(stack, project.stacks)
    load(reduce(overlay, changes, settings if isinstance(settings, Mapping) else {}), stack=stack)
    if (state := load_state(home)) is None:
        fail("the sandbox was just stopped")
    worlds.save(state, _WORLD)
    try:
        yield Update(project, stack)
    finally:
        say("the sandbox becomes as it was")
        offline.stop(say)
        offline.start(say, world=_WORLD)
        worlds.file_of(home, _WORLD).unlink()
        settled()


def _require_queues(client: KubeClient, platform: Platform, stack: str) -> None:
    """Raises SlipwayError if the stack has Kueue, and came up without its chart, or with one that has only CRDs: no job
    would be admitted."""
    if platform.addons.kueue is not None and client.get(_CONTROLLER) is None:
        fail(
            f"Kueue does not run in the sandbox, because stack {stack} came up without charts, so no job starts: "
            f"`SLIPWAY_CHARTS=DIR slipway up {stack} --sandbox`, with a folder of `slipway catalog pull --dir DIR`"
        )


def _rehearse(scenario: Scenario, client: KubeClient, platform: Platform, events: Events, say: Progress) -> Played:
    began = time.monotonic()
    played = Run(
        client=client,
        trial=scenario.trial,
        namespace=scenario.trial.namespace or "",
        member=cache(lambda place: DryRun(client, place).member),
        target=cache(lambda place: trial.target_of(platform, place)),
        say=say,
        events=events,
        platform=platform,
    )
    checks = played.run()
    took = round(time.monotonic() - began, 1)
    return Played(
        scenario=scenario.name,
        description=scenario.description,
        driven_by="events",
        how=f"played by events in the sandbox: {took:.0f} s, durations as written",
        seconds=took,
        length=took,
        passed=met(checks),
        checks=expectations(checks),
        lanes=[lane(name, [turns], took) for name, turns in played.turns.items()],
    )
