"""`slipway fit`: the GPU memory of a model, and the cheapest GPUs that hold it."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from slipway.engine.project import find
from spec.errors import EXIT_FAILURE

if TYPE_CHECKING:
    from slipway.cli.commands import Commands

EPILOG = """\
  slipway fit --config ./my-model/config.json --mode serve --batch 8 --seq 8192
  slipway fit --model llama-3.1-8b --mode serve --batch 8 --seq 8192 --stack prod
  slipway fit --params 7e9 --mode train --seq 4096 --checkpointing full --zero 3 --stack dev

docs/guides/fit.md has the formulas, and their errors against published figures.
"""
_OPTIONS = (
    *("mode", "precision", "batch", "seq", "optimizer", "checkpointing", "zero", "lora", "loss", "classes"),
    *("cache", "image", "tensor_parallel", "pipeline_parallel"),
)
"""Options of a workload."""
_SIZES = {
    "layers": "transformer layers",
    "hidden": "hidden size",
    "heads": "attention heads",
    "kv-heads": "key-value heads (default: as many as --heads)",
    "ffn": "width of the feed-forward layer (default: 4 x --hidden)",
    "vocab": "vocabulary size",
}


def add(commands: Commands) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "fit",
        help="estimate a model's GPU memory, and find the cheapest GPUs for it",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    model = parser.add_argument_group("model", "give a name, a config.json, a shape, or the number of parameters")
    model.add_argument(
        "--model", metavar="NAME", help="a published model: qwen3-30b-a3b, gpt-oss-120b, flux.1-dev, ..."
    )
    model.add_argument("--config", metavar="PATH", help="config.json in the format of Hugging Face, or its folder")
    model.add_argument("--params", metavar="N", help="number of parameters: 7e9, 7B")
    for name, text in _SIZES.items():
        model.add_argument(f"--{name}", type=int, metavar="N", help=text)
    model.add_argument("--gated", action="store_true", help="the feed-forward layer is gated (SwiGLU)")
    model.add_argument("--tied", action="store_true", help="the output layer shares the embedding's weights")
    work = parser.add_argument_group("workload")
    work.add_argument("--mode", required=True, metavar="MODE", help="train or serve")
    work.add_argument(
        "--precision",
        metavar="P",
        help="bf16, fp8, int8, int4, nf4, mxfp4, ... (default: as the model's files, or bf16)",
    )
    work.add_argument(
        "--batch", type=int, default=1, metavar="N", help="sequences per GPU (train), or in total (serve)"
    )
    work.add_argument("--seq", type=int, metavar="N", help="tokens per sequence, including the answer")
    work.add_argument("--image", metavar="WxH", help="pixels of the image that each sequence has, or that is made")
    work.add_argument(
        "--kv-cache-dtype", default="auto", dest="cache", metavar="D", help="auto (default), bf16, fp16, fp8"
    )
    work.add_argument("--optimizer", default="adamw", metavar="O", help="adamw (default), adamw8bit, adafactor, sgd")
    work.add_argument("--checkpointing", default="none", metavar="C", help="none (default), selective, full")
    work.add_argument("--zero", type=int, default=0, metavar="STAGE", help="ZeRO sharding stage, 0 to 3 (3 is FSDP)")
    work.add_argument(
        "--tensor-parallel", type=int, default=1, metavar="N", help="GPUs that divide each matrix when training"
    )
    work.add_argument(
        "--pipeline-parallel", type=int, default=1, metavar="N", help="stages of layers, each on GPUs of its own"
    )
    work.add_argument(
        "--lora", type=int, default=0, metavar="RANK", help="train LoRA adapters of this rank on frozen weights"
    )
    work.add_argument("--loss", default="whole", metavar="L", help="whole (default) or chunked logits")
    work.add_argument("--classes", type=int, default=0, metavar="N", help="number of outputs of a classifier")
    parser.add_argument(
        "--stack", metavar="STACK", help="search the pools of this stack (default: every GPU type with a price)"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the memory, and the placements that hold it; 1 if none does."""
    from slipway.fit import choose, fixes, places, request, table  # noqa: PLC0415 - `slipway --help` needs none of it

    shape = request.Shape(**{name: getattr(options, name) for name in request.Shape.__dataclass_fields__})
    work = request.workload(shape, **{name: getattr(options, name) for name in _OPTIONS})
    where = places.of_catalog() if options.stack is None else _of_stack(options.stack)
    answer = choose(work, where)
    hints = () if answer.choices else fixes(work, where)
    if options.json:
        print(json.dumps(table.data(work, answer, hints), indent=2))
    else:
        print(table.text(work, answer, hints), end="")
    return 0 if answer.choices else EXIT_FAILURE


def _of_stack(stack: str) -> tuple[Place, ...]:
    from slipway.cli.settings import checked  # noqa: PLC0415
    from slipway.fit import places  # noqa: PLC0415

    return places.of_stack(checked(find(Path.cwd()), stack).platform)


if TYPE_CHECKING:
    from slipway.fit.places import Place
