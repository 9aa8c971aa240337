#!/usr/bin/env python3
"""Times ONNX Runtime (f32 and 8 bits) on a network's own ONNX model, in turn with keiko's paths:
one core each, medians of rounds of one run.

usage: "$(scripts/python-env.sh)" scripts/bench_peers.py NETWORK [ROUNDS]
"""

import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BATCHES = (1, 32)
SECONDS = 1.0


def quantised(model, planes, folder):
    """The model with 8-bit weights and activations, calibrated on the golden positions."""
    try:
        from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
    except ImportError:
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "onnx"], check=True)
        from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static

    class Positions(CalibrationDataReader):
        def __init__(self):
            self.rest = iter([{"planes": planes[index : index + 8]} for index in range(0, 64, 8)])

        def get_next(self):
            return next(self.rest, None)

    out = f"{folder}/int8.onnx"
    quantize_static(
        model,
        out,
        Positions(),
        quant_format=QuantFormat.QDQ,
        activation_type=QuantType.QUInt8,
        weight_type=QuantType.QInt8,
        per_channel=True,
    )
    return out


def session(model):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def rate(run, planes, batch):
    """Positions a second of the process's own time."""
    inputs = planes[:batch]
    run.run(None, {"planes": inputs})
    began, count = time.process_time(), 0
    while time.process_time() - began < SECONDS:
        run.run(None, {"planes": inputs})
        count += batch
    return count / (time.process_time() - began)


def ours(keiko, network):
    """One round of keiko's own bench: rates by path, in the order of the batches."""
    batches = ",".join(map(str, BATCHES))
    command = [keiko, "bench", "inference", "--network", network, "--batch", batches, "--rounds", "1"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    row = re.compile(r"^((?:burn|cpu) ?[a-z0-9 ]*?)\s{2,}" + r"\s+".join([r"(\d+)"] * len(BATCHES)))
    rows = (row.match(line) for line in text.splitlines())
    return {found[1]: [float(number) for number in found.groups()[1:]] for found in rows if found}


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    from safetensors.numpy import load_file

    network, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5
    keiko = str(Path(__file__).parent.parent / "target/release/keiko")
    planes = load_file(f"{network}/golden.safetensors")["planes"]
    with tempfile.TemporaryDirectory() as folder:
        peers = {"onnxruntime f32": session(f"{network}/model.onnx")}
        peers["onnxruntime int8"] = session(quantised(f"{network}/model.onnx", planes, folder))
        rates = {}
        for number in range(rounds):
            for name, run in peers.items():
                for index, batch in enumerate(BATCHES):
                    rates.setdefault((name, index), []).append(rate(run, planes, batch))
            for name, found in ours(keiko, network).items():
                for index, value in enumerate(found):
                    rates.setdefault((name, index), []).append(value)
            print(f"round {number + 1} of {rounds}", file=sys.stderr)
    base = [statistics.median(rates["onnxruntime f32", index]) for index in range(len(BATCHES))]
    print(f"positions a second, one core, medians of {rounds} rounds; in brackets: to onnxruntime f32")
    print("".join([f"{'batch':18}"] + [f"{batch:>16}" for batch in BATCHES]))
    for name in dict.fromkeys(name for name, _ in rates):
        medians = [statistics.median(rates[name, index]) for index in range(len(BATCHES))]
        cells = [f"{value:9.0f} ({value / known:.2f})" for value, known in zip(medians, base)]
        print("".join([f"{name:18}"] + [f"{cell:>16}" for cell in cells]))


if __name__ == "__main__":
    main()
