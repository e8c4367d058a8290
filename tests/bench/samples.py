"""Stack prod as it is recorded, the same with other waits, and stacks with other settings."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any, Final

from slipway.charts.variants import variants
from slipway.render.program import record_platform
from slipway.render.recording import Recording
from spec.settings import load, read_stack
from tests.bench.context import ROOT
from tests.support import stacks

STACK: Final = "prod"
ENDPOINTS: Final = ("ec2", "ecr.api", "ecr.dkr", "eks", "eks-auth", "logs", "sts", "secretsmanager")
"""What the checks ask for where there is no NAT and MLflow has a database."""


def recorded() -> Recording:
    """What stack prod registers with the engine; the recording that other tests of the process use, too."""
    return stacks.recorded(STACK)


def with_wait(later: str, earlier: str) -> Recording:
    """Prod with a dependency of the resource named `later` on the one named `earlier`."""
    recording = recorded()
    first, second = recording.named(later), recording.named(earlier)
    options = replace(first.options, dependencies=(*first.options.dependencies, second.urn))
    return replace(recording, resources={**recording.resources, first.urn: replace(first, options=options)})


@cache
def without_nat() -> Recording:
    """Stack dev with VPC endpoints as the only way out."""
    raw: Any = read_stack("dev", ROOT / "stacks")
    usage = {key: value for key, value in raw["cost"]["usage"].items() if key != "natGib"}
    network = {**raw["network"], "nat": "none", "endpoints": list(ENDPOINTS)}
    changed = {**raw, "network": network, "cost": {**raw["cost"], "usage": usage}}
    return record_platform(load(changed, stack="dev").platform, stack="dev")


def with_every_add_on() -> Iterator[Recording]:
    """Stack prod with all add-ons, in as many programs as it takes because some exclude others."""
    seen: set[tuple[str, ...]] = set()
    for platform in variants(stacks.platform_of(STACK)):
        names = tuple(name for name, _ in platform.addons.wanted())
        if names not in seen:
            seen.add(names)
            yield record_platform(platform, stack=STACK)
