"""StorageClasses: one default, encrypted, expandable, with parameters of their drivers."""

from __future__ import annotations

import json
from uuid import uuid4

import pytest

from components.storage import classes
from spec.catalog import names as limits
from spec.naming import physical_length
from spec.settings.checks.teams import WORKLOAD_ROLE
from spec.settings.storage import Lustre

DEFAULT = "storageclass.kubernetes.io/is-default-class"


def _place(**settings: object) -> classes.LustrePlace:
    lustre = Lustre.model_validate_json(json.dumps(settings))
    return classes.LustrePlace(settings=lustre, subnet_id="subnet-1", security_group_id="sg-1")


def test_the_default_class_creates_encrypted_volumes_in_the_pods_zone() -> None:
    manifests = [classes.block("key"), classes.shared("fs-1"), classes.lustre(_place(), "key", {})]
    defaults = [one for one in manifests if one["metadata"].get("annotations", {}).get(DEFAULT) == "true"]
    assert [one["metadata"]["name"] for one in defaults] == ["gp3"]
    assert defaults[0]["volumeBindingMode"] == "WaitForFirstConsumer"
    assert defaults[0]["allowVolumeExpansion"] is True
    assert defaults[0]["parameters"] == {"type": "gp3", "encrypted": "true", "kmsKeyId": "key"}


def test_claims_of_the_shared_class_get_their_own_directory_and_user() -> None:
    parameters = classes.shared("fs-1")["parameters"]
    assert parameters["provisioningMode"] == "efs-ap"
    assert parameters["subPathPattern"] == "${.PVC.namespace}/${.PVC.name}"
    assert classes.shared("fs-1")["mountOptions"] == ["tls", "iam"]
    # With a fixed uid and gid every claim would have the same user on the file system.
    assert not {"uid", "gid"} & set(parameters)


def test_the_path_of_checkpoints_fits_the_longest_namespace() -> None:
    """100 characters in total; the driver adds a dash and a UUID (botocore, efs `Path`)."""
    parameters = classes.shared("fs-1")["parameters"]
    node = limits.limit("iam-role").longest - physical_length("slipway", "a", WORKLOAD_ROLE.format(namespace=""))
    path = f"{parameters['basePath']}/{parameters['subPathPattern']}-{uuid4()}"
    assert len(path.replace("${.PVC.namespace}", "n" * node).replace("${.PVC.name}", "checkpoints")) <= 100
    assert path.count("/") <= 4


@pytest.mark.parametrize(
    ("settings", "throughput", "key"),
    [
        ({}, "250", "key"),
        ({"perUnitStorageThroughput": 1000}, "1000", "key"),
        ({"deploymentType": "SCRATCH_2"}, None, None),
    ],
)
def test_file_systems_of_the_lustre_class_are_like_the_shared_one(
    settings: dict[str, object], throughput: str | None, key: str | None
) -> None:
    parameters = classes.lustre(_place(**settings), "key", {"owner": "ml", "environment": "test"})["parameters"]
    assert parameters.get("perUnitStorageThroughput") == throughput
    assert parameters.get("kmsKeyId") == key
    assert parameters["extraTags"] == "environment=test,owner=ml"


def test_parameters_of_classes_are_strings() -> None:
    manifests = (classes.block("key"), classes.shared("fs-1"), classes.lustre(_place(), "key", {"owner": "ml"}))
    assert all(isinstance(value, str) for one in manifests for value in one["parameters"].values())
