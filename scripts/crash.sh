#!/usr/bin/env bash
# A tiny run is killed N times (SIGKILL: nothing of it is warned) and goes on each time: by turns at
# random moments and, on Linux, in the middle of random writes, renames and the like. What it leaves
# behind equals what an unbroken run leaves, bit for bit: learner, games, networks, figures and event
# values, but for those that a machine may change. A run that is over before the N kills are is
# compared, and another one begun.
# usage: scripts/crash.sh [N]     (default 50; needs target/release/keiko)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

kills="${1:-50}"
keiko="${CARGO_TARGET_DIR:-target}/release/keiko"
python="$(scripts/python-env.sh)"
scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT

# Generations of a fraction of a second, so that every phase is hit, and a second of it all.
start() {
    exec "$keiko" train configs/smoke.toml --run "$1" --set training.overlap=1 \
        --set training.generations=6 --set training.games_per_generation=30 \
        --set network.channels=8 --set arena.random_pairs=2 --set arena.rival_pairs=3 \
        >>"$1.log" 2>&1
}

# The shim strikes at a call of those that change files; how many there are an unbroken run tells.
shim="$scratch/torn_writes.so"
if [[ "$(uname)" == Linux ]]; then
    cc -O1 -shared -fPIC -o "$shim" scripts/torn_writes.c -ldl
else
    shim=""
fi

(LD_PRELOAD="$shim" FAULT_COUNT="$scratch/calls" start "$scratch/unbroken")
calls="$(cat "$scratch/calls" 2>/dev/null || echo 0)"
began="$(date +%s%N)"
(start "$scratch/again")
whole=$((($(date +%s%N) - began) / 1000000))
"$python" scripts/compare_runs.py "$scratch/unbroken" "$scratch/again"

# A number from 0 to below $1; $RANDOM has 15 bits.
below() { echo $(((RANDOM * 32768 + RANDOM) % $1)); }

killed=0 inside=0 runs=0
while ((killed < kills)); do
    run="$scratch/run-$runs"
    if ((killed % 2 == 1 && calls > 0)); then
        LD_PRELOAD="$shim" FAULT_AT="$(below "$calls")" start "$run" &
        process=$! torn=1
    else
        start "$run" &
        process=$! torn=0
        delay="$(below "$whole")"
        sleep "$((delay / 1000)).$(printf '%03d' $((delay % 1000)))"
        kill -KILL "$process" 2>/dev/null || true
    fi
    code=0
    wait "$process" 2>/dev/null || code=$?
    case $code in
        0)
            "$python" scripts/compare_runs.py "$scratch/unbroken" "$run"
            runs=$((runs + 1))
            ;;
        137)
            killed=$((killed + 1)) inside=$((inside + torn))
            ;;
        *)
            tail -n 5 "$run.log" >&2
            echo "after $killed kills keiko ended with exit code $code" >&2
            exit 1
            ;;
    esac
done
(start "$scratch/run-$runs")
"$python" scripts/compare_runs.py "$scratch/unbroken" "$scratch/run-$runs"
echo "$kills kills, $inside of them inside a change of files, in $((runs + 1)) runs: all as if there had been none"
