"""How fast the machine is at the moment, for comparing two runs: most bounds are in seconds, not ratios."""

import json
import time
from typing import Final

from tests.bench.context import Bench
from tests.bench.figure import Figure

OBJECTS: Final = 20_000
TIMES: Final = 3
ROUNDS: Final = 5


def measure(bench: Bench) -> list[Figure]:
    """A fixed piece of work without any code of this project, so that it is the same for every commit."""
    bench.say("the speed of the machine")
    how = f"processor time of the interpreter for a fixed document of {OBJECTS:,} objects, minimum of {ROUNDS}"
    return [Figure(name="speed", value=seconds(), unit="s", how=how)]


def seconds() -> float:
    """Processor time of this thread for the work, the minimum of a few rounds."""
    document = [
        {"name": f"resource-{index}", "tags": {"team": index % 7, "pool": str(index)}, "ports": list(range(8))}
        for index in range(OBJECTS)
    ]
    return min(_round(document) for _ in range(ROUNDS))


def _round(document: object) -> float:
    started = time.thread_time()
    for _ in range(TIMES):
        found = json.loads(json.dumps(document, sort_keys=True))
        assert {one["name"].upper(): sorted(one["tags"].items(), key=str) for one in found}
    return time.thread_time() - started
