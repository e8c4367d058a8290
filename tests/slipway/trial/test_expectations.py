"""Folders of manifests with their expectations."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from slipway.trial.expectations import Expectation, read
from spec.errors import SlipwayError

JOB = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "train"}}
CLAIM = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data"}}


def folder(path: Path, expect: object = None, **files: object) -> Path:
    for name, document in files.items():
        (path / f"{name}.yaml").write_text(yaml.safe_dump(document), encoding="utf-8")
    if expect is not None:
        (path / "try.yaml").write_text(yaml.safe_dump(expect), encoding="utf-8")
    return path


def test_a_folder_without_expectations_expects_that_everything_is_accepted(tmp_path: Path) -> None:
    trial = read(folder(tmp_path, b={"kind": "List", "items": [JOB]}, a=CLAIM))
    assert list(trial.manifests) == ["persistentvolumeclaim/data", "job/train"]
    assert trial.expected["job/train"] == Expectation()
    assert (trial.namespace, trial.within("job/train")) == (None, 60)


def test_expectations_are_read_with_their_time(tmp_path: Path) -> None:
    expect = {
        "namespace": "vision",
        "within": "30s",
        "expect": {"job/train": {"completesWithin": "2m", "runsOn": "cpu"}},
    }
    trial = read(folder(tmp_path, expect, a=JOB, b=CLAIM))
    assert trial.expected["job/train"].runs_on == "cpu"
    assert [trial.within(name) for name in trial.manifests] == [120, 30]


@pytest.mark.parametrize(
    ("expect", "files", "error"),
    [
        (None, {}, "has no manifests"),
        (None, {"a": {"kind": "Job"}}, "needs apiVersion, kind and metadata.name"),
        (None, {"a": JOB, "b": JOB}, "job/train is in the folder twice"),
        ({"expect": {"job/tarin": {}}}, {"a": JOB}, "job/tarin: not in the folder, which has job/train"),
        ({"expect": {"job/train": {"runOn": "cpu"}}}, {"a": JOB}, "runOn: Extra inputs are not permitted"),
        ({"expect": {"job/train": {"completesWithin": "fast"}}}, {"a": JOB}, "completesWithin"),
        ({"expect": {"job/train": {"heldBy": "quote"}}}, {"a": JOB}, "no layer is called quote: use one of admission"),
    ],
)
def test_a_wrong_folder_is_refused(tmp_path: Path, expect: object, files: dict[str, object], error: str) -> None:
    with pytest.raises(SlipwayError, match=error):
        read(folder(tmp_path, expect, **files))


def test_an_object_whose_name_the_api_server_would_generate_gets_one(tmp_path: Path) -> None:
    """As Kueue's own samples; the expectations can name it."""
    job = {**JOB, "metadata": {"generateName": "sample-job-", "labels": {"a": "b"}}}
    trial = read(folder(tmp_path, {"expect": {"job/sample-job-try": {"admitted": True}}}, a=job))
    assert trial.manifests["job/sample-job-try"]["metadata"] == {"name": "sample-job-try", "labels": {"a": "b"}}
    assert trial.expected["job/sample-job-try"].admitted


def test_what_is_no_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SlipwayError, match="is not a folder"):
        read(tmp_path / "nowhere")


def test_a_file_that_is_no_yaml_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("a: [", encoding="utf-8")
    with pytest.raises(SlipwayError, match="is not YAML"):
        read(tmp_path)
