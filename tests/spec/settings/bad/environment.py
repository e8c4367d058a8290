"""Mistakes of the environment and account."""

from __future__ import annotations

from typing import Final

from tests.spec.settings.bad.row import Bad

ENVIRONMENT: Final = (
    Bad(37, "emoji in a tag", {"environment.owner": "ml 🚀"}, "environment.owner", "letters", "Use"),
    Bad(37, "zero-width space", {"environment.costCenter": "ml\u200bteam"}, "environment.costCenter", "letters", "Use"),
    Bad(37, "right-to-left override", {"environment.owner": "ml\u202egnp"}, "environment.owner", "letters", "Use"),
    Bad(
        37, "other letters in a name", {"pools.gpü": {"preset": "cpu"}}, "pools.gpü", "lower-case letters", "start with"
    ),
    Bad(
        38,
        "tag of AWS",
        {"environment.tags": {"aws:team": "x"}},
        "environment.tags.aws:team",
        "reserved for AWS",
        "another key",
    ),
    Bad(
        38,
        "tag key too long",
        {"environment.tags": {"k" * 129: "x"}},
        f"environment.tags.{'k' * 129}",
        "at most 128",
        "Shorten it by 1",
    ),
    Bad(
        38,
        "tag value too long",
        {"environment.tags": {"k": "v" * 257}},
        "environment.tags.k",
        "at most 256",
        "Shorten it by 1",
    ),
    Bad(
        38,
        "too many tags",
        {"environment.tags": {f"k{i}": "v" for i in range(46)}},
        "environment.tags",
        "at most 50",
        "Remove",
    ),
    Bad(38, "a tag of Slipway's", {"environment.tags": {"Owner": "x"}}, "environment.tags.Owner", "set once", "Remove"),
    Bad(
        11,
        "unknown region",
        {
            "account.region": "us-east-9",
            "network.zones": ["us-east-9a", "us-east-9b"],
            "pools.h100.zones": ["us-east-9a"],
        },
        "account.region",
        "must exist",
        "Did you mean us-east-2 or us-east-1? Use one of af-south-1, ap-east-1,",
    ),
    Bad(
        11,
        "a zone for a region",
        {"account.region": "us-east-1a"},
        "account.region",
        "named like us-east-1",
        "Use one of af-south-1, ap-east-1,",
    ),
    Bad(
        63,
        "access key",
        {"environment.tags": {"note": "AKIAABCDEFGHIJKLMNOP"}},
        "environment.tags.note",
        "AWS access key",
        "Revoke it",
    ),
    Bad(
        63,
        "model hub token",
        {"environment.owner": "hf_abcdefghijklmnopqrstuv"},
        "environment.owner",
        "Hugging Face",
        "Revoke it",
    ),
    Bad(
        63,
        "placeholder",
        {"environment.owner": "CHANGEME"},
        "environment.owner",
        "placeholder must be replaced",
        "real value",
    ),
)
