"""The wrong variants of the workload table before submission: by the settings of the stack, without a cluster."""

from __future__ import annotations

from dataclasses import replace

import pytest

from components.addons.kueue.configuration import FRAMEWORKS
from components.workloads.target import Target
from slipway.why.manifests import answer
from spec.settings.admission import Admission
from tests.e2e.workloads.rows import DEV, Objects, Row
from tests.e2e.workloads.wrong import WRONG, Wrong
from tests.support.stacks import platform_of


def target(namespace: str) -> Target:
    """A namespace of dev, with the operators that the table adds."""
    found = Target.of(platform_of("dev"), namespace=namespace)
    return replace(found, addons=None, queued=frozenset(FRAMEWORKS.values()))


def asked(namespace: str, objects: Objects) -> list[str]:
    """What holds the last of some objects: the layer, and the sentence."""
    found = answer(objects[-1], target=target(namespace), rules=Admission(), dry_run=None, others=objects)
    return [str(found.part.layer), found.sentence, found.part.fix]


@pytest.mark.parametrize("variant", WRONG, ids=lambda each: each.name)
def test_a_wrong_variant_is_explained_before_submission(variant: Wrong) -> None:
    layer, sentence, fix = asked(variant.namespace, variant.objects())
    if variant.file is None:
        assert layer == "accepted"
        return
    assert layer == variant.file.layer, sentence
    assert variant.file.words in sentence
    assert fix


@pytest.mark.parametrize("row", DEV, ids=lambda each: each.name)
def test_the_right_ones_are_accepted(row: Row) -> None:
    assert asked(row.namespace, row.twin())[0] == "accepted"
