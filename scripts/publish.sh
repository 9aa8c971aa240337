#!/usr/bin/env bash
# Puts what a run has to show into a folder of its own: its newest network as engines take it, its
# experiment, its figures, the curve and the table of its ratings, and five games that it played, from
# the first generation to the last. A README for it remains to be written.
# usage: scripts/publish.sh RUN FOLDER [GAMES]    so many more games for the ratings, 320 unless told
set -euo pipefail

keiko="$(dirname "${BASH_SOURCE[0]}")/../target/release/keiko"
run="$1" folder="$2" games="${3:-320}"

# The number of a generation's first game that began normally.
normal_game() {
    "$keiko" games "$run" --generation "$1" |
        awk '$4 == "normal" && !found { print $1; found = 1 }'
}

network="$(find "$run/networks" -mindepth 1 -maxdepth 1 -not -name '.*' | sort | tail -n 1)"
"$keiko" export "$network" --out "$folder"
cp "$run/experiment.toml" "$run/metrics.jsonl" "$folder/"
"$keiko" ladder "$run" --games "$games" >"$folder/ratings.txt"
"$keiko" report "$run" --elo "$folder/elo.svg"

last="$("$keiko" games "$run" --last 1 | awk 'END { print $2 }')"
for part in 0 1 2 3 4; do
    number="$(normal_game $((last * part / 4)))"
    "$keiko" games "$run" --numbers "$number" --print
    echo
done >"$folder/games.txt"
du -sh "$folder"
