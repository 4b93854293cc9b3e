# Sourced by the commands of utils/: installs what is missing, builds, and says how long it took.
# Everything here does nothing, quickly, when there is nothing to do, and needs root only when a
# Debian package is missing.

KILN_ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
KILN_BUILD="${KILN_BUILD:-$KILN_ROOT/build}"
KILN_VENV="${KILN_VENV:-$KILN_ROOT/.venv}"
KILN_FULL_BUILD_SECONDS="" # what kiln_build took, if it built from nothing

kiln_say() { printf '\n== %s\n' "$*"; }
kiln_die() { printf 'error: %s\n' "$*" >&2; exit 1; }
# The command line is wrong.
kiln_refuse() { printf 'error: %s\n' "$*" >&2; exit 2; }

# The names in a list file, without its comments.
kiln_list() { grep -v '^#' "$1"; }

# The installed packages, straight from dpkg's database: a virtual or half-installed one is missing.
kiln_missing_packages() {
  local wanted
  wanted="$(kiln_list "$KILN_ROOT/utils/lib/packages.txt" | sort)"
  # shellcheck disable=SC2086
  { dpkg-query -W -f '${db:Status-Status} ${Package}\n' $wanted 2>/dev/null || true; } |
    sed -n 's/^installed //p' | sort -u | comm -23 <(echo "$wanted") -
}

kiln_install_packages() {
  command -v dpkg-query >/dev/null || kiln_die "expected a Debian system, got none (no dpkg-query); \
install the packages of utils/lib/packages.txt by other means and set KILN_SKIP_PACKAGES=1"
  local missing
  missing="$(kiln_missing_packages | tr '\n' ' ')"
  [ -n "$missing" ] || return 0
  local install="env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 -y -q"
  if [ "$(id -u)" != 0 ]; then
    sudo -n true 2>/dev/null || kiln_die "Debian packages are missing and this user may not \
install them; as root: apt-get install $missing"
    install="sudo $install"
  fi
  kiln_say "installing Debian packages: $missing"
  $install update || kiln_die "apt-get update failed"
  # shellcheck disable=SC2086
  $install install --no-install-recommends $missing || kiln_die "apt-get install failed"
}

# A Python of at least 3.11 that has its headers and can make a virtual environment. The one on the
# path may be a shim or lack headers, so Debian's own goes first.
kiln_python() {
  local candidate
  for candidate in ${KILN_PYTHON:-} /usr/bin/python3 /usr/bin/python3.1[1-9] python3; do
    if "$candidate" - <<'PY' 2>/dev/null
import os, sys, sysconfig, venv, ensurepip
header = os.path.join(sysconfig.get_paths()["include"], "Python.h")
sys.exit(0 if sys.version_info >= (3, 11) and os.path.exists(header) else 1)
PY
    then echo "$candidate"; return 0; fi
  done
  kiln_die "expected a Python of at least 3.11 with headers (python3-dev) and venv, got none"
}

# kiln_venv FILE: the virtual environment, with the packages of one requirements file. A stamp of
# the files' contents makes the second call free.
kiln_venv() {
  local wanted="$KILN_ROOT/utils/lib/$1" stamp="$KILN_VENV/kiln-installed-${1%.txt}" sum
  sum="$(cat "$KILN_ROOT"/utils/lib/requirements*.txt | sha256sum)"
  if [ "$(cat "$stamp" 2>/dev/null)" != "$sum" ]; then
    local python
    python="$(kiln_python)" || return 1
    kiln_say "installing Python packages into ${KILN_VENV#"$KILN_ROOT"/} ($1)"
    [ -x "$KILN_VENV/bin/python" ] || "$python" -m venv "$KILN_VENV" || return 1
    "$KILN_VENV/bin/python" -m pip install -q --disable-pip-version-check -r "$wanted" || return 1
    echo "$sum" > "$stamp"
  fi
}

# What utils/ needs before it builds: kiln_setup REQUIREMENTS. In a shell of its own: who calls says
# what becomes of a failure.
kiln_setup() (
  [ -n "${KILN_SKIP_PACKAGES:-}" ] || kiln_install_packages || exit 1
  kiln_venv "$1"
)

kiln_minutes() { printf '%d min %02d s' $(($1 / 60)) $(($1 % 60)); }

# kiln_build TARGETS...: configures if needed, builds, and prints how long it took.
kiln_build() {
  local start=$SECONDS fresh="" log="$KILN_BUILD/utils-build.log"
  mkdir -p "$KILN_BUILD"
  if [ ! -f "$KILN_BUILD/build.ninja" ]; then
    fresh=1
    rm -f "$KILN_BUILD/ccache-stats.log"
    export CCACHE_STATSLOG="$KILN_BUILD/ccache-stats.log"
    kiln_say "configuring in ${KILN_BUILD#"$KILN_ROOT"/}"
    (cd "$KILN_ROOT" && cmake --preset dev -B "$KILN_BUILD" \
      -DKILN_VENV="$KILN_VENV") > "$log" 2>&1 || { cat "$log"; return 1; }
  fi
  kiln_say "building: $*"
  if [ -t 1 ]; then
    ninja -C "$KILN_BUILD" "$@" || return 1
  else
    # One line a minute where nobody watches a terminal; all of it if it fails.
    kiln_quietly "$log" ninja -C "$KILN_BUILD" "$@" || return 1
  fi
  local took=$((SECONDS - start))
  [ -z "$fresh" ] || KILN_FULL_BUILD_SECONDS=$took
  [ -z "$fresh" ] || echo "full build: $(kiln_minutes $took) on $(nproc) cores$(kiln_ccache_note)"
  [ -n "$fresh" ] || echo "build: $(kiln_minutes $took)"
}

# kiln_quietly LOG COMMAND...: the command's output goes to the log; its last line is shown once a
# minute, and the end of the log if it fails.
kiln_quietly() {
  local log="$1" pid status=0
  shift
  "$@" > "$log" 2>&1 < /dev/null &
  pid=$!
  ( while sleep 60 > /dev/null 2>&1; do tail -n 1 "$log" | cut -c1-100; done ) &
  local watcher=$!
  wait "$pid" || status=$?
  kill "$watcher" 2>/dev/null
  wait "$watcher" 2>/dev/null
  if [ "$status" != 0 ]; then
    grep -nE '^FAILED|error:' "$log" | head -40
    tail -n 60 "$log"
  fi
  return "$status"
}

# How much of the build the compiler cache answered, from the log that kiln_build had it write.
kiln_ccache_note() {
  local log="$KILN_BUILD/ccache-stats.log" hits all
  [ -s "$log" ] || return 0
  hits="$(grep -cE '^(direct|preprocessed)_cache_hit$' "$log" || true)"
  all="$(grep -cE '^(direct_cache_hit|preprocessed_cache_hit|cache_miss)$' "$log" || true)"
  echo ", $hits of $all cacheable compilations answered by ccache"
}
