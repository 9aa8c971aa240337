#!/usr/bin/env bash
# What can be proved about GPUs without one: every kind type-checks, and the Vulkan path computes on
# Debian's software device (lavapipe) what the processor computes, in tests and in a small run. Where
# there is a GPU with a Vulkan driver, it is the one that is tested. Takes some minutes to build.
# usage: scripts/gpu.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

target="${CARGO_TARGET_DIR:-target}"

scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT
# Mesa complains without one.
export XDG_RUNTIME_DIR="${XDG_RUNTIME_DIR:-$scratch}"

stage() { printf '\n== %s (after %d s)\n' "$1" "$SECONDS"; }

has_driver() { compgen -G '/usr/share/vulkan/icd.d/*.json' >/dev/null; }

# Trains the smoke experiment, or what is left of it, on the first Vulkan device.
smoke_run() {
    "$target/release/keiko" train configs/smoke.toml --run "$1" --set machine.device=vulkan:0 \
        --set machine.workers=1 --set machine.batch=100 --set inference.precision=f32
}

# Without a driver the program says so and ends with 3.
refused_run() {
    local code=0
    VK_DRIVER_FILES=/dev/null VK_ICD_FILENAMES=/dev/null smoke_run "$1" || code=$?
    [[ $code == 3 && ! -e "$1" ]] || { echo "exit code $code, expected 3" >&2; return 1; }
}

# DOCS_RS keeps the build scripts of CUDA and ROCm from downloading an LLVM: enough to check, not
# to build.
for kind in vulkan metal cuda rocm; do
    stage "check $kind"
    DOCS_RS=1 cargo check --release --workspace --features "keiko/$kind"
done

stage "driver"
has_driver || scripts/install-package.sh mesa-vulkan-drivers || true
if ! has_driver; then
    echo "no Vulkan driver is here, and none can be installed: what needs one is skipped"
    exit 0
fi

# As in test.sh, one choice of crates and features for everything: dependencies are compiled once.
stage "build"
cargo build --release --workspace --all-targets --features keiko/vulkan

stage "tests"
cargo test --release --workspace --features keiko/vulkan --lib -- --nocapture vulkan

stage "a run without a driver"
refused_run "$scratch/refused"

stage "smoke run"
smoke_run "$scratch/smoke"

stage "all good"
