"""The wheel's parts, outside of the clone: the sandbox, the pack on a program of others, `why` by kubeconfig."""

import shutil
from collections.abc import Iterator

import pytest
import yaml

from tests.e2e.test_any_program import PROGRAMS
from tests.support.installed import Installed, build

pytestmark = pytest.mark.sandbox

JOBS = """\
{apiVersion: batch/v1, kind: Job, metadata: {name: waits, namespace: default}, spec: {template: {spec: {
  restartPolicy: Never, nodeSelector: {no: node}, containers: [{name: main, image: "train:1"}]}}}}
---
{apiVersion: batch/v1, kind: Job, metadata: {name: wrong, namespace: default}, spec: {template: {spec: {
  restartPolicy: Sometimes, containers: [{name: main, image: "train:1"}]}}}}
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installed]:
    wheel = build(tmp_path_factory.mktemp("wheel"))
    made = Installed.make(wheel, tmp_path_factory.mktemp("parts"), "policies", "sandbox")
    shutil.copytree(PROGRAMS / "node_groups", made.folder, dirs_exist_ok=True)
    yield made
    run(made, "sandbox", "stop")


def run(installed: Installed, *words: str, **variables: str) -> tuple[int, str]:
    """The exit code and the output of `slipway`, with a sandbox in the folder."""
    home = installed.folder / "sandbox"
    done = installed.run("slipway", *words, SLIPWAY_SANDBOX_HOME=str(home), SLIPWAY_CHARTS="none", **variables)
    return done.returncode, done.stdout + done.stderr


def test_pack_sandbox_and_why_need_no_clone(installed: Installed) -> None:
    code, written = run(installed, "policies", "--pack", "pack")
    assert code == 0, written
    engine = ("sandbox", "run", "--", "pulumi")
    code, found = run(installed, *engine, "preview", "--stack", "lab", "--policy-pack", "pack")
    assert code != 0, found
    assert "[mandatory]" in found
    assert "eks-secrets-cmk" in found

    code, made = run(installed, *engine, "up", "--yes", "--stack", "lab")
    assert code == 0, made
    assert "node" in made

    own = yaml.safe_load((installed.folder / "sandbox" / "kubeconfig").read_text(encoding="utf-8"))
    kubeconfig = installed.folder / "config"
    kubeconfig.write_text(yaml.safe_dump(own), encoding="utf-8")
    (installed.folder / "jobs.yaml").write_text(JOBS, encoding="utf-8")
    code, answers = run(installed, "why", "jobs.yaml", KUBECONFIG=str(kubeconfig))
    first, second = answers.split("\n\n")
    assert code == 1
    assert first.startswith("job/waits would be accepted")
    assert 'Unsupported value: "Sometimes"' in second
