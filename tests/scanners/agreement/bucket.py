"""An S3 bucket, alone and with a resource about it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policies.resources import tokens
from tests.policies.fixtures.build import Fixture
from tests.scanners.agreement.spelling import of


def bucket(**props: Any) -> Fixture:
    return {"bucket": of(tokens.BUCKET, {"bucket": "slipway-models", **props})}


def about_bucket(kind: str, props: Mapping[str, Any], **inline: Any) -> Fixture:
    """A bucket and a resource about it."""
    return {**bucket(**inline), "about": of(kind, props, bucket="bucket")}
