#!/usr/bin/env bash
# Prints the path of a Python that has tensorboard, onnxruntime and safetensors: the one in .venv/ of
# the repository, which is made if it is missing or no longer good.
# usage: python="$(scripts/python-env.sh)"
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

python="$PWD/.venv/bin/python"
reader="from tensorboard.backend.event_processing import event_accumulator
import numpy, onnxruntime, safetensors.numpy"
is_good() { "$python" -c "$reader" >/dev/null 2>&1; }

if ! is_good; then
    echo "python-env: installing tensorboard, onnxruntime and safetensors into .venv/" >&2
    if ! python3 -m venv --clear .venv >&2; then
        echo "python-env: cannot make a virtual environment; Debian: apt-get install python3-venv" >&2
        exit 3
    fi
    "$python" -m pip install --quiet --disable-pip-version-check \
        "tensorboard>=2.20,<3" "onnxruntime>=1.20,<2" "numpy<3" "safetensors<1" >&2
    is_good || { echo "python-env: its packages are installed but cannot be loaded" >&2; exit 3; }
fi
echo "$python"
