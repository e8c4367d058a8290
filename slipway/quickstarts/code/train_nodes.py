"""Train a small network on all GPUs of several nodes with DistributedDataParallel; torchrun starts it once per GPU."""

import os
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

STEPS = int(os.environ.get("STEPS", "2000"))
CHECKPOINT = Path(os.environ.get("CHECKPOINTS", "/checkpoints")) / "last.pt"

gpu = torch.cuda.is_available()
dist.init_process_group("nccl" if gpu else "gloo")
rank, size, local = dist.get_rank(), dist.get_world_size(), int(os.environ["LOCAL_RANK"])
if gpu:
    torch.cuda.set_device(local)
device = torch.device(f"cuda:{local}" if gpu else "cpu")

model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 1)).to(device)
optimizer = torch.optim.AdamW(model.parameters())
step = 0
if CHECKPOINT.exists():
    state = torch.load(CHECKPOINT, map_location=device)
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    step = state["step"]
parallel = DistributedDataParallel(model, device_ids=[local] if gpu else None)
print(f"process {rank} of {size} on {device}, from step {step}", flush=True)

while step < STEPS:
    # Random data, so that the example needs none. Yours is in /data; each process reads a part of it.
    x = torch.randn(256, 64, device=device)
    loss = nn.functional.mse_loss(parallel(x), x.square().mean(dim=1, keepdim=True))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    step += 1
    if step % 200 == 0 and rank == 0:
        # Written to a new file and renamed: an interrupted write leaves the last good checkpoint.
        new = CHECKPOINT.with_suffix(".new")
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}, new)
        new.replace(CHECKPOINT)
        print(f"step {step}: loss {loss.item():.4f}", flush=True)
dist.destroy_process_group()
