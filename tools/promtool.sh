#!/usr/bin/env bash
# Puts Prometheus' promtool into build/, for the tests that run alert rules. On Debian and Ubuntu it is taken out of
# their package `prometheus`, which apt checks by its signature and which is not installed: no service, no root.
# Elsewhere, and where apt reaches nothing, it says so and leaves those tests to be skipped; with SLIPWAY_REQUIRE_ALL=1,
# as in CI, it fails.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

target=build/promtool
if [ -n "${SLIPWAY_PROMTOOL:-}" ] || command -v promtool >/dev/null || [ -x "$target/promtool" ]; then
    exit 0
fi

fetch() {
    command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || return 1
    (cd "$1" && apt-get download -qq prometheus) && return
    # No package lists, or old ones: only root may bring new ones.
    [ "$(id -u)" = 0 ] && apt-get update -qq && (cd "$1" && apt-get download -qq prometheus)
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
chmod 755 "$scratch"
if fetch "$scratch" >"$scratch/log" 2>&1 && dpkg-deb --extract "$scratch"/prometheus_*.deb "$scratch/package"; then
    mkdir -p "$target"
    mv "$scratch/package/usr/bin/promtool" "$target/promtool"
elif [ "${SLIPWAY_REQUIRE_ALL:-}" = 1 ]; then
    echo "error: no promtool, and apt brings none, but SLIPWAY_REQUIRE_ALL=1: put Prometheus' promtool on PATH" >&2
    exit 1
else
    echo "note: no promtool, and apt brings none: tests that run alert rules are skipped"
fi
