"""A network outside keiko: the ONNX model with onnxruntime, the weights with numpy.

usage: python examples/use_network.py NETWORK_FOLDER      needs onnxruntime, numpy, safetensors
"""
import sys

import numpy as np
import onnxruntime
from safetensors.numpy import load_file

folder = sys.argv[1]
golden = load_file(f"{folder}/golden.safetensors")  # 64 positions and what keiko answers to them
session = onnxruntime.InferenceSession(f"{folder}/model.onnx", providers=["CPUExecutionProvider"])
about = session.get_modelmeta().custom_metadata_map
labels = about["labels"].split()
print(f"{about['game']} after {about['step']} steps, {len(labels)} labels, licence {about['licence']}")

for batch in (1, 33):
    outputs = session.run(["policy", "wdl", "moves_left"], {"planes": golden["planes"][:batch]})
    for name, found in zip(("policy", "wdl", "moves_left"), outputs):
        difference = np.abs(found - golden[name][:batch]).max()
        print(f"batch {batch}: {name} {found.shape} differs by {difference:.1e}")
        assert difference <= 1e-4 * max(1, np.abs(golden[name]).max()), name

print(f"start position: chances of a win, a draw, a loss {outputs[1][0].round(3)}")
print(f"first labels, each with a logit a square (softmax over the legal ones): {labels[:4]}")
weights = load_file(f"{folder}/weights.safetensors")
print(f"{len(weights)} tensors, {sum(tensor.size for tensor in weights.values())} numbers")
