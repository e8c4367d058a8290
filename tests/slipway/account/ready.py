"""An account that is ready for a stack, and boto3 clients that answer from it.

Arguments are validated by botocore as ever, and every answer is held against the operation's output shape.
"""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import cache
from typing import Any, Final

import boto3
from botocore.validate import ParamValidator

from spec.catalog import addons, quotas
from spec.settings.platform import Platform

# An AWS that answers as a test says: real boto3 clients, whose requests end before they are sent.


Answer = Mapping[str, Any] | Callable[[Mapping[str, Any]], Mapping[str, Any]]


class Error(Exception):
    """An error answer of AWS."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class _Http:
    def __init__(self, status_code: int) -> None:
        self.status_code = status_code


@cache
def _session(region: str) -> boto3.Session:
    """One for all tests: a session reads each service's model once, which takes most of the time of a client."""
    return boto3.Session(aws_access_key_id="test", aws_secret_access_key="test", region_name=region)


class FakeAws:
    """Clients by service.

    Args:
        region: Region of the clients.
        answers: By `service.Operation`: the answer, or a function of the operation's arguments that returns it or
            raises `Error`. Any other operation fails the test.
    """

    def __init__(self, region: str, answers: Mapping[str, Answer]) -> None:
        self._session = _session(region)
        self._answers = answers
        self._clients: dict[str, Any] = {}
        self.asked: set[str] = set()

    def __call__(self, service: str) -> Any:
        """The client of a service."""
        if service not in self._clients:
            client = self._session.client(service)
            client.meta.events.register("provide-client-params.*.*", self._remember)
            client.meta.events.register("before-call.*.*", self._answer)
            self._clients[service] = client
        return self._clients[service]

    def _remember(self, params: Mapping[str, Any], context: dict[str, Any], **_: Any) -> None:
        context["arguments"] = dict(params)

    def _answer(self, model: Any, context: Mapping[str, Any], **_: Any) -> tuple[_Http, dict[str, Any]]:
        name = f"{model.service_model.service_name}.{model.name}"
        self.asked.add(name)
        assert name in self._answers, f"{name} was not expected"
        answer = self._answers[name]
        try:
            body = dict(answer(context["arguments"]) if callable(answer) else answer)
        except Error as error:
            return _Http(400), {"Error": {"Code": error.code, "Message": error.code}, "ResponseMetadata": {}}
        if model.output_shape is not None:
            problems = ParamValidator().validate(body, model.output_shape)
            assert not problems.has_errors(), f"{name}: {problems.generate_report()}"
        return _Http(200), body


# An account in which stack prod can be deployed, as answers of AWS.


ZONE_IDS: Final = {"us-east-1a": "use1-az6", "us-east-1b": "use1-az1", "us-east-1c": "use1-az4"}
DEPLOYER: Final = "assumed-role/platform-admin/session"
RESERVED: Final[Mapping[str, Any]] = {
    "CapacityReservationId": "cr-0a1b2c3d4e5f67890",
    "InstanceType": "p5.48xlarge",
    "AvailabilityZone": "us-east-1b",
    "TotalInstanceCount": 4,
    "State": "active",
    "EndDate": datetime(2027, 4, 5, 11, 30, tzinfo=UTC),
}
CERTIFICATE: Final[Mapping[str, Any]] = {
    "DomainName": "*.models.example.com",
    "SubjectAlternativeNames": ["*.models.example.com"],
    "Status": "ISSUED",
    "NotAfter": datetime(2027, 11, 1, tzinfo=UTC),
}


def answers(platform: Platform) -> dict[str, Answer]:
    """Answers of an account that lacks nothing."""
    account, region = platform.account.id, platform.account.region

    def role(arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        name = arguments["RoleName"]
        return {"Role": role_of(f"arn:aws:iam::{account}:role/{name}", name)}

    def offerings(arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        types = arguments["Filters"][0]["Values"]
        places = [{"InstanceType": kind, "Location": zone} for kind in types for zone in platform.network.zones]
        return {"InstanceTypeOfferings": places}

    def versions(arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        pin = addons.get(arguments["addonName"]).version(arguments["kubernetesVersion"])
        return {"addons": [{"addonName": arguments["addonName"], "addonVersions": [{"addonVersion": pin or "v1"}]}]}

    return {
        "sts.GetCallerIdentity": {"Account": account, "Arn": f"arn:aws:sts::{account}:{DEPLOYER}"},
        "ec2.DescribeRegions": {"Regions": [{"RegionName": region, "OptInStatus": "opt-in-not-required"}]},
        "iam.GetRole": role,
        "iam.ListAttachedRolePolicies": {"AttachedPolicies": [{"PolicyName": "slipway-deployer"}]},
        "service-quotas.GetServiceQuota": {"Quota": {"Value": 5000.0}},
        "eks.DescribeCluster": no_such_cluster,
        "ec2.DescribeAddresses": {"Addresses": []},
        "ec2.DescribeVpcs": {"Vpcs": [{"VpcId": "vpc-1"}]},
        "ec2.DescribeAvailabilityZones": {"AvailabilityZones": [zone(name) for name in platform.network.zones]},
        "ec2.DescribeInstanceTypeOfferings": offerings,
        "ec2.DescribeCapacityReservations": {"CapacityReservations": [RESERVED]},
        "eks.DescribeClusterVersions": {
            "clusterVersions": [
                {
                    "clusterVersion": platform.cluster.version,
                    "versionStatus": "STANDARD_SUPPORT",
                    "endOfStandardSupportDate": datetime(2027, 3, 27, tzinfo=UTC),
                }
            ]
        },
        "acm.DescribeCertificate": {"Certificate": CERTIFICATE},
        "eks.DescribeAddonVersions": versions,
        "ssm.GetParameter": lambda arguments: {
            "Parameter": {"Name": arguments["Name"], "Value": platform.cluster.ami_release}
        },
        "ce.GetAnomalyMonitors": {"AnomalyMonitors": []},
        "ce.ListCostAllocationTags": lambda arguments: {
            "CostAllocationTags": [
                {"TagKey": key, "Type": "UserDefined", "Status": "Active"} for key in arguments["TagKeys"]
            ]
        },
        "s3.HeadBucket": {},
        "s3.GetBucketVersioning": {"Status": "Enabled"},
        "kms.DescribeKey": {"KeyMetadata": {"KeyId": "1", "KeyState": "Enabled"}},
    }


def role_of(arn: str, name: str) -> Mapping[str, Any]:
    """A role, as IAM describes it."""
    return {
        "Arn": arn,
        "RoleName": name,
        "Path": "/",
        "RoleId": "A" * 16,
        "CreateDate": datetime(2026, 1, 1, tzinfo=UTC),
    }


def zone(name: str, state: str = "available") -> dict[str, str]:
    """A zone, as EC2 describes it, with the ID that stack prod declares."""
    return {"ZoneName": name, "ZoneId": ZONE_IDS[name], "State": state, "ZoneType": "availability-zone"}


def no_such_cluster(_: Mapping[str, Any]) -> Mapping[str, Any]:
    """The stack was never deployed."""
    code = "ResourceNotFoundException"
    raise Error(code)


def granted(key: str, value: float) -> Answer:
    """Every quota is ample, but one on vCPUs."""
    code = quotas.VCPUS[key].code
    return lambda arguments: {"Quota": {"Value": value if arguments["QuotaCode"] == code else 5000.0}}


def refused(code: str) -> Answer:
    """An operation that always ends with an error."""

    def answer(_: Mapping[str, Any]) -> Mapping[str, Any]:
        raise Error(code)

    return answer
