"""Measures the GPU memory of training and serving, for the table of docs/guides/fit-accuracy.md.

`python -m tools.figures.gpu_memory FILE`, on a machine with an NVIDIA GPU, PyTorch, Transformers, PEFT and
nvidia-ml-py, which the project doesn't need otherwise; nothing is downloaded, and no setting of the GPU is changed. A
model has the shape of the catalog and random weights. Each case that FILE lacks for this kind of GPU runs in a process
of its own, and FILE is written after each. gpu_memory.json beside this program is such a
file; `python -m tests.slipway.fit` makes the table of it.

What a case measures, in bytes: `peak` of what PyTorch has allocated (torch.cuda.max_memory_allocated) in a training
step that adds up the gradients of two passes, once the optimizer has its state, or in `generate`; `single`, the same
of a step with one pass; what is left of it (`weights`, `states` of the optimizer, `kv cache`), or is `kept` by a
forward pass; `reserved` by PyTorch in the end, and what the driver counts `beside` that.
"""

from __future__ import annotations

import argparse
import importlib
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Final

from spec import strict_yaml

ROOT: Final = Path(__file__).resolve().parents[2]
CATALOG: Final = ROOT / "spec/catalog/data/architectures.yaml"
CASES: Final = Path(__file__).with_name("gpu_memory.yaml")
WAITING: Final = 4  # processes that import PyTorch while another one measures: that takes longer than most cases
ANSWER: Final = 16  # tokens that `generate` adds to a prompt
WIDE: Final = frozenset({"fp32", "amp-bf16"})  # precisions whose weights are in 32 bits

Measured = dict[str, Any]


