"""Entry point of the Pulumi program: load the settings, build the platform, export what others need."""

import pulumi

from infra.program import build
from spec.errors import SlipwayError
from spec.settings import KEY, PROJECT, Loaded, load


def _settings() -> Loaded:
    try:
        return load(pulumi.Config(PROJECT).get_object(KEY), stack=pulumi.get_stack())
    except SlipwayError as error:
        # RunError ends the program with its message and without a traceback.
        raise pulumi.RunError(str(error)) from None


settings = _settings()
for warning in settings.warnings:
    pulumi.log.warn(str(warning))
for key, value in build(settings.platform).items():
    pulumi.export(key, value)
