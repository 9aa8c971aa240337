#!/usr/bin/env bash
# Shows a run in TensorBoard. Further arguments go to tensorboard (--port 6007, --bind_all ...).
# usage: scripts/dashboard.sh RUN   for example: scripts/dashboard.sh checkpoints/minishogi
set -euo pipefail

if [[ $# -lt 1 || "$1" == -* ]]; then
    sed -n '2,3s/^# //p' "${BASH_SOURCE[0]}" >&2
    exit 2
fi
if [[ ! -d "$1" ]]; then
    echo "dashboard: $1 is no folder" >&2
    exit 2
fi
run="$(cd "$1" && pwd)"
shift
python="$("$(dirname "${BASH_SOURCE[0]}")/python-env.sh")"
exec "$python" -m tensorboard.main --logdir "$run" "$@"
