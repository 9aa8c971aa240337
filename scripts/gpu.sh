#!/usr/bin/env bash
# What can be proved about GPUs without one: every kind type-checks, and the Vulkan path computes on
# Debian's software device (lavapipe) what the processor computes, in tests and in a small run. Where
# there is a GPU with a Vulkan driver, it is the one that is tested. Takes some minutes to build.
# usage: scripts/gpu.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

target="${CARGO_TARGET_DIR:-target}"

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
    DOCS_RS=1 cargo check --release -p keiko --features "$kind"
done

stage "driver"
has_driver || scripts/install-package.sh mesa-vulkan-drivers || true
if ! has_driver; then
    echo "no Vulkan driver is here, and none can be installed: what needs one is skipped"
    exit 0
fi

stage "tests"
cargo test --release -p keiko-network --features vulkan --lib -- --nocapture vulkan

stage "build"
cargo build --release -p keiko --features vulkan

scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT

stage "a run without a driver"
refused_run "$scratch/refused"

stage "smoke run"
smoke_run "$scratch/smoke"

stage "all good"
