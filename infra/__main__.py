"""Entry point of the Pulumi program: load the settings, build the platform, export what others need."""

import os
from collections.abc import Mapping
from typing import Any

import pulumi

from infra.program import build, build_network
from spec.errors import SlipwayError
from spec.naming import NETWORK_ONLY
from spec.settings import KEY, PROJECT, load


def _declare() -> Mapping[str, Any]:
    settings = load(pulumi.Config(PROJECT).get_object(KEY), stack=pulumi.get_stack())
    for warning in settings.warnings:
        pulumi.log.warn(str(warning))
    return (build_network if os.environ.get(NETWORK_ONLY) else build)(settings.platform)


try:
    declared = _declare()
except SlipwayError as error:
    # RunError ends the program with its message and without a traceback.
    raise pulumi.RunError(str(error)) from None
for key, value in declared.items():
    pulumi.export(key, value)
