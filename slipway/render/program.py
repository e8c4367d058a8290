"""Runs the platform's program on settings, without the engine."""

from dataclasses import replace

import pulumi

from infra.program import build
from slipway.render.monitor import answers
from slipway.render.recorder import record
from slipway.render.recording import Recording, RenderError
from spec.settings import PROJECT, Platform


def record_platform(platform: Platform, *, stack: str, preview: bool = False) -> Recording:
    """Run `infra.program.build` and record it.

    Raises:
        RenderError: As for `record`, and if a resource would use a default provider: `Pulumi.yaml` disables those, so
            the engine would refuse it.
    """

    def program() -> None:
        for key, value in build(platform).items():
            pulumi.export(key, value)

    recording = record(program, project=PROJECT, stack=stack, preview=preview, answers=answers(platform))
    users = recording.default_provider_users
    if users:
        msg = (
            f"{users[0]}: every resource must have an explicit provider, and {len(users)} would use a default one with "
            "ambient credentials. Pass `providers=` to its component, and `parent=self` to the children."
        )
        raise RenderError(msg)
    return replace(recording, platform=platform)
