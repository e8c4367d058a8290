"""Sessions share parsed models, and none sees what another adds."""

import gzip
import json
import threading
from pathlib import Path
from typing import Any

import boto3
import botocore.loaders
import pytest
from botocore.loaders import ExtrasProcessor, JSONFileLoader

from sandbox.aws.client import Aws, AwsError, Clients
from sandbox.aws.limits.operations import OPERATIONS
from sandbox.aws.moto import service_models
from sandbox.aws.moto.service_models import CopyingExtras, SharedFiles


@pytest.fixture
def installed(clients: Clients) -> None:
    """Moto is running, and sharing with it."""


def model(loader: Any, service: str) -> dict[str, Any]:
    found: dict[str, Any] = loader.load_service_model(service, "service-2")
    return found


def loader() -> Any:
    return boto3.Session()._session.get_component("data_loader")


def test_the_replaced_names_exist_in_botocore() -> None:
    assert "FILE_LOADER_CLASS" in vars(botocore.loaders.Loader)
    assert callable(JSONFileLoader().exists)
    assert callable(JSONFileLoader().load_file)
    assert callable(ExtrasProcessor().process)


def test_two_sessions_share_one_parse(installed: None) -> None:
    one, other = model(loader(), "ec2"), model(loader(), "ec2")
    assert one is not other
    assert one["shapes"] is other["shapes"]


