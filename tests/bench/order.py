"""How near the order in which a stack is created comes to the best possible one, and which waits it lacks."""

from collections.abc import Iterable
from typing import Final

from slipway.render.recording import Recording
from tests.bench.durations import AT_ONCE, DEFAULT, DEFAULT_SECONDS, SOURCES, duration_of, seconds_of
from tests.bench.figure import Figure
from tests.bench.finders import has_pods, is_custom
from tests.bench.machine import Bench
from tests.bench.needs import all_needed, missing, pairs, shortest
from tests.bench.waits import Chain, Closure, Graph, closure, waits
from tests.support import stacks

BOUND: Final = 1.05
STACK: Final = "prod"
DEVICE_PLUGIN: Final = "gpu-operator-release"
LONGER_SECONDS: Final = 10 * DEFAULT_SECONDS
"""What the default is raised to, to see how far the result depends on it."""


def order(_: Bench) -> list[Figure]:
    """Of stack prod: the longest chains of waits beside the shortest possible ones, and the waits that are missing."""
    recording = stacks.recorded(STACK)
    return [whole(recording), software(recording), absent(recording)]


def whole(recording: Recording) -> Figure:
    """Until everything exists."""
    return _compare("order", "everything", recording, recording.resources)


def software(recording: Recording) -> Figure:
    """Until the last chart has its pods and the last custom resource exists.

    A figure of its own, because a parallel file system takes longer than all of that: beside it, a chart may wait for
    minutes without need, and the whole takes no longer.
    """
    goals = [each.urn for each in recording if has_pods(each) or is_custom(each)]
    return _compare("order, software", "the last chart and custom resource", recording, goals)


def absent(recording: Recording) -> Figure:
    """The waits of `tests/bench/needs.yaml` that the program lacks."""
    asked, before = pairs(recording), closure(waits(recording))
    found = missing(asked, before)
    own = _explicit(recording, before)
    needed = all_needed(recording)
    unasked = sum(earlier not in needed[later] for later, earlier in own)
    return Figure(
        name="missing waits",
        value=len(found),
        unit="waits",
        bound=0,
        how=f"of {len(asked)} waits that AWS or Kubernetes need in {recording.stack}, those that its graph lacks",
        notes=(
            *(pair.describe(recording) for pair in found),
            f"{len(own)} waits of `depends_on` follow from no other; no need asks for {unasked} of them",
        ),
    )


def _explicit(recording: Recording, before: Closure) -> list[tuple[str, str]]:
    """Waits by `depends_on` that would be lost without it: later and earlier."""
    direct = waits(recording)
    return [
        (later.urn, earlier)
        for later in recording
        for earlier in later.options.depends_on
        if earlier != later.options.provider
        and not any(earlier in before[other] for other in direct[later.urn] - {earlier})
    ]


def _compare(name: str, what: str, recording: Recording, goals: Iterable[str]) -> Figure:
    graph, best = _graphs(recording, list(goals), DEFAULT_SECONDS)
    actual, ideal = graph.longest(), best.longest()
    ratio = actual.seconds / ideal.seconds
    names = " -> ".join(recording.resources[urn].name for urn in ideal.links)
    notes = [*describe(recording, actual), f"shortest possible: {ideal.seconds:.0f} s: {names}"]
    if any(each.name == DEVICE_PLUGIN for each in recording):
        gpus = graph.until([recording.named(DEVICE_PLUGIN).urn]).longest()
        notes.append(f"until pods can ask for the first GPU: {gpus.seconds:.0f} s ({DEVICE_PLUGIN})")
    notes.append(_on_the_default(recording, list(goals)))
    if ratio > BOUND:
        notes += blame(recording, graph, actual)
    return Figure(
        name=name,
        value=ratio,
        unit="x",
        bound=BOUND,
        how=f"longest chain of waits of {recording.stack} until {what} exists, {actual.seconds:.0f} s, over the "
        f"shortest possible, {ideal.seconds:.0f} s; durations from published logs and a default, none measured here",
        notes=tuple(notes),
    )


def _graphs(recording: Recording, goals: list[str], default: float) -> tuple[Graph, Graph]:
    """The program's own graph and the shortest possible one, until the goals exist."""
    graph = Graph(seconds_of(recording, default), waits(recording))
    return graph.until(goals), shortest(recording, default).until(goals)


def _on_the_default(recording: Recording, goals: list[str]) -> str:
    created = [each for each in recording if duration_of(each) is not AT_ONCE]
    unknown = sum(duration_of(each) is DEFAULT for each in created)
    graph, best = _graphs(recording, goals, LONGER_SECONDS)
    ratio = graph.longest().seconds / best.longest().seconds
    return (
        f"{unknown} of {len(created)} resources take the default of {DEFAULT_SECONDS:.0f} s, for want of a published "
        f"log; with {LONGER_SECONDS:.0f} s it would be {ratio:.2f} x"
    )


def describe(recording: Recording, chain: Chain) -> list[str]:
    """The chain, a line for each link that takes time, with the source of its duration."""
    lines = [f"longest chain: {chain.seconds:.0f} s"]
    sources = set()
    for urn in chain.links:
        duration = duration_of(recording.resources[urn])
        if duration.seconds:
            sources.add(duration.source)
            name = recording.resources[urn].name
            lines.append(f"  {duration.seconds:4.0f} s  {name} ({duration.source or 'default'})")
    return [*lines, *(f"{key}: {SOURCES[key]}" for key in sorted(key for key in sources if key))]


def blame(recording: Recording, graph: Graph, chain: Chain) -> list[str]:
    """The links of the chain that nothing in AWS or Kubernetes asks for, and what is saved without each.

    Where others wait for as long beside it, a single one saves nothing; then all are named.
    """
    saved: dict[str, float] = {}
    needed = all_needed(recording)
    for earlier, later in zip(chain.links, chain.links[1:], strict=False):
        before, after = recording.resources[earlier], recording.resources[later]
        if duration_of(before).seconds > 0 and earlier not in needed[later]:
            words = f"no need: {after.name} waits for {before.name}"
            saved[words] = chain.seconds - graph.without(later, earlier).longest().seconds
    worst = [words for words in saved if saved[words] > 0] or list(saved)
    lines = [f"{words} (without it {saved[words]:.0f} s less)" for words in worst]
    return lines or ["every link is a need: a duration, or a row of tests/bench/needs.yaml, is not as it was"]
