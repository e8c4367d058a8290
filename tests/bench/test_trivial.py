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


@pytest.mark.parametrize("same_imports", [False, True])
def test_the_trivial_program_has_as_many_components_and_resources_as_prod(tmp_path: Path, same_imports: bool) -> None:
    components, resources = size(recorded())
    imports = modules(recorded()) if same_imports else ()
    directory = trivial.write(tmp_path / "p", components=components, resources=resources, modules=imports)

    def program() -> None:
        runpy.run_path(str(directory / "__main__.py"))

    made = record(program, project="trivial", stack="trivial")

    # Prod has two providers and the trivial program one, in whose place it has one more resource.
    assert kinds(made) == kinds(recorded())
    assert made.default_provider_users == ()
    assert {found.type for found in made if found.custom} == {
        "aws:mediapackage/channel:Channel",
        "pulumi:providers:aws",
    }


def test_the_imports_of_prod_are_known() -> None:
    assert {"infra.program", "pulumi_aws.ec2", "pulumi_aws.eks", "pulumi_aws.iam"} <= set(modules(recorded()))
