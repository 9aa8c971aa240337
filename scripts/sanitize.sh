#!/usr/bin/env bash
# Runs the tests of the CPU kernels, all the `unsafe` there is, with nightly Rust's tools: under
# AddressSanitizer, which sees what the vector instructions read and write, and the plain ones
# under Miri as well, if that is installed. Builds burn anew for each, in a folder of its own:
# many minutes the first time.
# usage: scripts/sanitize.sh [address|miri]...   (default: both)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

tools=("$@")
[[ ${#tools[@]} -gt 0 ]] || tools=(address miri)

cargo +nightly --version >/dev/null 2>&1 || rustup toolchain install nightly --profile minimal

# With a target named, build scripts and procedural macros are built without the sanitizer.
# Debug assertions of our own crate alone: with burn's the tests would take far longer.
address() {
    RUSTFLAGS="-Zsanitizer=address" cargo +nightly test --release --package keiko-network --lib \
        --target x86_64-unknown-linux-gnu --target-dir target/sanitize \
        --config 'profile.release.package.keiko-network.debug-assertions=true' -- cpu:: "$@"
}

# Miri computes thousands of times slower, so it is given the smallest convolutions only.
miri() {
    if ! cargo +nightly miri --version >/dev/null 2>&1; then
        rustup component add miri rust-src --toolchain nightly ||
            { echo "Miri cannot be installed here: skipped"; return; }
    fi
    MIRIFLAGS="-Zmiri-disable-isolation" cargo +nightly miri test --package keiko-network --lib \
        --target-dir target/sanitize -- cpu::tests::kernels cpu::tests::conversions
}

for tool in "${tools[@]}"; do
    case $tool in
        address | miri) printf '== %s\n' "$tool"; "$tool" ;;
        *) echo "usage: scripts/sanitize.sh [address|miri]..." >&2; exit 2 ;;
    esac
done
