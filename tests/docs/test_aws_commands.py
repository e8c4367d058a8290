"""Commands of the AWS CLI on the pages exist, with their options."""

import re
from collections.abc import Iterator
from functools import cache

import botocore.exceptions
import botocore.session
from botocore import xform_name

from tests.docs.pages import ROOT, code, pages

OWN = {"eks update-kubeconfig", "eks get-token", "eks wait", "logs tail", "sso login"}
"""Commands that the CLI has beside the operations of the API; all of `aws s3` are."""
GLOBAL = {"--endpoint-url", "--max-items", "--no-cli-pager", "--output", "--profile", "--query", "--region"}
COMMAND = re.compile(r"\baws ([a-z0-9-]+) ([a-z0-9-]+)(.*)")


@cache
def options(service: str, operation: str) -> frozenset[str] | None:
    """Options of a command; None if the API has no such operation."""
    try:
        model = botocore.session.get_session().get_service_model(service)
    except botocore.exceptions.UnknownServiceError:
        return None
    named = {xform_name(name, "-"): name for name in model.operation_names}
    if operation not in named:
        return None
    shape = model.operation_model(named[operation]).input_shape
    members = shape.members.items() if shape else ()
    flags = {f"--{xform_name(name, '-')}" for name, _ in members}
    return frozenset(flags | {f"--no-{xform_name(name, '-')}" for name, one in members if one.type_name == "boolean"})


RENAMED = {"sns subscribe": {"--notification-endpoint"}}
"""Options that the CLI names otherwise (aws-cli, awscli/customizations/argrename.py)."""


def wrong(line: str) -> Iterator[str]:
    """The errors in the AWS commands of a line."""
    plain = re.sub(r"'[^']*'|\"[^\"]*\"", "TEXT", line)
    for part in re.split(r"\||;|#|&&|\)", plain):
        if not (match := COMMAND.search(part)) or match[1] == "s3" or f"{match[1]} {match[2]}" in OWN:
            continue
        known = options({"s3api": "s3"}.get(match[1], match[1]), match[2])
        if known is None:
            yield f"AWS has no `{match[1]} {match[2]}`"
        else:
            yield from (
                flag
                for flag in re.findall(r"--[a-z0-9-]+", match[3])
                if flag not in known | GLOBAL | RENAMED.get(f"{match[1]} {match[2]}", set())
            )


def test_a_wrong_command_is_reported() -> None:
    assert list(wrong("aws s3api make-bucket --bucket x")) == ["AWS has no `s3api make-bucket`"]
    assert list(wrong("KEY=$(aws kms create-key --desc x --query 'a --b')")) == ["--desc"]
    assert list(wrong("aws nosuch do-it")) == ["AWS has no `nosuch do-it`"]
    assert list(wrong("aws ec2 get-console-output --latest --instance-id ID --output text | grep --x y")) == []


def test_commands_on_the_pages_exist() -> None:
    problems, count = [], 0
    for page in pages():
        for line in code(re.sub(r"\\\n\s*", " ", page.read_text(encoding="utf-8"))):
            count += bool(COMMAND.search(line))
            problems += [f"{page.relative_to(ROOT)}: {line}: {problem}" for problem in wrong(line)]
    assert count > 20
    assert problems == []
