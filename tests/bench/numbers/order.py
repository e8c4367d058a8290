"""How near the order in which a stack is made comes to the best possible one."""

from __future__ import annotations

from typing import Final

from slipway.render.program import record_platform
from slipway.render.recording import Recording
from spec.settings import load, read_stack
from tests.bench.context import ROOT, Bench
from tests.bench.durations import SOURCES, duration_of
from tests.bench.figure import Figure
from tests.bench.needs import is_true, shortest
from tests.bench.waits import Chain, Graph, waits

BOUND: Final = 1.05
STACK: Final = "prod"
DEVICE_PLUGIN: Final = "gpu-operator-release"


def measure(bench: Bench) -> list[Figure]:
    """The longest chain of waits of stack prod beside the shortest possible one."""
    platform = load(read_stack(STACK, ROOT / "stacks"), stack=STACK).platform
    return [compare(record_platform(platform, stack=STACK))]


def compare(recording: Recording) -> Figure:
    """The figure of one program."""
    graph = Graph({found.urn: duration_of(found).seconds for found in recording}, waits(recording))
    actual, best = graph.longest(), shortest(recording).longest()
    ratio = actual.seconds / best.seconds
    notes = [*describe(recording, actual), f"shortest possible: {best.seconds:.0f} s: {' -> '.join(best.links)}"]
    if any(found.name == DEVICE_PLUGIN for found in recording):
        gpus = graph.until(recording.named(DEVICE_PLUGIN).urn).longest()
        notes.append(f"until the first GPU can be asked for: {gpus.seconds:.0f} s ({DEVICE_PLUGIN})")
    if ratio > BOUND:
        notes += blame(recording, graph, actual)
    return Figure(
        name="order",
        value=ratio,
        unit="x",
        bound=BOUND,
        how=f"longest chain of waits of {recording.stack}, {actual.seconds:.0f} s, over the best, {best.seconds:.0f} s",
        notes=tuple(notes),
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
            lines.append(f"  {duration.seconds:4.0f} s  {name} ({duration.source or 'no source: a few seconds'})")
    return [*lines, *(f"{key}: {SOURCES[key]}" for key in sorted(key for key in sources if key))]


def blame(recording: Recording, graph: Graph, chain: Chain) -> list[str]:
    """The links of the chain that nothing in AWS or Kubernetes asks for, and what is saved without each.

    Where others wait for as long beside it, a single one saves nothing; then all are named.
    """
    saved: dict[str, float] = {}
    for earlier, later in zip(chain.links, chain.links[1:], strict=False):
        before, after = recording.resources[earlier], recording.resources[later]
        if duration_of(before).seconds > 0 and not is_true(after, before):
            words = f"no true need: {after.name} waits for {before.name}"
            saved[words] = chain.seconds - graph.without(later, earlier).longest().seconds
    worst = [words for words in saved if saved[words] > 0] or list(saved)
    found = [f"{words} (without it {saved[words]:.0f} s less)" for words in worst]
    return found or ["every link is a true need: a duration, or a step of tests/bench/needs.py, is not as it was"]
