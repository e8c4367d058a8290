"""One object of every mapping."""

from pathlib import Path

from tests.sandbox.aws.samples import coded
from tests.sandbox.aws.samples.sample import Sample, rows
from tests.sandbox.aws.samples.world import World

SAMPLES: dict[str, Sample] = {
    **coded.SAMPLES,
    **{token: one for file in sorted(Path(__file__).parent.glob("*.yaml")) for token, one in rows(file).items()},
}

__all__ = ["SAMPLES", "Sample", "World"]
