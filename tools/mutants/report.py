"""What is printed about mutants, and whether the rate will do."""

import math
from collections.abc import Sequence
from typing import Final

from tools.mutants.verdict import Result, Verdict

BOUND: Final = 0.97  # part of the mutants that tests must notice
_NORMAL_95: Final = 1.96  # quantile of the normal distribution for an interval of 95 %


def line(number: int, count: int, result: Result) -> str:
    """A mutant on one line."""
    verdict, mutant = result.verdict.value, result.mutant
    outcome = f"{number:>3}/{count}  {verdict:<8}  {result.stage:<4}  {result.seconds:6.1f} s"
    return f"{outcome}  {mutant.operator:<10}  {mutant.place}"


def summary(results: Sequence[Result]) -> str:
    """Survivors and errors at length, then the rate."""
    parts = [_shown(result) for result in results if result.verdict in (Verdict.SURVIVED, Verdict.ERROR)]
    noticed, measured = _counts(results)
    errors = len(results) - measured
    if measured:
        low, high = interval(noticed, measured)
        parts.append(
            f"{noticed} of {measured} mutants killed: {noticed / measured:.2%}, minimum {BOUND:.0%} "
            f"(95 % interval of all such mutants: {low:.0%} to {high:.0%})"
        )
    if errors or not measured:
        parts.append(f"{errors} of {len(results)} mutants not measured")
    return "\n".join(parts)


def exit_code(results: Sequence[Result]) -> int:
    """1 where too few mutants were killed, or one could not be measured."""
    noticed, measured = _counts(results)
    return 0 if measured and measured == len(results) and noticed >= BOUND * measured else 1


def interval(noticed: int, measured: int) -> tuple[float, float]:
    """Bounds of the rate of all mutants, of which some were drawn, by Wilson's score (JASA 22, 1927)."""
    rate, z2 = noticed / measured, _NORMAL_95**2
    middle = rate + z2 / (2 * measured)
    spread = _NORMAL_95 * math.sqrt(rate * (1 - rate) / measured + z2 / (4 * measured**2))
    scale = 1 + z2 / measured
    return (middle - spread) / scale, (middle + spread) / scale


def _counts(results: Sequence[Result]) -> tuple[int, int]:
    """Mutants that tests noticed, and all that were measured. One that never ends is noticed."""
    noticed = sum(result.verdict in (Verdict.KILLED, Verdict.TIMEOUT) for result in results)
    return noticed, sum(result.verdict is not Verdict.ERROR for result in results)


def _shown(result: Result) -> str:
    title = f"\n{result.verdict.value}: {result.mutant.place} ({result.mutant.operator})"
    return "\n".join(filter(None, (title, result.output, result.mutant.diff)))
