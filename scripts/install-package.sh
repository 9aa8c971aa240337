#!/usr/bin/env bash
# Installs a Debian package, if that can be done here without asking anybody; fails if not.
# usage: scripts/install-package.sh PACKAGE
set -euo pipefail

root=()
[[ "$(id -u)" == 0 ]] || root=(sudo -n)
command -v apt-get >/dev/null || exit 1
"${root[@]}" true 2>/dev/null || exit 1
"${root[@]}" apt-get update -qq || true
"${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$1"
