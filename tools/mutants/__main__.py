"""`python -m tools.mutants`: tries a sample of mutants, and fails where tests notice too few of them."""

import argparse
import signal
import sys
import tempfile
from collections.abc import Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import closing
from pathlib import Path
from queue import SimpleQueue
from typing import Final

from tools.mutants import copies, report
from tools.mutants.sample import sample, sources
from tools.mutants.selection import Selection
from tools.mutants.source import Mutant
from tools.mutants.trial import Runner
from tools.mutants.verdict import Evaluation, Result

ROOT: Final = Path(__file__).resolve().parents[2]
FOLDERS: Final = ("spec", "components", "infra", "policies", "sandbox", "slipway")
"""Folders whose files are changed, as far as they exist."""
WORKERS: Final = 2


def evaluated(tree: Path, mutants: Sequence[Mutant], directory: Path, *, everything: bool = False) -> Generator[Result]:
    """What becomes of the mutants of a tree, as they are done; copies are made in `directory`."""
    made = [copies.make(tree, directory, f"copy{number}") for number in range(WORKERS)]
    free: SimpleQueue[copies.Copy] = SimpleQueue()
    for copy in made:
        copies.require_own_imports(copy, [folder for folder in FOLDERS if (copy.root / folder).is_dir()])
        free.put(copy)
    # The work tree may change while this runs.
    root = made[0].root
    runner = Runner()
    evaluation = Evaluation(Selection(root, sources(root, FOLDERS), everything=everything), runner)

    def one(mutant: Mutant) -> Result:
        copy = free.get()
        try:
            return evaluation.of(mutant, copy)
        finally:
            free.put(copy)

    with ThreadPoolExecutor(WORKERS) as pool:
        futures: list[Future[Result]] = [pool.submit(one, mutant) for mutant in mutants]
        try:
            yield from (future.result() for future in as_completed(futures))
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            runner.stop()


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code 1 where the rate is below `report.BOUND`, 2 where nothing could be tried."""
    parser = argparse.ArgumentParser(prog="python -m tools.mutants", description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="another seed draws other mutants")
    parser.add_argument("--count", type=int, default=60, help="how many mutants to draw")
    parser.add_argument("--within", default="", metavar="PATH", help="draw from files whose path begins so")
    parser.add_argument("--all", action="store_true", help="run all tests where the module's own and near ones pass")
    parser.add_argument("--tree", type=Path, default=ROOT, help="the project whose source is changed")
    options = parser.parse_args(arguments)
    tree = options.tree.resolve()
    mutants = sample(tree, sources(tree, FOLDERS, options.within), options.seed, options.count)
    results: list[Result] = []
    try:
        with (
            tempfile.TemporaryDirectory(prefix="mutants-", ignore_cleanup_errors=True) as directory,
            closing(evaluated(tree, mutants, Path(directory), everything=options.all)) as found,
        ):
            for result in found:
                results.append(result)
                print(report.line(len(results), len(mutants), result), flush=True)
    except copies.CopyError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"interrupted after {len(results)} of {len(mutants)} mutants", file=sys.stderr)
        return 130
    print(report.summary(sorted(results, key=lambda result: (result.mutant.path, result.mutant.line))))
    return report.exit_code(results)


if __name__ == "__main__":
    # A run that is ended takes its tests with it, as Ctrl-C does; a shell's background jobs ignore that one.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.exit(main())
