"""`make adversary`: tries every probe, and prints how many of those that have to be refused are refused."""

import argparse
import tempfile
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from sandbox.aws.moto import server as moto_server
from tests.adversary import cluster, machine, program
from tests.adversary.probe import AUTHORS, INDEPENDENT, Change, Commit, Probe, Request, Visit, held_out
from tests.adversary.probes import PROBES, REQUESTS
from tests.rehearsal.repository import Repository
from tests.sandbox.plane import ControlPlane


def main() -> int:
    """Exit code 1 if an act that has to be refused gets through, or one that has to go on is refused."""
    parser = argparse.ArgumentParser(prog="python -m tests.adversary", description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="draws the half that is held out (default: 1)")
    parser.add_argument("--verbose", action="store_true", help="print the answer to each act")
    options = parser.parse_args()
    # A short path: a socket's has 107 bytes at most.
    with tempfile.TemporaryDirectory(prefix="adv") as name:
        folder = Path(name)
        repository = Repository.make(folder / "checkout")
        moto = moto_server.start()
        try:
            with cluster.api_server(folder / "plane", REQUESTS) as plane:
                answers: dict[Probe, str] = {}
                for probe in PROBES:
                    start = time.monotonic()
                    answers[probe] = asking(probe, plane, moto, repository, folder / "plane")()
                    if options.verbose:
                        took = time.monotonic() - start
                        print(
                            f"{probe.origin}: {probe.actor}: {probe.act}: {answers[probe] or 'through'} ({took:.1f} s)"
                        )
        finally:
            moto.stop()
    return report({probe: bool(answer) for probe, answer in answers.items()}, options.seed)


def asking(
    probe: Probe, plane: ControlPlane, moto: moto_server.MotoServer, repository: Repository, folder: Path
) -> Callable[[], str]:
    """What tries the probe."""
    if isinstance(probe, Request):
        return partial(cluster.ask, plane.client, probe, REQUESTS.index(probe))
    if isinstance(probe, Change):
        return partial(program.ask, probe)
    if isinstance(probe, Commit):
        return partial(program.ask_pipeline, repository, probe)
    assert isinstance(probe, Visit)
    return partial(machine.ask, probe, plane, moto, folder)


def report(refused: dict[Probe, bool], seed: int) -> int:
    """Print what went otherwise than listed, and the rates."""
    wrong = [probe for probe, was in refused.items() if was is not probe.due]
    for probe in wrong:
        known = f"; known: {probe.gap}" if probe.gap else ""
        print(f"{'through' if probe.due else 'refused'}: {probe.actor}: {probe.act}{known}")
    held = held_out((probe for probe in refused if probe.origin == AUTHORS), seed)
    rest = frozenset(probe for probe in refused if probe.origin == AUTHORS) - held
    independent = frozenset(probe for probe in refused if probe.origin == INDEPENDENT)
    for probe, was in refused.items():
        if probe.gap and was:
            print(f"no gap any more, remove it from known.py: {probe.act}")
    for name, half in (("held out", held), ("known", rest), ("independent", independent), ("all", frozenset(refused))):
        print(rate(name, half, refused))
        if name in ("independent", "all"):
            for kind in (Request, Change, Commit, Visit):
                print(rate(f"  {kind.__name__.lower()}s", {one for one in half if isinstance(one, kind)}, refused))
    return 1 if any(not probe.gap for probe in wrong) else 0


def rate(name: str, probes: Iterable[Probe], refused: dict[Probe, bool]) -> str:
    """One line: how many of the probes that have to be refused are, and how much of the work goes on."""
    due = [probe for probe in probes if probe.due]
    work = [probe for probe in probes if probe.legitimate]
    accepted = sum(bool(probe.accepted) for probe in probes)
    count = sum(refused[probe] for probe in due)
    goes_on = f", {sum(not refused[probe] for probe in work)} of {len(work)} legitimate go on" if work else ""
    return f"{name}: {count} of {len(due)} refused ({count / max(len(due), 1):.1%}), {accepted} accepted{goes_on}"


if __name__ == "__main__":
    raise SystemExit(main())
