"""EKS."""

from __future__ import annotations

from slipway.sandbox.aws.limits.operations import sends

OPERATIONS = (
    sends(
        "aws:eks/cluster:Cluster", "eks", "create_cluster",
        members={
            "vpcConfig": "resourcesVpcConfig", "enabledClusterLogTypes": "logging.clusterLogging.types",
        },
        provider="defaultAddonsToRemoves forceUpdateVersion",
        output="vpcConfig.clusterSecurityGroupId vpcConfig.vpcId kubernetesNetworkConfig.serviceIpv6Cidr",
    ),
    sends(
        "aws:eks/nodeGroup:NodeGroup", "eks", "create_nodegroup update_nodegroup_version",
        members={
            "nodeGroupName": "nodegroupName", "nodeRoleArn": "nodeRole", "subnetIds": "subnets",
            "remoteAccess.sourceSecurityGroupIds": "sourceSecurityGroups",
            "forceUpdateVersion": "update_nodegroup_version:force",
        },
    ),
    sends(
        "aws:eks/addon:Addon", "eks", "create_addon update_addon delete_addon",
        members={
            "resolveConflictsOnCreate": "resolveConflicts",
            "resolveConflictsOnUpdate": "update_addon:resolveConflicts",
        },
    ),
    sends(
        "aws:eks/accessEntry:AccessEntry", "eks", "create_access_entry", members={"userName": "username"},
    ),
    sends("aws:eks/accessPolicyAssociation:AccessPolicyAssociation", "eks", "associate_access_policy"),
    sends("aws:eks/podIdentityAssociation:PodIdentityAssociation", "eks", "create_pod_identity_association"),
)  # fmt: skip
