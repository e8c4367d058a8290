"""`make adversary`: tries every probe, and prints how many of those that have to be refused are refused, by halves."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from slipway.sandbox.kubernetes.client import KubeClient
from tests.adversary import cluster, pipeline, program
from tests.adversary.changes import CHANGES
from tests.adversary.commits import COMMITS
from tests.adversary.probe import Probe, held_out
from tests.adversary.requests import REQUESTS
from tests.rehearsal.repository import Repository
from tests.slipway.sandbox.plane import start_plane


@contextmanager
def api_server(folder: Path) -> Iterator[KubeClient]:
    """A real API server with what the stack declares."""
    plane = start_plane(folder)
    try:
        plane.pool.create("test", "1.36")
        cluster.prepare(plane.client, REQUESTS)
        cluster.in_effect(plane.client, REQUESTS)
        yield plane.client
    finally:
        plane.supervisor.stop_all()


def main() -> int:
    """Exit code 1 if an act that has to be refused gets through, or an accepted one is refused."""
    parser = argparse.ArgumentParser(prog="python -m tests.adversary", description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="draws the half that is held out (default: 1)")
    seed = parser.parse_args().seed
    # A short path: a socket's has 107 bytes at most.
    with tempfile.TemporaryDirectory(prefix="adv") as name:
        folder = Path(name)
        repository = Repository.make(folder / "checkout")
        with api_server(folder / "plane") as client:
            asks: dict[Probe, Callable[[], str]] = {
                **{probe: partial(cluster.ask, client, probe, index) for index, probe in enumerate(REQUESTS)},
                **{probe: partial(program.ask, probe) for probe in CHANGES},
                **{probe: partial(pipeline.ask, repository, probe) for probe in COMMITS},
            }
            refused = {probe: bool(ask()) for probe, ask in asks.items()}
    return report(refused, seed)


def report(refused: dict[Probe, bool], seed: int) -> int:
    """Print what went otherwise than listed, and the rates."""
    wrong = [probe for probe, was in refused.items() if was is bool(probe.accepted)]
    for probe in wrong:
        print(f"{'through' if not probe.accepted else 'refused'}: {probe.actor}: {probe.act}")
    held = held_out(refused, seed)
    for name, half in (("held out", held), ("known", frozenset(refused) - held), ("all", frozenset(refused))):
        due = [probe for probe in half if not probe.accepted]
        count = sum(refused[probe] for probe in due)
        print(f"{name}: {count} of {len(due)} refused ({count / len(due):.1%}), {len(half) - len(due)} accepted")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
