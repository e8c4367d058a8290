from itertools import product
from typing import Any, get_args

import botocore.session
import pytest

from spec.catalog import amis


@pytest.mark.parametrize(("os", "gpu", "arch"), list(product(get_args(amis.Os), (False, True), get_args(amis.Arch))))
def test_ami_types_are_in_the_enumeration_of_the_eks_api(os: amis.Os, gpu: bool, arch: amis.Arch) -> None:
    enumeration: Any = botocore.session.get_session().get_service_model("eks").shape_for("AMITypes")

    name = amis.ami_type(os, gpu=gpu, arch=arch)
    assert name in enumeration.enum
    assert ("NVIDIA" in name) == gpu
    assert ("ARM" in name) == (arch == "arm64")


def test_karpenter_aliases_are_pinned_or_the_latest() -> None:
    assert amis.karpenter_alias("al2023") == "al2023@latest"
    assert amis.karpenter_alias("al2023", "v20261101") == "al2023@v20261101"
    assert amis.karpenter_alias("bottlerocket", "v1.64.0") == "bottlerocket@v1.64.0"


def test_release_parameters_name_version_variant_and_architecture() -> None:
    assert (
        amis.release_parameter("al2023", "1.35", gpu=True)
        == "/aws/service/eks/optimized-ami/1.35/amazon-linux-2023/x86_64/nvidia/recommended/release_version"
    )
    assert (
        amis.release_parameter("bottlerocket", "1.35", gpu=True, arch="arm64")
        == "/aws/service/bottlerocket/aws-k8s-1.35-nvidia/arm64/latest/image_version"
    )
