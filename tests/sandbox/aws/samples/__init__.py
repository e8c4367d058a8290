"""One object of every mapping."""

from tests.sandbox.aws.samples import access, compute, identity, messages, network, storage
from tests.sandbox.aws.samples.sample import Sample
from tests.sandbox.aws.samples.world import World

SAMPLES: dict[str, Sample] = {
    **network.SAMPLES, **identity.SAMPLES, **compute.SAMPLES, **storage.SAMPLES, **messages.SAMPLES,
    **access.SAMPLES,
}  # fmt: skip

__all__ = ["SAMPLES", "Sample", "World"]
