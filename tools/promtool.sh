#!/usr/bin/env bash
# Puts Prometheus and its promtool into build/, for the tests that run rules and queries. On Debian and Ubuntu it is extracted from
# the package `prometheus`, whose signature apt verifies and which is not installed: no service, no root.
# On other systems, and without a network, it prints a note, and those tests are skipped; with SLIPWAY_REQUIRE_ALL=1, as
# in CI, it fails.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

target=build/promtool
has() {
    command -v "$1" >/dev/null || [ -x "$target/$1" ]
}
if { [ -n "${SLIPWAY_PROMTOOL:-}" ] || has promtool; } && { [ -n "${SLIPWAY_PROMETHEUS:-}" ] || has prometheus; }; then
    exit 0
fi

fetch() {
    command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || return 1
    (cd "$1" && apt-get download -qq prometheus) && return
    # The package lists are missing or outdated; only root may update them.
    [ "$(id -u)" = 0 ] && apt-get update -qq && (cd "$1" && apt-get download -qq prometheus)
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
chmod 755 "$scratch"
if fetch "$scratch" >"$scratch/log" 2>&1 && dpkg-deb --extract "$scratch"/prometheus_*.deb "$scratch/package"; then
    mkdir -p "$target"
    mv "$scratch"/package/usr/bin/prom{tool,etheus} "$target"
elif [ "${SLIPWAY_REQUIRE_ALL:-}" = 1 ]; then
    echo "error: no promtool, and apt brings none, but SLIPWAY_REQUIRE_ALL=1: put Prometheus and promtool on PATH" >&2
    exit 1
else
    echo "note: no promtool and Prometheus here, and apt can't download them: tests that run rules and queries are skipped"
fi
