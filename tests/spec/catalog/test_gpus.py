import pytest

from spec.catalog import gpus, instances, mig


def test_each_model_is_on_some_instance_type_and_each_gpu_has_a_model() -> None:
    on_instances = {kind.gpu_name for kind in instances.ALL.values() if kind.gpu_name}

    assert on_instances == set(gpus.GPUS)


def test_the_two_variants_of_the_a100_differ_by_memory() -> None:
    assert gpus.by_ec2("A100", 40960).name == "A100-40GB"
    assert gpus.by_ec2("A100", 81920).name == "A100-80GB"
    assert {gpus.get("A100-40GB").accelerator, gpus.get("A100-80GB").accelerator} == {"nvidia-a100"}


def test_mig_is_for_data_centre_gpus_and_reboots_the_a100_only() -> None:
    modes = {model.name: model.mig for model in gpus.GPUS.values()}

    assert {name for name, mode in modes.items() if mode == "reboot"} == {"A100-40GB", "A100-80GB"}
    assert {name for name, mode in modes.items() if mode == "none"} == {"T4", "A10G", "L4", "L40S"}
    assert {model.name for model in gpus.GPUS.values() if model.mig_capable} == set(mig.PROFILES)


def test_pci_ids_belong_to_one_model_of_nvidia() -> None:
    ids = [pci for model in gpus.GPUS.values() for pci in model.pci_ids]

    assert len(ids) == len(set(ids))
    assert all(pci.endswith("10DE") for pci in ids)


def test_an_unknown_gpu_is_refused() -> None:
    with pytest.raises(KeyError, match=r"no GPU 'V100': it has .*A100-40GB"):
        gpus.get("V100")
    with pytest.raises(KeyError, match="99 MiB"):
        gpus.by_ec2("A100", 99)
