"""Sample ids and computed outputs instead of a cloud's: realistic in form, derived from names only.

One sample per type. Strings are templates of `Facts`, also in nested values. A type without a sample gets its name as
id and its inputs as outputs; every other output is unknown, so that a rendering shows a gap, not an invented value.
Forms of ids and ARNs: AWS Service Authorization Reference, "Resource types" of each service.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Final

_ARN: Final = "arn:{partition}"


@dataclass(frozen=True)
class Sample:
    """Templates for one type: of its id, and of the outputs added to its inputs."""

    id: str
    outputs: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Facts:
    """Names available in templates, beside `name` and the hexadecimal digests `h7`, `h8`, `h17`, `h32` of the URN.

    `name` is the physical name: the one in the inputs, or an auto-generated one from the logical name.
    """

    urn: str
    type: str
    logical_name: str
    inputs: Mapping[str, Any]
    project: str
    stack: str
    account: str
    region: str

    @property
    def partition(self) -> str:
        """AWS partition of the region."""
        prefixes = {"cn-": "aws-cn", "us-gov-": "aws-us-gov"}
        return next((name for prefix, name in prefixes.items() if self.region.startswith(prefix)), "aws")


_EKS: Final = _ARN + ":eks:{region}:{account}"
_EC2: Final = _ARN + ":ec2:{region}:{account}"
_IAM: Final = _ARN + ":iam::{account}"
_OIDC: Final = "oidc.eks.{region}.amazonaws.com/id/{H32}"
_CERTIFICATE: Final = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSQotLS0tLUVORCBDRVJUSUZJQ0FURS0tLS0tCg=="
"""Base64 of an empty PEM certificate: it has the form that EKS returns and matches no key."""


def _ec2(prefix: str, kind: str, **outputs: Any) -> Sample:
    return Sample(prefix + "-{h17}", {"arn": f"{_EC2}:{kind}/{{id}}", "ownerId": "{account}", **outputs})


SAMPLES: Final[Mapping[str, Sample]] = {
    "aws:ec2/vpc:Vpc": _ec2(
        "vpc",
        "vpc",
        mainRouteTableId="rtb-{h17}",
        defaultRouteTableId="rtb-{h17}",
        defaultSecurityGroupId="sg-{h17}",
        defaultNetworkAclId="acl-{h17}",
        dhcpOptionsId="dopt-{h17}",
    ),
    "aws:ec2/vpcIpv4CidrBlockAssociation:VpcIpv4CidrBlockAssociation": Sample("vpc-cidr-assoc-{h17}"),
    "aws:ec2/subnet:Subnet": _ec2("subnet", "subnet"),
    "aws:ec2/internetGateway:InternetGateway": _ec2("igw", "internet-gateway"),
    "aws:ec2/eip:Eip": Sample(
        "eipalloc-{h17}", {"allocationId": "{id}", "publicIp": "192.0.2.1", "arn": _EC2 + ":elastic-ip/{id}"}
    ),
    "aws:ec2/natGateway:NatGateway": Sample("nat-{h17}", {"publicIp": "192.0.2.1", "privateIp": "198.51.100.1"}),
    "aws:ec2/routeTable:RouteTable": _ec2("rtb", "route-table"),
    "aws:ec2/route:Route": Sample("r-{h17}", {"state": "active", "origin": "CreateRoute"}),
    "aws:ec2/routeTableAssociation:RouteTableAssociation": Sample("rtbassoc-{h17}"),
    "aws:ec2/securityGroup:SecurityGroup": _ec2("sg", "security-group", name="{name}"),
    "aws:ec2/securityGroupRule:SecurityGroupRule": Sample("sgrule-{h8}", {"securityGroupRuleId": "sgr-{h17}"}),
    "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule": Sample("sgr-{h17}", {"securityGroupRuleId": "{id}"}),
    "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule": Sample("sgr-{h17}", {"securityGroupRuleId": "{id}"}),
    "aws:ec2/vpcEndpoint:VpcEndpoint": _ec2("vpce", "vpc-endpoint", prefixListId="pl-{h8}", state="available"),
    "aws:ec2/flowLog:FlowLog": Sample("fl-{h17}", {"arn": _EC2 + ":vpc-flow-log/{id}"}),
    "aws:ec2/placementGroup:PlacementGroup": Sample(
        "{name}", {"name": "{name}", "placementGroupId": "pg-{h17}", "arn": _EC2 + ":placement-group/{name}"}
    ),
    "aws:ec2/launchTemplate:LaunchTemplate": Sample(
        "lt-{h17}", {"name": "{name}", "latestVersion": 1, "defaultVersion": 1, "arn": _EC2 + ":launch-template/{id}"}
    ),
    "aws:eks/cluster:Cluster": Sample(
        "{name}",
        {
            "name": "{name}",
            "arn": _EKS + ":cluster/{name}",
            "endpoint": "https://{H32}.gr7.{region}.eks.amazonaws.com",
            "certificateAuthority": {"data": _CERTIFICATE},
            "identities": [{"oidcs": [{"issuer": "https://" + _OIDC}]}],
            "vpcConfig": {"clusterSecurityGroupId": "sg-{h17}", "vpcId": "vpc-{h17}"},
            "platformVersion": "eks.1",
            "status": "ACTIVE",
        },
    ),
    "aws:eks/nodeGroup:NodeGroup": Sample(
        "{in[clusterName]}:{name}",
        {
            "nodeGroupName": "{name}",
            "arn": _EKS + ":nodegroup/{in[clusterName]}/{name}/{h32}",
            "resources": [{"autoscalingGroups": [{"name": "eks-{name}-{h32}"}]}],
            "status": "ACTIVE",
        },
    ),
    "aws:eks/addon:Addon": Sample(
        "{in[clusterName]}:{in[addonName]}", {"arn": _EKS + ":addon/{in[clusterName]}/{in[addonName]}/{h32}"}
    ),
    "aws:eks/accessEntry:AccessEntry": Sample(
        "{in[clusterName]}:{in[principalArn]}",
        {"accessEntryArn": _EKS + ":access-entry/{in[clusterName]}/role/{account}/{logical_name}/{h32}"},
    ),
    "aws:eks/accessPolicyAssociation:AccessPolicyAssociation": Sample(
        "{in[clusterName]}#{in[principalArn]}#{in[policyArn]}"
    ),
    "aws:eks/podIdentityAssociation:PodIdentityAssociation": Sample(
        "a-{h17}", {"associationId": "{id}", "associationArn": _EKS + ":podidentityassociation/{in[clusterName]}/{id}"}
    ),
    "aws:iam/role:Role": Sample(
        "{name}", {"name": "{name}", "arn": _IAM + ":role/{name}", "uniqueId": "AROA{H17}", "path": "/"}
    ),
    "aws:iam/policy:Policy": Sample(_IAM + ":policy/{name}", {"name": "{name}", "arn": "{id}", "path": "/"}),
    "aws:iam/rolePolicy:RolePolicy": Sample("{in[role]}:{name}", {"name": "{name}"}),
    "aws:iam/rolePolicyAttachment:RolePolicyAttachment": Sample("{in[role]}/{in[policyArn]}"),
    "aws:iam/instanceProfile:InstanceProfile": Sample(
        "{name}", {"name": "{name}", "arn": _IAM + ":instance-profile/{name}"}
    ),
    "aws:iam/openIdConnectProvider:OpenIdConnectProvider": Sample(
        _IAM + ":oidc-provider/" + _OIDC,
        {"arn": "{id}", "thumbprintLists": ["0000000000000000000000000000000000000000"]},
    ),
    "aws:kms/key:Key": Sample("{uuid}", {"keyId": "{id}", "arn": _ARN + ":kms:{region}:{account}:key/{id}"}),
    "aws:kms/alias:Alias": Sample(
        "alias/{name}", {"name": "alias/{name}", "arn": _ARN + ":kms:{region}:{account}:alias/{name}"}
    ),
    "aws:cloudwatch/logGroup:LogGroup": Sample(
        "{name}", {"name": "{name}", "arn": _ARN + ":logs:{region}:{account}:log-group:{name}"}
    ),
    "aws:cloudwatch/eventRule:EventRule": Sample(
        "{name}", {"name": "{name}", "arn": _ARN + ":events:{region}:{account}:rule/{name}"}
    ),
    "aws:cloudwatch/eventTarget:EventTarget": Sample("{in[rule]}-{name}", {"targetId": "{name}"}),
    "aws:sqs/queue:Queue": Sample(
        "https://sqs.{region}.amazonaws.com/{account}/{name}",
        {"name": "{name}", "url": "{id}", "arn": _ARN + ":sqs:{region}:{account}:{name}"},
    ),
    "aws:sns/topic:Topic": Sample(_ARN + ":sns:{region}:{account}:{name}", {"name": "{name}", "arn": "{id}"}),
    "aws:s3/bucket:Bucket": Sample(
        "{name}",
        {
            "bucket": "{name}",
            "arn": _ARN + ":s3:::{name}",
            "bucketRegionalDomainName": "{name}.s3.{region}.amazonaws.com",
        },
    ),
    "aws:ecr/repository:Repository": Sample(
        "{name}",
        {
            "name": "{name}",
            "arn": _ARN + ":ecr:{region}:{account}:repository/{name}",
            "repositoryUrl": "{account}.dkr.ecr.{region}.amazonaws.com/{name}",
            "registryId": "{account}",
        },
    ),
    "aws:efs/fileSystem:FileSystem": Sample(
        "fs-{h17}",
        {
            "arn": _ARN + ":elasticfilesystem:{region}:{account}:file-system/{id}",
            "dnsName": "{id}.efs.{region}.amazonaws.com",
        },
    ),
    "aws:efs/mountTarget:MountTarget": Sample("fsmt-{h17}", {"ipAddress": "198.51.100.1"}),
    "aws:efs/accessPoint:AccessPoint": Sample(
        "fsap-{h17}", {"arn": _ARN + ":elasticfilesystem:{region}:{account}:access-point/{id}"}
    ),
    "aws:fsx/lustreFileSystem:LustreFileSystem": Sample(
        "fs-{h17}",
        {
            "arn": _ARN + ":fsx:{region}:{account}:file-system/{id}",
            "dnsName": "{id}.fsx.{region}.amazonaws.com",
            "mountName": "{h8}",
        },
    ),
    "aws:rds/instance:Instance": Sample(
        "db-{H17}",
        {
            "address": "{in[identifier]}.{h8}.{region}.rds.amazonaws.com",
            "arn": _ARN + ":rds:{region}:{account}:db:{in[identifier]}",
            "masterUserSecrets": [{"secretArn": _ARN + ":secretsmanager:{region}:{account}:secret:rds!db-{uuid}-{h7}"}],
        },
    ),
    "aws:rds/subnetGroup:SubnetGroup": Sample("{name}", {"name": "{name}"}),
    "aws:rds/parameterGroup:ParameterGroup": Sample("{name}", {"name": "{name}"}),
    "aws:costexplorer/anomalyMonitor:AnomalyMonitor": Sample(
        _ARN + ":ce::{account}:anomalymonitor/{uuid}", {"arn": "{id}"}
    ),
    "aws:ssm/parameter:Parameter": Sample(
        "{name}", {"name": "{name}", "arn": _ARN + ":ssm:{region}:{account}:parameter/{name}"}
    ),
    "kubernetes:helm.sh/v3:Release": Sample(
        "{in[namespace]}/{name}",
        {"name": "{name}", "status": {"name": "{name}", "namespace": "{in[namespace]}", "status": "deployed"}},
    ),
}

_NAME_KEYS: Final = ("name", "nodeGroupName", "bucket", "targetId")
"""Inputs that carry the physical name, for the types above."""


def answer(facts: Facts) -> tuple[str, dict[str, Any]]:
    """Id and computed outputs of a custom resource."""
    if facts.type.startswith("kubernetes:") and facts.type not in SAMPLES:
        return _kubernetes(facts)
    sample = SAMPLES.get(facts.type, Sample("{name}"))
    words = _words(facts)
    words["id"] = sample.id.format_map(words)
    return words["id"], _fill(sample.outputs, words)


def physical_name(facts: Facts) -> str:
    """The name in the inputs, without a prefix that the sample adds itself; else an auto-generated one."""
    explicit = next((facts.inputs[key] for key in _NAME_KEYS if isinstance(facts.inputs.get(key), str)), None)
    if explicit is not None:
        return str(explicit).removeprefix("alias/")
    return f"{facts.project}-{facts.stack}-{facts.logical_name}-{_digest(facts)[:7]}"


def _kubernetes(facts: Facts) -> tuple[str, dict[str, Any]]:
    metadata = facts.inputs.get("metadata")
    metadata = metadata if isinstance(metadata, Mapping) else {}
    # The provider generates missing names from the resource: "logical name-8 characters" (pulumi-kubernetes).
    name = metadata.get("name") or f"{facts.logical_name}-{_digest(facts)[:8]}"
    namespace = metadata.get("namespace")
    return f"{namespace}/{name}" if namespace else str(name), {"metadata": {"name": name}}


def _digest(facts: Facts) -> str:
    return sha256(facts.urn.encode()).hexdigest()


def _words(facts: Facts) -> dict[str, Any]:
    digest = _digest(facts)
    h = {f"h{length}": digest[:length] for length in (7, 8, 17, 32)}
    upper = {key.upper(): text.upper() for key, text in h.items()}
    uuid = "-".join((digest[:8], digest[8:12], digest[12:16], digest[16:20], digest[20:32]))
    return {
        **h,
        **upper,
        "uuid": uuid,
        "name": physical_name(facts),
        "logical_name": facts.logical_name,
        "account": facts.account,
        "region": facts.region,
        "partition": facts.partition,
        "in": _Inputs(facts.inputs),
    }


class _Inputs(dict[str, Any]):
    """Inputs by name in a template; a missing input is an empty string, as in an AWS id with optional parts."""

    def __missing__(self, key: str) -> str:
        return ""


def _fill(value: Any, words: Mapping[str, Any]) -> Any:
    if isinstance(value, str):
        return value.format_map(words)
    if isinstance(value, Mapping):
        return {key: _fill(item, words) for key, item in value.items()}
    if isinstance(value, list):
        return [_fill(item, words) for item in value]
    return value
