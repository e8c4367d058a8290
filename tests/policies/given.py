"""The stack file that fixtures belong to: two teams, their queues, one admission rule, and a group of readers."""

import json
from base64 import b64encode
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import replace
from functools import cache
from typing import Any, Final

from pydantic.alias_generators import to_camel

from infra.boundaries import Boundaries, Identity
from policies.resources import tokens
from policies.stack_file import Declared, Program, StackFile, from_platform
from spec.settings import load, read_stack
from spec.settings.admission import Action, Admission
from tests.policies.build import FixtureResource
from tests.support.day import TODAY
from tests.support.stacks import FOLDER

SAMPLE: Final = "arn:aws:iam::111122223333:role/slipway-prod-reader-c79d466"
OUTPUTS: Final = {SAMPLE: r"arn:aws:iam::111122223333:role/slipway\-prod\-reader\-[0-9A-Za-z-]+"}
PROGRAM: Final[Program] = {
    f"urn:pulumi:prod::slipway::{kind}::{name}": Declared(
        inputs=inputs, options={"protect": protect, "ignoreChanges": []}, filled=True, outputs=OUTPUTS
    )
    for name, kind, protect, inputs in (
        ("cluster", tokens.CLUSTER, True, {"name": "slipway-prod"}),
        (
            "role",
            tokens.ROLE,
            False,
            {
                "assumeRolePolicy": json.dumps({"Statement": [{"Principal": {"Federated": SAMPLE}}]}),
                "description": "Reads buckets",
            },
        ),
        ("nodes", tokens.LAUNCH_TEMPLATE, False, {"userData": b64encode(f"role={SAMPLE}".encode()).decode()}),
        ("chart", tokens.RELEASE, False, {"chart": "kueue", "version": "1.0.0", "compat": "true", "values": {"a": 1}}),
        ("settings", tokens.CONFIG_MAP, False, {"metadata": {"name": "settings", "namespace": "scanner"}}),
        ("password", tokens.SECRET, False, {"stringData": {"user": "slipway", "password": "[secret]"}}),
        ("stack", tokens.STACK, False, {"cluster": "slipway-prod"}),
    )
}
"""What the settings give for the fixtures of `rendering.yaml`."""
ACCOUNT: Final = "arn:aws:iam::111122223333:role/"
RULE: Final = "image-tag.platform.slipway"


def _team(name: str) -> dict[str, Any]:
    return {
        "project": "p",
        "costCenter": "c",
        "members": {"engineers": {"principalArn": f"{ACCOUNT}{name}"}},
        "cpus": {"cpu": {"nominalQuota": 4}},
    }


@cache
def stack_file() -> StackFile:
    """Parts of stack dev, so that a comparison with each of its objects takes little time."""
    settings: Any = deepcopy(read_stack("dev", FOLDER))
    del settings["cost"]
    settings["pools"] = {name: settings["pools"][name] for name in ("system", "cpu")}
    settings["cluster"]["access"]["readers"] = {"principalArn": f"{ACCOUNT}readers", "kubernetesGroups": ["readers"]}
    settings["admission"] = {
        to_camel(name): "off" for name, field in Admission.model_fields.items() if field.annotation is Action
    }
    del settings["admission"]["imageTag"]
    image, scanner = f"registry.example.com/scanner@sha256:{'0' * 64}", {"name": "scanner", "namespace": "scanner"}
    settings["extensions"] = {
        "space": {"apiVersion": "v1", "kind": "Namespace", "name": "scanner"},
        "code": {**scanner, "apiVersion": "apps/v1", "kind": "Deployment", "images": [image]},
        "service": {**scanner, "apiVersion": "v1", "kind": "Service"},
        "configuration": {**scanner, "apiVersion": "v1", "kind": "ConfigMap"},
        "settings": {**scanner, "apiVersion": "v1", "kind": "ConfigMap", "name": "settings"},
        "rules": {**scanner, "apiVersion": "monitoring.coreos.com/v1", "kind": "PrometheusRule"},
        **{
            name: {"apiVersion": "v1", "kind": "ConfigMap", "namespace": "monitoring", "name": name}
            for name in ("shown", "kube-prometheus-stack-x")
        },
        "agent": {"apiVersion": "v1", "kind": "Service", "namespace": "kube-system", "name": "agent"},
        "quota": {"apiVersion": "v1", "kind": "ResourceQuota", "namespace": "vision", "name": "fewer"},
        "class": {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "name": "first"},
    }
    more = {"addons": {"kueue": {}}, "storage": {}, "teams": {name: _team(name) for name in ("vision", "language")}}
    file = from_platform(load({**settings, **more}, stack="dev", today=TODAY).platform, PROGRAM)
    file.__dict__["boundaries"] = replace(file.boundaries, off=frozenset())
    return file


def given() -> Boundaries:
    """What it gives."""
    return stack_file().boundaries


def object_of(identity: Identity) -> FixtureResource:
    """One of its objects."""
    return FixtureResource(type=identity[0], props=deepcopy(dict(given().objects[identity])))


def all_objects() -> Mapping[str, FixtureResource]:
    """All of its objects, by a logical name."""
    return {
        f"{kind.rpartition(':')[2]}-{place}-{name}": object_of((kind, place, name))
        for kind, place, name in given().objects
    }


def all_names() -> Mapping[str, FixtureResource]:
    """The same, with names alone."""
    kept = ("name", "namespace")
    return {
        key: replace(
            one,
            props={"metadata": {name: one.props["metadata"][name] for name in kept if name in one.props["metadata"]}},
        )
        for key, one in all_objects().items()
    }
