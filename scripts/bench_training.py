#!/usr/bin/env python3
"""Learner steps a second, PyTorch beside keiko, on the same network: rounds that take turns,
medians. One core.

usage: python scripts/bench_training.py NETWORK EXPERIMENT [ROUNDS]

NETWORK is a published network's folder, EXPERIMENT a file with the same network and the batch;
keiko is target/release/keiko. Installs torch (large), numpy and safetensors into the Python that
runs it. PyTorch runs convolutions and matrices as it does best on processors: channels last, its
own AdamW with fused loops, gradients clipped by their common length.
"""

import os
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = "1"
BATCH = 256
SECONDS = 2.0
SCALE = 20.0


def modules():
    try:
        import numpy, safetensors, torch  # noqa: F401
    except ImportError:
        command = [sys.executable, "-m", "pip", "install", "--quiet", "torch", "numpy", "safetensors"]
        subprocess.run(command, check=True)
    import torch

    torch.set_num_threads(1)
    return torch


def network(torch, weights):
    """The network of these weights, without pooling blocks and heads that are only learned."""
    import torch.nn.functional as F

    class Network(torch.nn.Module):
        def __init__(self):
            super().__init__()
            names = {name.replace(".", "-"): tensor for name, tensor in weights.items()}
            self.p = torch.nn.ParameterDict(names)
            self.blocks = len({name.split(".")[1] for name in weights if name.startswith("blocks.")})

        def conv(self, x, name):
            weight, bias = self.p[f"{name}-weight"], self.p[f"{name}-bias"]
            return F.conv2d(x, weight, bias, padding=weight.shape[-1] // 2)

        def dense(self, x, name):
            return F.linear(x, self.p[f"{name}-weight"], self.p[f"{name}-bias"])

        def forward(self, x):
            x = F.relu(self.conv(x, "stem"))
            for block in range(self.blocks):
                inner = F.relu(self.conv(x, f"blocks-{block}-conv1"))
                name = f"blocks-{block}-conv2"
                gain = self.p[f"blocks-{block}-gain"].reshape(-1, 1, 1, 1)
                sums = F.conv2d(inner, self.p[f"{name}-weight"] * gain, self.p[f"{name}-bias"], padding=1)
                x = F.relu(x + sums)
            policy = self.conv(F.relu(self.conv(x, "policy-hidden")), "policy-output")
            value = F.relu(self.conv(x, "value-conv"))
            pooled = torch.cat([value.mean((2, 3)), value.amax((2, 3))], 1)
            hidden = F.relu(self.dense(pooled, "value-hidden"))
            return policy.flatten(1), self.dense(hidden, "value-wdl"), self.dense(hidden, "value-moves_left")

    return Network().to(memory_format=torch.channels_last)


def trainer(torch, folder):
    """A function that takes one step."""
    import torch.nn.functional as F
    from safetensors.torch import load_file

    weights = load_file(f"{folder}/weights.safetensors")
    net = network(torch, {name: tensor.clone() for name, tensor in weights.items()})
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3, weight_decay=1e-4, fused=True)
    golden = load_file(f"{folder}/golden.safetensors")
    repeat = -(-BATCH // len(golden["planes"]))
    x = golden["planes"].repeat(repeat, 1, 1, 1)[:BATCH].contiguous(memory_format=torch.channels_last)
    labels = golden["policy"][0].numel()
    legal = torch.rand(BATCH, labels) < 0.05
    legal[:, 0] = True
    target = torch.rand(BATCH, labels).masked_fill(~legal, 0)
    target /= target.sum(1, keepdim=True)
    wdl = torch.softmax(torch.randn(BATCH, 3), 1)
    moves_left = torch.rand(BATCH, 1)

    def step():
        policy, chances, left = net(x)
        chosen = torch.log_softmax(policy.masked_fill(~legal, -1e9), 1)
        loss = -(target * chosen).sum(1).mean() - (wdl * torch.log_softmax(chances, 1)).sum(1).mean()
        loss = loss + 0.1 * F.smooth_l1_loss(F.softplus(left), moves_left)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 2.0)
        optimizer.step()

    return step


def rate(step):
    began, steps = time.perf_counter(), 0
    while time.perf_counter() - began < SECONDS:
        step()
        steps += 1
    return steps * BATCH / (time.perf_counter() - began)


def ours(experiment):
    """One round of keiko's own bench: samples a second on one thread, by what computes them."""
    keiko = str(Path(__file__).parent.parent / "target/release/keiko")
    command = [keiko, "bench", "training", experiment, "--rounds", "1"]
    # The network that PyTorch has: no pooling in its blocks, no heads that are only learned.
    plain = [f"training.batch_size={BATCH}", "network.pooling=none"]
    plain += ["network.reply=false", "network.short_term_value=false"]
    command += [word for one in plain for word in ("--set", one)]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return {name: float(value) for name, value in re.findall(r"^(\w+) +1 thread +(\d+)$", text, re.M)}


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    folder, experiment = sys.argv[1:3]
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    torch = modules()
    step = trainer(torch, folder)
    step()
    rates = {}
    for number in range(rounds):
        rates.setdefault("pytorch channels last", []).append(rate(step))
        for name, value in ours(experiment).items():
            rates.setdefault(name, []).append(value)
        print(f"round {number + 1} of {rounds}", file=sys.stderr)
    base = statistics.median(rates["pytorch channels last"])
    print(f"samples a second in steps of {BATCH}, one core, medians of {rounds} rounds; torch {torch.__version__}")
    for name, values in rates.items():
        value = statistics.median(values)
        print(f"{name:24}{value:8.0f} ({value / base:.2f})")


if __name__ == "__main__":
    main()
