"""Stack prod as it is rendered, and the same with one more wait."""

from __future__ import annotations

from dataclasses import replace

from slipway.render.recording import Recording
from tests.bench.previews import recorded


def with_wait(later: str, earlier: str) -> Recording:
    """Prod with a dependency of the resource named `later` on the one named `earlier`."""
    recording = recorded()
    first, second = recording.named(later), recording.named(earlier)
    options = replace(first.options, dependencies=(*first.options.dependencies, second.urn))
    return replace(recording, resources={**recording.resources, first.urn: replace(first, options=options)})