def test_threads_share_one_parse(installed: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service_models, "_PARSED", {})
    read: list[str] = []
    original = service_models._read

    def noted(path: str) -> dict[str, Any] | None:
        read.append(path)
        return original(path)

    monkeypatch.setattr(service_models, "_read", noted)
    threads = [threading.Thread(target=model, args=(loader(), "eks")) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    whole = [path for path in read if path.endswith("/service-2") and "botocore/data" in path]
    assert len(whole) == 1


@pytest.mark.parametrize("service", ["sqs", "ec2", "eks", "iam", "autoscaling"])
def test_a_session_sees_the_same_model_as_without_sharing(service: str, installed: None) -> None:
    from moto.core.loaders import create_loader  # noqa: PLC0415

    moto = model(create_loader(), service)
    found = model(loader(), service)
    for made, shared in ((create_loader, moto), (loader, found)):
        alone = made()
        alone.file_loader, alone._extras_processor = JSONFileLoader(), ExtrasProcessor()
        assert shared == model(alone, service)


def test_motos_additions_to_a_model_are_invisible_to_clients(installed: None) -> None:
    from moto.core.loaders import create_loader  # noqa: PLC0415

    moto = model(create_loader(), "sqs")
    assert moto["operations"]["CreateQueue"]["output"]["resultWrapper"] == "CreateQueueResult"
    found = model(loader(), "sqs")
    assert "resultWrapper" not in found["operations"]["CreateQueue"]["output"]


def test_only_changed_parts_are_copied(installed: None) -> None:
    from moto.core.loaders import create_loader  # noqa: PLC0415

    moto, found = model(create_loader(), "ec2")["shapes"], model(loader(), "ec2")["shapes"]
    assert set(moto) - set(found) == {"AuthFailure", "DryRunOperation"}
    assert moto["Vpc"] is found["Vpc"]


def test_extras_are_merged_like_botocore() -> None:
    base: dict[str, Any] = {"a": {"b": {"c": 1}, "d": [1]}, "e": {"f": 2}, "g": 3}
    first = {"a": {"b": {"x": 1}, "d": {"y": 2}}, "g": {"z": 3}}
    extras: list[dict[str, Any]] = [{"merge": first}, {"merge": {"new": {}}}, {"version": 1}]
    expected = json.loads(json.dumps(base))
    ExtrasProcessor().process(expected, extras)
    found = dict(base)
    CopyingExtras().process(found, extras)
    assert found == expected
    assert base == {"a": {"b": {"c": 1}, "d": [1]}, "e": {"f": 2}, "g": 3}
    assert found["e"] is base["e"]


@pytest.mark.parametrize("suffix", [".json", ".json.gz"])
def test_a_file_is_read_like_botocore(suffix: str, tmp_path: Path) -> None:
    content = json.dumps({"z": "ä", "a": 1}).encode()
    path = tmp_path / f"service-2{suffix}"
    path.write_bytes(gzip.compress(content) if suffix.endswith("gz") else content)
    name = str(tmp_path / "service-2")
    for found in (SharedFiles(), JSONFileLoader()):
        assert found.exists(name)
        assert list((found.load_file(name) or {}).items()) == [("z", "ä"), ("a", 1)]
        assert not found.exists(str(tmp_path / "other"))
        assert found.load_file(str(tmp_path / "other")) is None


def test_a_client_still_refuses_unknown_parameters(aws: Aws) -> None:
    with pytest.raises(AwsError, match='Unknown parameter in input: "Nmae"'):
        aws.call("eks", "describe_cluster", Nmae="a")


def serialised(session: Any, service: str, operation: str, parameters: dict[str, Any]) -> Any:
    """The serialized request."""
    client = session.client(service, region_name="us-west-2", aws_access_key_id="a", aws_secret_access_key="b")
    shape = client.meta.service_model.operation_model(operation)
    return client._serializer.serialize_to_request(parameters, shape)


@pytest.mark.parametrize(("service", "operation", "parameters"), [
    ("ec2", "RunInstances", {"ImageId": "a", "MinCount": 1, "MaxCount": 2, "SecurityGroupIds": ["b", "c"]}),
    ("iam", "CreateRole", {"RoleName": "a", "AssumeRolePolicyDocument": "{}", "Tags": [{"Key": "b", "Value": "c"}]}),
    ("sqs", "CreateQueue", {"QueueName": "a", "Attributes": {"DelaySeconds": "1"}}),
    ("s3", "PutBucketTagging", {"Bucket": "a", "Tagging": {"TagSet": [{"Key": "b", "Value": "c"}]}}),
    ("eks", "CreateCluster", {"name": "a", "roleArn": "b", "resourcesVpcConfig": {"subnetIds": ["c"]}}),
])  # fmt: skip
def test_a_request_is_serialized_like_botocore(
    service: str, operation: str, parameters: dict[str, Any], installed: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = boto3.Session()
    assert isinstance(first._session.get_component("data_loader").file_loader, SharedFiles)
    found = serialised(first, service, operation, parameters)
    monkeypatch.setattr(botocore.loaders.Loader, "FILE_LOADER_CLASS", JSONFileLoader)
    monkeypatch.setattr(botocore.loaders, "ExtrasProcessor", ExtrasProcessor)
    assert found == serialised(boto3.Session(), service, operation, parameters)


def test_shared_documents_are_not_changed(aws: Aws) -> None:
    for service in sorted({one.service for one in OPERATIONS.values()}):
        aws.clients.get(service, aws.region)
    for service, operation in (("ec2", "describe_vpcs"), ("sqs", "list_queues"), ("s3", "list_buckets")):
        aws.call(service, operation)
    place = {"LocationConstraint": aws.region}
    aws.call("s3", "create_bucket", Bucket=f"shared-{aws.account}", CreateBucketConfiguration=place)
    shared = dict(service_models._PARSED)
    assert any("/ec2/" in path for path in shared)
    assert [path for path, document in shared.items() if JSONFileLoader().load_file(path) != document] == []


@pytest.mark.parametrize("name", ["endpoints", "s3/2006-03-01/service-2", "s3control/2018-08-20/service-2"])
def test_documents_that_botocore_changes_are_not_shared(name: str, installed: None) -> None:
    one, other = loader().load_data(name), loader().load_data(name)
    assert one == other
    shared = [key for key in one if isinstance(one[key], (dict, list)) and one[key] is other[key]]
    assert shared == []
    assert not [path for path in service_models._PARSED if path.endswith(f"/{name}")]
