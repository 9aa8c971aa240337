#!/usr/bin/env bash
# Lets the published minishogi network mate the naked king by ply 8 and the four-piece handicap by
# ply 10, at 20,000 simulations a move, against every first move and the longest defence.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
cargo test --release -p keiko --test handicaps -- --ignored --nocapture --test-threads=1
