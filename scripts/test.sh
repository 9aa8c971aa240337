#!/usr/bin/env bash
# Installs what the tests need, then runs all of them: format, lints, tests, documentation, a
# whole small training run that is interrupted and resumed, and networks in other programs.
# What CI runs.
# usage: scripts/test.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

target="${CARGO_TARGET_DIR:-target}"
# Debian keeps fairy-stockfish in a folder that root's PATH lacks.
export PATH="$PATH:/usr/games"

stage() { printf '\n== %s (after %d s)\n' "$1" "$SECONDS"; }

install_tools() {
    if ! command -v fairy-stockfish >/dev/null; then
        scripts/install-package.sh fairy-stockfish ||
            echo "fairy-stockfish cannot be installed here: the tests that play it are skipped"
    fi
    if ! command -v faketime >/dev/null; then
        scripts/install-package.sh faketime ||
            echo "faketime cannot be installed here: no clock is set back"
    fi
    if ! python3 -c 'import ensurepip, venv' 2>/dev/null; then
        scripts/install-package.sh python3-venv || true
    fi
    python="$(scripts/python-env.sh)"
}

# Waits until a run has told its first figures, its process is gone, or a minute has passed.
wait_for_figures() {
    local run="$1" process="$2"
    for _ in {1..1200}; do
        if [[ -s "$run/metrics.jsonl" ]]; then return; fi
        kill -0 "$process" 2>/dev/null || return 0
        sleep 0.05
    done
}

# Runs a command a year ago, where that can be had.
a_year_ago() {
    if command -v faketime >/dev/null; then
        FAKETIME_DONT_FAKE_MONOTONIC=1 faketime -f "-365d" "$@"
    else
        "$@"
    fi
}

# Trains the smoke experiment: stopped once, after its first figures, and then to its end by a clock
# that was set back.
smoke_run() {
    local run="$1/smoke" code=0
    "$target/release/keiko" train configs/smoke.toml --run "$run" &
    local process=$!
    wait_for_figures "$run" "$process"
    kill -TERM "$process" 2>/dev/null || true
    wait "$process" || code=$?
    case $code in
        0) echo "the run was over before it could be stopped" ;;
        10) echo "stopped; resuming" ;;
        *) echo "keiko train ended with exit code $code" >&2; return 1 ;;
    esac
    a_year_ago "$target/release/keiko" train configs/smoke.toml --run "$run"
    "$python" scripts/check_events.py "$run"
}

# A published network finds a move in a GUI's words.
plays_in_an_engine() {
    printf '%s\n' usi isready "position startpos" "go nodes 50" |
        "$target/release/keiko" engine --network "$1" | grep "^bestmove [^r]"
}

# Networks of four games and those that are published, computed by onnxruntime and read by numpy as
# keiko computes them.
networks_elsewhere() {
    local game pooling network
    while read -r game pooling; do
        "$target/release/keiko" train configs/smoke.toml --run "$1/$game" --set rules="$game" \
            --set network.pooling="$pooling" --set network.pooling_every=1 \
            --set network.reply=true --set network.short_term_value=true \
            --set training.generations=1 --set training.games_per_generation=20 2>/dev/null
        network="$(find "$1/$game/networks" -mindepth 1 -maxdepth 1 | sort | tail -n 1)"
        "$target/release/keiko" inspect "$network"
        "$python" examples/use_network.py "$network"
    done <<<"minishogi none
microshogi bias
doubutsu squeeze-excite
shogi bias"
    for network in checkpoints/published/*/; do
        "$target/release/keiko" inspect "$network"
        "$python" examples/use_network.py "$network"
        plays_in_an_engine "$network"
    done
}

stage "tools"
install_tools

stage "format"
cargo fmt --all --check

stage "lints"
cargo clippy --release --workspace --all-targets -- -D warnings

# One profile and one choice of features for everything: dependencies are compiled once.
stage "build"
cargo build --release --workspace --all-targets

stage "tests"
cargo test --release --workspace

stage "documentation"
RUSTDOCFLAGS="-D warnings" cargo doc --release --no-deps --workspace

stage "smoke run"
scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT
smoke_run "$scratch"

stage "killed, and as if nothing had been"
scripts/crash.sh 8

stage "networks elsewhere"
networks_elsewhere "$scratch"

stage "all good"
