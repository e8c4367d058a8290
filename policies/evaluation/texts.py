"""What texts contain: credentials, by the format of their issuers, and user data (base64, MIME parts, NodeConfig).

Messages name the format of a credential, never the credential.
"""

import base64
import binascii
import re
from collections.abc import Iterator, Mapping
from email import message_from_string
from typing import Any, Final

import yaml

from spec import strict_yaml

FORMS: Final[Mapping[str, re.Pattern[str]]] = {
    # IAM User Guide, "Unique identifiers": AKIA long-term keys, ASIA temporary ones.
    "AWS access key": re.compile(r"(?<![A-Za-z0-9])(?:AKIA|ASIA)[A-Z2-7]{16}(?![A-Za-z0-9])"),
    "AWS secret key": re.compile(
        r"(?i)aws_?secret_?(?:access_?)?key['\"]?\s*[:=]\s*['\"]?[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])"
    ),
    "Hugging Face token": re.compile(r"(?<![A-Za-z0-9])hf_[A-Za-z0-9]{34,}"),
    # GitHub's blog of 2021-04-05, "Behind GitHub's new authentication token formats".
    "GitHub token": re.compile(r"(?<![A-Za-z0-9])(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{40,})"),
    "NVIDIA NGC key": re.compile(r"(?<![A-Za-z0-9])nvapi-[A-Za-z0-9_-]{40,}"),
    "API key": re.compile(r"(?<![A-Za-z0-9-])sk-(?:ant-|proj-)?[A-Za-z0-9_-]{32,}"),
    "Slack token": re.compile(r"(?<![A-Za-z0-9])xox[abprs]-[A-Za-z0-9-]{10,}"),
    "private key": re.compile(r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----"),
}

SHORTEST: Final = len("xoxb-") + 10
"""The shortest text that matches a format, a Slack token: most texts of a resource are shorter."""


def credentials(text: str) -> Iterator[str]:
    """Formats of the credentials in a text."""
    if len(text) < SHORTEST:
        return iter(())
    return (form for form, pattern in FORMS.items() if pattern.search(text))


_NODE_CONFIG = "application/node.eks.aws"


def decoded(text: str) -> str:
    """The decoded text: user data is base64 in a launch template, and plain text in an EC2NodeClass."""
    try:
        return base64.b64decode(text, validate=True).decode()
    except (binascii.Error, ValueError):
        return text


def parts(text: str) -> Iterator[tuple[str, str]]:
    """Content type and text of each part; user data that is not MIME multipart is one part."""
    message = message_from_string(text)
    if not message.is_multipart():
        yield message.get_content_type(), text
        return
    for part in message.walk():
        payload = part.get_payload()
        if isinstance(payload, str):
            yield part.get_content_type(), payload


def kubelet(text: str) -> Iterator[tuple[str, Any]]:
    """Settings of the kubelet in all NodeConfigs: keys of the configuration, and flags with their dashes."""
    for kind, part in parts(text):
        if kind != _NODE_CONFIG and "node.eks.aws/" not in part:
            continue
        settings = _spec(part).get("kubelet")
        if isinstance(settings, Mapping):
            yield from _flat(settings.get("config"))
            yield from _flags(settings.get("flags"))


def _spec(part: str) -> Mapping[str, Any]:
    try:
        document = strict_yaml.one(part)
    except yaml.YAMLError:
        return {}
    spec = document.get("spec") if isinstance(document, Mapping) else None
    return spec if isinstance(spec, Mapping) else {}


def _flat(config: Any, above: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(config, Mapping):
        for key, value in config.items():
            yield from _flat(value, f"{above}.{key}" if above else str(key))
    elif above:
        yield above, config


def _flags(flags: Any) -> Iterator[tuple[str, Any]]:
    for flag in flags if isinstance(flags, list) else []:
        name, _, value = str(flag).lstrip("-").partition("=")
        yield f"--{name}", strict_yaml.one(value) if value else True
