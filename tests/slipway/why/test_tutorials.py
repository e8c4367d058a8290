"""The manifests of examples/tutorials are what the rules and pools of a stack accept."""

from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from infra.target import target_of
from slipway.why import fix
from slipway.why.judge import violations
from slipway.why.manifests import located, with_trials
from spec.jobs import DAY
from tests.support.stacks import platform_of

FOLDER: Final = Path(__file__).parents[3] / "examples/tutorials"
NAMESPACES: Final = {
    "experiment": "vision-training",
    "job": "vision-training",
    "model-image": "vision-serving",
    "pipeline": "vision-training",
    "seldon": "vision-serving",
    "serving": "vision-serving",
}


def objects(name: str) -> list[dict[str, Any]]:
    documents = list(yaml.safe_load_all((FOLDER / f"{name}.yaml").read_text(encoding="utf-8")))
    return [dict(one) for _, one in with_trials(located(documents))]


def test_every_file_is_tested() -> None:
    assert {path.stem for path in FOLDER.glob("*.yaml")} == set(NAMESPACES)


@pytest.mark.parametrize("name", NAMESPACES)
def test_a_manifest_is_accepted(name: str) -> None:
    platform = platform_of("prod")
    target = target_of(platform, namespace=NAMESPACES[name])
    found = [str(one) for each in objects(name) for one in violations(each, target, platform.admission)]
    assert found == []


def test_a_published_job_is_not() -> None:
    """The same without what was added: else this test could not fail."""
    platform = platform_of("prod")
    (job,) = objects("job")
    del job["spec"]["activeDeadlineSeconds"]
    job["spec"]["template"]["spec"]["volumes"].pop()
    target = target_of(platform, namespace=NAMESPACES["job"])
    assert {one.rule.name for one in violations(job, target, platform.admission)} == {"job-bounds", "spot-checkpoint"}


def test_a_trial_is_judged_as_a_job() -> None:
    platform = platform_of("prod")
    experiment, trial = objects("experiment")
    assert trial["metadata"]["name"] == "tune-resnet-trial"
    del trial["spec"]["activeDeadlineSeconds"]
    experiment["spec"] = {**experiment["spec"], "maxTrialCount": 5000}
    target = target_of(platform, namespace=NAMESPACES["experiment"])

    def broken(one: dict[str, Any]) -> set[str]:
        return {each.rule.name for each in violations(one, target, platform.admission)}

    assert broken(trial) == {"job-bounds"}
    # Without a deadline a trial may take two weeks.
    assert broken(experiment) == {"experiment-bounds", "job-cost"}


def test_what_a_trial_lacks_is_written_into_its_template() -> None:
    platform = platform_of("prod")
    target = target_of(platform, namespace=NAMESPACES["experiment"])
    whole = (FOLDER / "experiment.yaml").read_text(encoding="utf-8")
    text = whole.replace("        activeDeadlineSeconds: 3600\n", "")
    assert text != whole
    found = with_trials(located(list(yaml.safe_load_all(text))))
    written = fix.file(text, [(at, one, target) for at, one in found], platform.admission)
    trial = yaml.safe_load(written.text)["spec"]["trialTemplate"]["trialSpec"]
    assert trial["spec"]["activeDeadlineSeconds"] == DAY
    assert "name" not in trial["metadata"]
    assert [str(one) for one in written.changes[1]] == ["spec.activeDeadlineSeconds: 86400 (job-bounds)"]
