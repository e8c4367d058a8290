"""Each part of an estimate is what its formula computes."""

import re
from typing import Any

import pytest

from slipway.fit import Workload, architectures, memory
from slipway.fit.formulas import formulas
from tests.slipway.fit.samples import GPT, work

MODELS = architectures()
SCALE = {"MiB": 2**20, "GiB": 2**30}


def computed(formula: str) -> float:
    """The result of a formula: words are units, `x` multiplies."""
    for unit, factor in SCALE.items():
        formula = re.sub(rf"([0-9.]+) {unit}", rf"(\1 * {factor})", formula)
    formula = re.sub(r"\bx\b", "*", formula)
    return float(eval(re.sub(r"(?<![0-9.])\b[A-Za-z]+\b", "", formula)))  # noqa: S307 - our own formula


CASES: dict[str, tuple[Workload, int]] = {
    "served": (work(MODELS["llama-3.1-8b"], mode="serve", batch=4), 2),
    "fp8": (work(MODELS["deepseek-v3"], mode="serve", precision="checkpoint"), 8),
    "indexer": (work(MODELS["glm-5"], mode="serve"), 16),
    "experts in 4 bits": (work(MODELS["gpt-oss-120b"], mode="serve", precision="checkpoint", batch=2), 1),
    "states": (work(MODELS["nemotron-3-nano-30b-a3b"], mode="serve", cache="fp8"), 2),
    "image": (work(MODELS["qwen3-vl-8b"], mode="serve", image=(1024, 768)), 1),
    "diffusion": (work(MODELS["flux.1-dev"], mode="serve", precision="nf4", image=(1024, 1024)), 1),
    "small image": (work(MODELS["flux.1-dev"], mode="serve", image=(64, 64)), 1),
    "stages": (work(MODELS["kimi-k2"], mode="serve", precision="checkpoint", pipeline_parallel=2), 16),
    "trained": (work(GPT), 1),
    "trained with everything": (
        work(
            MODELS["llama-3.1-8b"], zero=3, checkpointing="full", tensor_parallel=2, pipeline_parallel=2, loss="chunked"
        ),
        16,
    ),
    "selective": (work(MODELS["mixtral-8x7b"], zero=1, checkpointing="selective", optimizer="adafactor"), 8),
    "adapters": (work(MODELS["qwen3-30b-a3b"], lora=16, precision="nf4", checkpointing="full", zero=3), 4),
}


@pytest.mark.parametrize(("workload", "gpus"), CASES.values(), ids=list(CASES))
def test_a_formula_gives_its_part(workload: Workload, gpus: int) -> None:
    texts = formulas(workload, gpus)
    parts: dict[str, Any] = {name: size for name, size in memory(workload, gpus).parts.items() if size}
    assert set(parts) <= set(texts)
    for name, size in parts.items():
        assert computed(texts[name]) == pytest.approx(size, rel=1e-3), (name, texts[name])
