"""Entry point of the Pulumi program: load the settings, build the platform, export what others need."""

import os

import pulumi

from infra.program import build, build_network
from spec.errors import SlipwayError
from spec.naming import NETWORK_ONLY
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
declared = (build_network if os.environ.get(NETWORK_ONLY) else build)(settings.platform)
for key, value in declared.items():
    pulumi.export(key, value)
