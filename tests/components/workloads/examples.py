"""Runs the examples like a user's program, with the project's own stack files."""

import runpy
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Final

import pulumi
import yaml

from components.workloads import Target
from infra.target import STACKS, target_from_file
from tests.support.mocks import Recording, providers, run

ROOT: Final = Path(__file__).parents[3]
EXAMPLES: Final = tuple(sorted(path.parent.name for path in (ROOT / "examples").glob("*/Pulumi.yaml")))


def settings(name: str) -> dict[str, Any]:
    """The Pulumi.yaml of an example."""
    content: dict[str, Any] = yaml.safe_load((ROOT / "examples" / name / "Pulumi.yaml").read_text(encoding="utf-8"))
    return content


@cache
def target(name: str) -> Target:
    """The target that an example names."""
    config = settings(name)["config"]
    stacks = ROOT / "examples" / name / config.get("stacks", {"default": STACKS})["default"]
    namespace = config["namespace"]["default"]
    return target_from_file(config["platform"]["default"], stacks.resolve(), namespace=namespace)


def builder(name: str) -> Callable[[Target, pulumi.ResourceOptions], pulumi.ComponentResource]:
    """The `build` of an example."""
    build: Callable[[Target, pulumi.ResourceOptions], pulumi.ComponentResource]
    build = runpy.run_path(str(ROOT / "examples" / name / "__main__.py"), run_name="example")["build"]
    return build


def record(name: str) -> Recording:
    """The resources of an example."""

    def program() -> pulumi.Output[str]:
        # The one setting without a default: the bucket's name is known when the platform exists.
        pulumi.runtime.set_config(f"{pulumi.get_project()}:models", f"s3://models-1a2b3c4/{target(name).namespace}/")
        return builder(name)(target(name), pulumi.ResourceOptions(providers=providers())).urn

    return run(program)


@cache
def manifests(name: str) -> tuple[dict[str, Any], ...]:
    """Manifests of an example, dependencies first."""
    declared = [dict(each.inputs) for each in record(name) if each.type.startswith("kubernetes:")]
    return tuple(
        sorted(declared, key=lambda each: each["kind"] not in ("ConfigMap", "TrainingRuntime", "ServingRuntime"))
    )
