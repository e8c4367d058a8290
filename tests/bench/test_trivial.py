from __future__ import annotations

import runpy
from collections import Counter
from pathlib import Path

import pytest

from slipway.render.recorder import record
from slipway.render.recording import Recording
from tests.bench import trivial
from tests.bench.previews import modules, recorded, size


def kinds(recording: Recording) -> Counter[bool]:
    return Counter(resource.custom for resource in recording)


def providers(recording: Recording) -> Counter[str]:
    return Counter(resource.type.partition(":")[0] for resource in recording if resource.custom)


@pytest.mark.parametrize("alike", [True, False])
def test_the_trivial_program_has_as_many_components_and_resources_as_prod(tmp_path: Path, alike: bool) -> None:
    whole = size(recorded())
    imports = modules(recorded()) if alike else ()
    directory = trivial.write(tmp_path / "p", whole if alike else whole.without_kubernetes, imports)

    def program() -> None:
        runpy.run_path(str(directory / "__main__.py"))

    made = record(program, project="trivial", stack="trivial")

    assert kinds(made) == kinds(recorded())
    assert made.default_provider_users == ()
    if alike:
        assert providers(made) == providers(recorded())
    else:
        assert providers(made).keys() == {"aws", "pulumi"}


def test_the_imports_of_prod_are_known() -> None:
    assert {"infra.program", "pulumi_aws.ec2", "pulumi_aws.eks", "pulumi_aws.iam"} <= set(modules(recorded()))
