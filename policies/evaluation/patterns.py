"""Patterns of credentials, by the format of their issuers. Messages name the format, never the credential."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

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
