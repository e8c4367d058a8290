"""Train a small network on one GPU, write a checkpoint every 200 steps, and resume from the last one."""

import os
from pathlib import Path

import torch
from torch import nn

STEPS = int(os.environ.get("STEPS", "2000"))
CHECKPOINT = Path(os.environ.get("CHECKPOINTS", "/checkpoints")) / "last.pt"

device = "cuda" if torch.cuda.is_available() else "cpu"
model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 1)).to(device)
optimizer = torch.optim.AdamW(model.parameters())
step = 0
if CHECKPOINT.exists():
    state = torch.load(CHECKPOINT, map_location=device)
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    step = state["step"]
    print(f"resumed at step {step}", flush=True)

while step < STEPS:
    # Random data, so that the example needs none. Yours is in /data.
    x = torch.randn(256, 64, device=device)
    loss = nn.functional.mse_loss(model(x), x.square().mean(dim=1, keepdim=True))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    step += 1
    if step % 200 == 0:
        # Written to a new file and renamed: an interrupted write leaves the last good checkpoint.
        new = CHECKPOINT.with_suffix(".new")
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}, new)
        new.replace(CHECKPOINT)
        print(f"step {step}: loss {loss.item():.4f} on {device}", flush=True)
