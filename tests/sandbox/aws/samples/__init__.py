"""One object of every mapping."""

from tests.sandbox.aws.samples import data, eks, iam, messages, network
from tests.sandbox.aws.samples.sample import Sample
from tests.sandbox.aws.samples.world import World

SAMPLES: dict[str, Sample] = {
    **data.SAMPLES, **eks.SAMPLES, **iam.SAMPLES, **messages.SAMPLES, **network.SAMPLES,
}  # fmt: skip

__all__ = ["SAMPLES", "Sample", "World"]
