#!/usr/bin/env bash
# Feeds the rules strange texts and games until the time is up: SFEN, variant files, moves, and
# what GUIs say to an engine.
# Ends with 0 when nothing panicked or hung. Installs cargo-fuzz if it is missing.
# usage: scripts/fuzz.sh [SECONDS of each target, default 600] [TARGET...]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../crates/rules/fuzz"

seconds="${1:-600}"
targets=("${@:2}")
[[ ${#targets[@]} -gt 0 ]] || targets=(sfen variant moves protocol)

command -v cargo-fuzz >/dev/null || cargo install cargo-fuzz --locked

# Texts to begin with: every variant, and every game's start for the SFEN target, whose first
# byte chooses the game.
seed() {
    mkdir -p corpus/variant corpus/sfen corpus/moves corpus/protocol
    cp ../../keiko/tests/transcripts/*.txt corpus/protocol/
    cp ../variants/*.toml corpus/variant/
    local number=0 name
    for name in $(sed -n 's/^    ("\([a-z_0-9]*\)", include_str.*/\1/p' ../src/rules.rs); do
        { printf '%b' "\\x$(printf '%02x' "$number")"
          sed -n 's/^start = "\(.*\)"/\1/p' "../variants/$name.toml" | tr -d '\n'; } \
            >"corpus/sfen/$name"
        number=$((number + 1))
    done
}

seed
for target in "${targets[@]}"; do
    # No sanitizer: there is no unsafe code to watch, and so the stable toolchain will do.
    cargo fuzz run --fuzz-dir . --sanitizer none "$target" "corpus/$target" -- \
        -max_total_time="$seconds" -timeout=10 -max_len=4096
done
