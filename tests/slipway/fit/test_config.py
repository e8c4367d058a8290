"""Reading a config.json: sizes, formats of the weights, files beside it, and what is refused."""

import json
from pathlib import Path
from typing import Any, Final

import pytest

from slipway.fit.architectures import Stored
from slipway.fit.checkpoint import FILE, load
from slipway.fit.config import read
from slipway.fit.formats import stored
from slipway.fit.workload import problems
from spec.catalog import document
from spec.settings.problems import ConfigurationError
from tests.slipway.fit.published import work
from tests.support.cases import beside

CASES: Final = beside(__file__)

ENTRIES = document.load(FILE)["architectures"]
LLAMA = ENTRIES["llama-3.1-8b"]["config"]


def write(folder: Path, content: dict[str, Any], name: str = "config.json") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(json.dumps(content), encoding="utf-8")
    return folder


def test_a_folder_and_its_file_give_the_same_model(tmp_path: Path) -> None:
    folder = write(tmp_path / "llama", LLAMA)
    assert load(folder).layers == load(folder / "config.json").layers
    assert (load(folder).name, load(folder).params) == ("llama", load(folder).counted)


def test_an_index_beside_the_file_gives_the_number_of_parameters(tmp_path: Path) -> None:
    write(tmp_path, {**LLAMA, "torch_dtype": "bfloat16"})
    write(tmp_path, {"metadata": {"total_size": 16_060_522_496}}, "model.safetensors.index.json")
    assert load(tmp_path).params == 8_030_261_248
    write(tmp_path, {"metadata": {"total_parameters": 8_030_261_249}}, "model.safetensors.index.json")
    assert load(tmp_path).params == 8_030_261_249


def test_bytes_of_quantised_weights_are_no_number_of_parameters(tmp_path: Path) -> None:
    write(tmp_path, {**LLAMA, "torch_dtype": "bfloat16", "quantization_config": {"quant_method": "fp8"}})
    write(tmp_path, {"metadata": {"total_size": 9e9}}, "model.safetensors.index.json")
    assert load(tmp_path).params == load(tmp_path).counted


def test_a_pipeline_is_read_from_its_folders(tmp_path: Path) -> None:
    write(tmp_path, {"_class_name": "FluxPipeline"}, "model_index.json")
    for part, content in ENTRIES["flux.1-dev"]["components"].items():
        write(tmp_path / part, content)
    write(tmp_path / "scheduler", {"_class_name": "FlowMatchEulerDiscreteScheduler"})
    flux = load(tmp_path)
    assert flux.diffusion
    assert set(flux.diffusion.parts) == {"text_encoder", "text_encoder_2", "vae"}


@pytest.mark.parametrize(("quantization", "name", "bits", "experts_only"), CASES["the format of the weights"])
def test_the_format_of_the_weights(quantization: dict[str, Any], name: str, bits: float, experts_only: bool) -> None:
    found = stored(quantization)
    assert (found.name, found.experts_only) == (name, experts_only)
    assert found.bits == pytest.approx(bits)


def test_compressed_tensors_of_kimi_quantise_the_experts_alone() -> None:
    assert stored(ENTRIES["kimi-k2.5"]["config"]["text_config"]["quantization_config"]) == Stored("int4", 4.5, True)


def test_an_unknown_method_needs_a_precision() -> None:
    model = read({**LLAMA, "quantization_config": {"quant_method": "newest"}}, name="new")
    (problem,) = problems(work(model, mode="serve", precision="checkpoint", seq=1))
    assert "quantization_config has the unknown method 'newest'" in str(problem)
    assert not list(problems(work(model, mode="serve", precision="fp8", seq=1)))


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "a file of another kind": ({"model_type": "llama"}, "num_hidden_layers or n_layer: is required"),
    "an unknown model type": ({**LLAMA, "model_type": "new"}, "model_type: must be a known type (given: 'new')"),
    "experts of another width": ({**LLAMA, "moe_latent_size": 1024}, "moe_latent_size: is not supported"),
    "a hybrid without its pattern": ({**LLAMA, "model_type": "nemotron_h"}, "hybrid_override_pattern: is required"),
}


@pytest.mark.parametrize(("content", "text"), REFUSED.values(), ids=list(REFUSED))
def test_a_file_that_is_not_understood_is_refused(content: dict[str, Any], text: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        read(content, name="given")
    assert text in str(refused.value)


def test_an_unknown_type_is_read_if_its_parameters_are_given_and_says_so() -> None:
    model = read({**LLAMA, "model_type": "new"}, name="given", params=8.03e9)
    assert "'new' is read as a transformer" in model.caveat
    assert not list(problems(work(model)))
    assert any(
        one.path == "--params" for one in problems(work(read({**LLAMA, "model_type": "new"}, name="x", params=2e9)))
    )


def test_a_file_that_is_no_json_is_refused(tmp_path: Path) -> None:
    for text in ("{", "[" * 100_000):
        (tmp_path / "config.json").write_text(text, encoding="utf-8")
        with pytest.raises(ConfigurationError, match="must be readable JSON"):
            load(tmp_path)
    (tmp_path / "config.json").write_text("[]", encoding="utf-8")
    with pytest.raises(ConfigurationError, match="must be a JSON object"):
        load(tmp_path)


def test_a_pipeline_of_another_class_is_refused(tmp_path: Path) -> None:
    write(tmp_path, {}, "model_index.json")
    write(tmp_path / "transformer", {"_class_name": "SD3Transformer2DModel"})
    with pytest.raises(ConfigurationError, match=r"transformer\._class_name: must be a known class"):
        load(tmp_path)
