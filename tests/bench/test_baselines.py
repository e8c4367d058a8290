import runpy
from collections import Counter
from pathlib import Path

import pytest

from slipway.render.recorder import record
from slipway.render.recording import Recording
from tests.bench.baselines import PLAIN_RECORDS, SAME_IMPORTS, Baseline, modules
from tests.bench.samples import recorded


def kinds(recording: Recording) -> Counter[bool]:
    return Counter(resource.custom for resource in recording)


def providers(recording: Recording) -> Counter[str]:
    return Counter(resource.type.partition(":")[0] for resource in recording if resource.custom)


def made(baseline: Baseline, directory: Path) -> Recording:
    path = baseline.write(directory / baseline.name, recorded()) / "__main__.py"

    def program() -> None:
        runpy.run_path(str(path))

    return record(program, project="trivial", stack="trivial")


@pytest.mark.parametrize("baseline", [SAME_IMPORTS, PLAIN_RECORDS], ids=lambda baseline: baseline.name)
def test_a_baseline_has_as_many_components_and_resources_as_prod(tmp_path: Path, baseline: Baseline) -> None:
    program = made(baseline, tmp_path)
    assert kinds(program) == kinds(recorded())
    assert program.default_provider_users == ()


def test_one_has_as_many_of_each_provider_and_the_other_records_of_aws_alone(tmp_path: Path) -> None:
    assert providers(made(SAME_IMPORTS, tmp_path)) == providers(recorded())
    assert providers(made(PLAIN_RECORDS, tmp_path)).keys() == {"aws", "pulumi"}


def test_plain_records_import_neither_our_code_nor_the_sdk_of_kubernetes(tmp_path: Path) -> None:
    plain = (PLAIN_RECORDS.write(tmp_path / "plain", recorded()) / "__main__.py").read_text()
    same = (SAME_IMPORTS.write(tmp_path / "same", recorded()) / "__main__.py").read_text()
    assert "infra" not in plain
    assert "kubernetes" not in plain.replace("kubernetes.apiextensions", "").replace("range(0)", "")
    assert all(name in same for name in modules(recorded()))


def test_the_imports_of_prod_are_known() -> None:
    assert {"infra.program", "pulumi_aws.ec2", "pulumi_aws.eks", "pulumi_aws.iam"} <= set(modules(recorded()))
