"""Moto's memory is the same after it was written and read."""

import pickle
import threading
from collections.abc import Callable
from typing import Any

import pytest
from moto.core.base_backend import BackendDict

from sandbox.aws.client import Aws
from sandbox.aws.moto import memory
from sandbox.errors import SandboxError
from tests.sandbox.conftest import forget

TRUST = '{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"AWS":"*"},"Action":"sts:AssumeRole"}]}'
QUESTIONS = (
    ("ec2", "describe_vpcs"), ("ec2", "describe_subnets"), ("ec2", "describe_security_groups"),
    ("ec2", "describe_launch_template_versions", "LaunchTemplateName", "nodes"), ("ec2", "describe_route_tables"),
    ("iam", "get_role", "RoleName", "node"), ("iam", "list_role_policies", "RoleName", "node"),
    ("eks", "describe_cluster", "name", "brief"), ("eks", "list_addons", "clusterName", "brief"),
    ("eks", "describe_addon", "clusterName", "brief", "addonName", "coredns"),
    ("eks", "list_pod_identity_associations", "clusterName", "brief"),
    ("s3", "list_object_versions", "Bucket", "the-bucket"), ("s3", "get_bucket_versioning", "Bucket", "the-bucket"),
    ("logs", "describe_log_groups"), ("efs", "describe_file_systems"), ("efs", "describe_mount_targets", "FileSystemId", "fs"),
    ("secretsmanager", "get_secret_value", "SecretId", "token"), ("cloudwatch", "describe_alarms"),
    ("events", "list_rules"), ("events", "list_targets_by_rule", "Rule", "spot"), ("sqs", "list_queues"),
    ("sns", "list_topics"), ("fsx", "describe_file_systems"), ("budgets", "describe_budgets", "AccountId", "account"),
    ("ecr", "describe_repositories"), ("autoscaling", "describe_tags"),
)  # fmt: skip
"""The account's answers, by service and operation, with a parameter; a value in `filled` replaces its own name."""