def main(arguments: list[str] | None = None) -> int:
    """Measure all cases, or as `--worker` the one on the standard input; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tools.figures.gpu_memory")
    parser.add_argument("file", type=Path, nargs="?", help="where results are written as JSON")
    parser.add_argument("--seconds", type=float, default=400, help="no case starts later than that (default: 400)")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.worker:
        print(json.dumps(_measured()), flush=True)
        return 0
    if options.file is None:
        parser.error("FILE is required")
    return _run(options.file, options.seconds)


def _run(file: Path, seconds: float) -> int:
    cases = strict_yaml.read(CASES.read_text(encoding="utf-8"))["cases"]
    command = [sys.executable, "-m", "tools.figures.gpu_memory", "--worker"]
    started = time.monotonic()
    runs: dict[str, Any] = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    run: dict[str, Any] = runs.setdefault(_gpu(), {"device": {}, "cases": []})
    cases = [case for case in cases if not any(case.items() <= done.items() for done in run["cases"])]
    waiting = [_start(command) for _ in range(min(WAITING, len(cases)))]
    for number, case in enumerate(cases):
        if time.monotonic() - started > seconds:
            print(f"{len(cases) - number} cases are left: the time is over", flush=True)
            break
        worker = waiting.pop(0)
        out, error = worker.communicate(json.dumps(case))
        if number + WAITING < len(cases):
            waiting.append(_start(command))
        last = out.splitlines()[-1] if out.strip() else "{}"
        result = json.loads(last) or {"error": error.strip().splitlines()[-1:] or worker.returncode}
        found = result.pop("device", {})
        run["device"] = {**found, **run["device"]}  # of the first run; a later case has its own day
        run["cases"].append({**case, **result, "date": time.strftime("%Y-%m-%d")})
        print(f"{time.monotonic() - started:4.0f} s {json.dumps(run['cases'][-1])}", flush=True)
        file.write_text(text(runs), encoding="utf-8")
    for worker in waiting:
        worker.kill()
        worker.wait()
    return 0


def text(runs: Mapping[str, Any]) -> str:
    """The document of runs by GPU, with a line for each case."""
    parts = []
    for name, run in sorted(runs.items()):
        cases = ",\n  ".join(json.dumps(case) for case in run["cases"])
        parts.append(f' {json.dumps(name)}: {{"device": {json.dumps(run["device"])}, "cases": [\n  {cases}\n ]}}')
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _start(command: list[str]) -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, stderr=pipe, text=True)


def _gpu() -> str:
    """Its name, as the driver has it and PyTorch reports it."""
    nvml: Any = importlib.import_module("pynvml")
    nvml.nvmlInit()
    name = nvml.nvmlDeviceGetName(nvml.nvmlDeviceGetHandleByIndex(0))
    return str(name)


def _measured() -> Measured:
    """What the case on the standard input measures, or its error."""
    torch: Any = importlib.import_module("torch")
    importlib.import_module("transformers")
    importlib.import_module("peft")
    case = json.loads(sys.stdin.read())
    run: Callable[[Any, Mapping[str, Any]], Measured] = {"train": train, "serve": serve}[case["mode"]]
    started = time.monotonic()
    try:
        torch.zeros(1, device=DEVICE)
        result = run(torch, case)
        process = _process(torch)
    except Exception as error:  # a case that fails must not end the others
        return {"error": f"{type(error).__name__}: {error}"[:500]}
    reserved = torch.cuda.max_memory_reserved()
    beside = process - torch.cuda.memory_reserved()
    more = {"reserved": reserved, "beside": beside, "seconds": round(time.monotonic() - started, 1)}
    return {**result, **more, "device": device(torch)}


DEVICE: Final = "cuda"


def _process(torch: Any) -> int:
    """Bytes of the GPU that the driver counts: all of them, because this process alone uses it."""
    torch.cuda.synchronize()
    free, total = torch.cuda.mem_get_info()
    return int(total - free)


def device(torch: Any) -> dict[str, str]:
    """The GPU, its driver, and the versions that decide how much memory a step takes."""
    nvml: Any = importlib.import_module("pynvml")
    nvml.nvmlInit()
    versions = {name: importlib.import_module(name).__version__ for name in ("transformers", "peft")}
    memory = nvml.nvmlDeviceGetMemoryInfo(nvml.nvmlDeviceGetHandleByIndex(0)).total
    return {
        "gpu": torch.cuda.get_device_name(),
        "bytes": str(memory),
        "driver": nvml.nvmlSystemGetDriverVersion(),
        "torch": torch.__version__,
        **versions,
        "date": time.strftime("%Y-%m-%d"),
    }


def build(torch: Any, case: Mapping[str, Any]) -> Any:
    """The model of a case on the GPU. Attention scores exist where checkpointing is `none`, as `fit` has it."""
    transformers: Any = importlib.import_module("transformers")
    shape = dict(strict_yaml.read(CATALOG.read_text(encoding="utf-8"))["architectures"][case["model"]]["config"])
    shape.pop("quantization_config", None)  # the weights are random, in the precision of the case
    if case.get("classes"):
        shape["num_labels"] = case["classes"]
    config = transformers.AutoConfig.for_model(shape.pop("model_type"), **shape)
    kind = "AutoModelForSequenceClassification" if case.get("classes") else "AutoModelForCausalLM"
    factory = getattr(transformers, kind)
    eager = case["mode"] == "train" and case.get("checkpointing", "none") == "none"
    attention = case.get("attention", "eager" if eager else "sdpa")
    width = torch.float32 if case["precision"] in WIDE else torch.bfloat16
    with torch.device(DEVICE):
        return factory.from_config(config, dtype=width, attn_implementation=attention)


def train(torch: Any, case: Mapping[str, Any]) -> Measured:
    """The peak of a step that adds up the gradients of two backward passes, and of one of a single pass."""
    model = build(torch, case)
    params = sum(each.numel() for each in model.parameters())
    if case.get("lora"):
        peft: Any = importlib.import_module("peft")
        config = peft.LoraConfig(r=case["lora"], target_modules="all-linear", lora_dropout=0)
        model = peft.get_peft_model(model, config, autocast_adapter_dtype=case["precision"] != "pure-bf16")
    model.config.use_cache = False
    if case.get("checkpointing") == "full":
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    model.train()
    weights = torch.cuda.memory_allocated()
    trained = [each for each in model.parameters() if each.requires_grad]
    step = _optimizer(torch, case, trained)
    vocab, classes = model.config.get_text_config().vocab_size, case.get("classes")
    tokens = torch.randint(vocab, (case["batch"], case["seq"]), device=DEVICE)
    labels = torch.zeros(case["batch"], dtype=torch.long, device=DEVICE) if classes else tokens
    casts = case["precision"].startswith("amp") or bool(case.get("lora") and case["precision"] != "pure-bf16")

    def backward() -> int:
        """The bytes that the forward pass has kept."""
        before = torch.cuda.memory_allocated()
        with torch.autocast(DEVICE, dtype=torch.bfloat16) if casts else nullcontext():
            loss = model(input_ids=tokens, labels=labels).loss
        kept = torch.cuda.memory_allocated() - before
        loss.backward()
        return int(kept)

    peaks = {}
    for name, passes in (("first", 1), ("single", 1), ("peak", 2)):
        torch.cuda.reset_peak_memory_stats()
        kept = [backward() for _ in range(passes)][-1]
        step()
        peaks[name] = torch.cuda.max_memory_allocated()
    del peaks["first"]  # without the optimizer's state
    states = torch.cuda.memory_allocated() - weights
    return {"params": params, "weights": weights, "states": states, "kept": kept, **peaks}


def _optimizer(torch: Any, case: Mapping[str, Any], trained: list[Any]) -> Callable[[], None]:
    """A step of the optimizer, after which no gradient is left.

    `bf16` has a master copy in 32 bits of each 16-bit weight, as DeepSpeed and Megatron have; PyTorch has no such
    optimizer, so each weight is updated by one of its own.
    """
    make: dict[str, Callable[[list[Any]], Any]] = {
        "adamw": lambda params: torch.optim.AdamW(params, fused=True),
        "sgd": lambda params: torch.optim.SGD(params, lr=1e-3, momentum=0.9, fused=True),
    }
    chosen = make[case.get("optimizer", "adamw")]
    if case["precision"] != "bf16" or case.get("lora"):
        optimizer = chosen(trained)

        def step() -> None:
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)

        return step
    masters = [each.detach().float() for each in trained]
    optimizers = [chosen([master]) for master in masters]

    def update() -> None:
        for weight, master, each in zip(trained, masters, optimizers, strict=True):
            if weight.grad is not None:
                master.grad, weight.grad = weight.grad.float(), None
                each.step()
                master.grad = None
                weight.data.copy_(master)

    return update


def serve(torch: Any, case: Mapping[str, Any]) -> Measured:
    """Weights, the cache of a whole answer, and the peak of `generate`; `chunk` tokens of each prompt at a time."""
    model = build(torch, case).eval()
    weights, params = torch.cuda.memory_allocated(), sum(each.numel() for each in model.parameters())
    tokens = torch.randint(
        model.config.get_text_config().vocab_size, (case["batch"], case["seq"] - ANSWER), device=DEVICE
    )
    options = {"prefill_chunk_size": case["chunk"]} if "chunk" in case else {}
    torch.cuda.reset_peak_memory_stats()
    with torch.inference_mode():
        given = model.generate(
            tokens,
            attention_mask=torch.ones_like(tokens),
            max_new_tokens=ANSWER,
            min_new_tokens=ANSWER,
            do_sample=False,
            pad_token_id=0,
            return_dict_in_generate=True,
            **options,
        )
    return {
        "params": params,
        "weights": weights,
        "kv cache": sum(_tensors(given.past_key_values)),
        "peak": torch.cuda.max_memory_allocated(),
    }


def _tensors(cache: Any) -> Iterator[int]:
    """Bytes of each layer's keys and values, or of its states."""
    for layer in cache.layers:
        for each in vars(layer).values():
            if hasattr(each, "element_size") and each.is_cuda:
                yield each.numel() * each.element_size()


if __name__ == "__main__":
    sys.exit(main())
