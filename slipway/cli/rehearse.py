"""`slipway rehearse STACK [SCENARIO...]`: scenarios on a stack. Those that events drive are played in the sandbox,
those that the clock drives are replayed."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

from sandbox.kubernetes.client import ApiError, KubeClient, NoSuchKindError, UnreachableError
from slipway.cli import cluster, offline
from slipway.cli.check import checked
from slipway.cli.output import Progress
from slipway.cli.trial import target_of
from slipway.engine.project import Project, find
from slipway.rehearsal.evaluation import checks as evaluate
from slipway.rehearsal.play import Stack, play
from slipway.replay.figures import duration
from slipway.trial import clock
from slipway.trial.clock import ClockScenario
from slipway.trial.evaluation import Check, Status
from slipway.trial.events import Events
from slipway.trial.run import Run
from slipway.trial.scenario import FOLDER, Scenario, read
from slipway.why.manifests import DryRun
from spec.errors import EXIT_FAILURE, EXIT_REFUSED, SlipwayError
from spec.jobs import KUEUE_API
from spec.settings import Platform, read_stack


@dataclass(frozen=True, kw_only=True)
class Rehearsed:
    """What became of the expectations of one scenario, or of its bad variant.

    Attributes:
        name: Its name; of a bad variant with that of the scenario before it.
        description: What it shows.
        driver: `events` or `clock`.
        checks: Its expectations.
        seconds: How long it took.
        how: How it was played, for a reader.
    """

    name: str
    description: str
    driver: str
    checks: Sequence[Check]
    seconds: float
    how: str

    @property
    def passed(self) -> bool:
        """Whether every expectation was met."""
        return all(one.status is not Status.FAILED for one in self.checks)

    @property
    def text(self) -> str:
        """A line for the scenario, and one for each expectation."""
        lines = [f"{'passed' if self.passed else 'FAILED'}  {self.name}: {self.description}"]
        lines.append(f"        {self.how}")
        for one in self.checks:
            mark = "ok    " if one.status is Status.PASSED else "FAILED"
            detail = f": {' '.join(one.detail.split())}" if one.detail else ""
            lines.append(f"  {mark}  {one.subject} {one.expected}{detail}")
        return "\n".join(lines)

    def document(self) -> dict[str, Any]:
        """The same as plain values."""
        checks = [asdict(one) for one in self.checks]
        return {
            "scenario": self.name,
            "drivenBy": self.driver,
            "passed": self.passed,
            "seconds": self.seconds,
            "checks": checks,
        }


def run(options: argparse.Namespace) -> int:
    """Print what became of each scenario; 1 if an expectation is not met."""
    project = find(Path.cwd())
    scenarios = _scenarios(options.scenarios, project, options.stack)
    platform = checked(project, options.stack).platform
    replayed = [one for one in scenarios if isinstance(one, ClockScenario)]
    played = [] if options.replayed else [one for one in scenarios if isinstance(one, Scenario)]
    say, done = Progress(), []
    for one in chain(_replay(replayed, project, options.stack, say), _play(played, platform, options.stack, say)):
        done.append(one)
        if not options.json:
            print(one.text)
    if options.json:
        print(json.dumps([one.document() for one in done], indent=2))
    else:
        print(f"\n{sum(one.passed for one in done)} of {len(done)} scenarios and bad variants as expected")
    return 0 if all(one.passed for one in done) else EXIT_FAILURE


def _scenarios(paths: Sequence[Path], project: Project, stack: str) -> list[Scenario | ClockScenario]:
    """Those that the user names, or those of the project for the stack."""
    files = paths or sorted((project.root / FOLDER).glob("*.yaml"))
    found = [clock.read(path) if clock.drives(path) else read(path) for path in files]
    chosen = [one for one in found if stack in one.stacks]
    if paths and (others := [one for one in found if one not in chosen]):
        msg = f"scenario {others[0].name} is of stack {', '.join(others[0].stacks)}, not of {stack}: see its `stacks`"
        raise SlipwayError(msg, EXIT_REFUSED)
    if not chosen:
        msg = f"{project.root / FOLDER} has no scenario of stack {stack}: name a file"
        raise SlipwayError(msg, EXIT_REFUSED)
    return chosen


def _replay(scenarios: Sequence[ClockScenario], project: Project, stack: str, say: Progress) -> Iterator[Rehearsed]:
    """The scenarios that the clock drives, each with its bad variants. They need no sandbox."""
    settings = read_stack(stack, project.stacks)
    on = Stack(stack, settings if isinstance(settings, Mapping) else {})
    for scenario in scenarios:
        for variant in scenario.variants:
            name = f"{scenario.name}/{variant.name}" if variant.name else scenario.name
            say(name)
            began = time.monotonic()
            result = play(variant, scenario, on, say)
            took = round(time.monotonic() - began, 1)
            yield Rehearsed(
                name=name,
                description=variant.description,
                driver="clock",
                checks=evaluate(variant, result),
                seconds=took,
                how=f"replayed, by the clock: {duration(result.seconds)} in {took:.0f} s",
            )


def _play(scenarios: Sequence[Scenario], platform: Platform, stack: str, say: Progress) -> Iterator[Rehearsed]:
    """The scenarios that events drive, in the sandbox."""
    if not scenarios:
        return
    home = offline.require_running().home
    client = cluster.of_sandbox(platform)
    _require_queues(client, platform, stack)
    for at, scenario in enumerate(scenarios, 1):
        say(f"{scenario.name} ({at} of {len(scenarios)})")
        try:
            yield _rehearse(scenario, client, platform, home, say)
        except (ApiError, UnreachableError) as error:
            msg = f"the cluster {platform.cluster_name} can't be used: {error}"
            raise SlipwayError(msg) from error


def _require_queues(client: KubeClient, platform: Platform, stack: str) -> None:
    """Raises SlipwayError if the stack has Kueue, and came up without its chart: no job would be admitted."""
    if platform.addons.kueue is None:
        return
    try:
        client.discovery.find(KUEUE_API, "LocalQueue")
    except NoSuchKindError as error:
        msg = (
            f"Kueue does not run in the sandbox, because stack {stack} came up without charts, so no job starts: "
            f"`SLIPWAY_CHARTS=DIR slipway up {stack} --sandbox`, with a folder of `slipway charts pull --dir DIR`"
        )
        raise SlipwayError(msg) from error


def _rehearse(scenario: Scenario, client: KubeClient, platform: Platform, home: Path, say: Progress) -> Rehearsed:
    began = time.monotonic()
    found = Run(
        client=client,
        trial=scenario.trial,
        namespace=scenario.trial.namespace or "",
        member=cache(lambda place: DryRun(client, place).member),
        target=cache(lambda place: target_of(platform, place)),
        say=say,
        events=Events(client, home),
        platform=platform,
    ).run()
    took = round(time.monotonic() - began, 1)
    return Rehearsed(
        name=scenario.name,
        description=scenario.description,
        driver="events",
        checks=found,
        seconds=took,
        how=f"played by events in the sandbox: {took:.0f} s, durations as written",
    )
