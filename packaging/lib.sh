# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# What the scripts of this folder share. To be sourced; leaves the shell in the top folder of the source tree.

set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { printf '%s\n' "spanscope: $*"; }
fail() {
  printf '%s\n' "spanscope: $*" >&2
  exit 1
}

# Prints the packages of dependencies.txt, one a line.
listed_packages() { sed -e 's/#.*//' -e 's/[[:space:]]//g' -e '/^$/d' packaging/dependencies.txt; }

# Prints those that are not installed.
missing_packages() {
  local package
  while read -r package; do
    # shellcheck disable=SC2016 # the braces are dpkg-query's own
    dpkg-query --show --showformat='${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed ||
      printf '%s\n' "$package"
  done < <(listed_packages)
}

# Whether the package lists know every package given.
have_candidates() {
  local package
  for package in "$@"; do
    apt-cache show --quiet --no-all-versions "$package" >/dev/null 2>&1 || return 1
  done
}

# Runs apt-get quietly; what it says goes to build/apt.log. $1: how to become root, may be empty.
apt_get() {
  local as_root=$1
  shift
  # shellcheck disable=SC2086 # empty, or words on purpose
  $as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get --quiet --yes -o DPkg::Lock::Timeout=300 "$@" </dev/null >>build/apt.log 2>&1
}

install_dependencies() {
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    say "this is not a Debian system: the packages named in packaging/dependencies.txt have to be there"
    return
  fi
  local -a missing
  mapfile -t missing < <(missing_packages)
  if [[ ${#missing[@]} -eq 0 ]]; then return; fi
  say "these Debian packages are missing: ${missing[*]}"

  local as_root=
  local command="apt-get install --no-install-recommends ${missing[*]}"
  if [[ $EUID -ne 0 ]]; then
    if ! command -v sudo >/dev/null; then
      fail "they cannot be installed without root; please run: su -c '$command'"
    fi
    command="sudo $command"
    if sudo --non-interactive true 2>/dev/null; then
      as_root="sudo --non-interactive"
    elif [[ ${CI:-} != true && -t 0 && -t 2 ]] && sudo --validate; then
      as_root=sudo
    else
      fail "they cannot be installed without root; please run: $command"
    fi
  fi

  mkdir -p build
  : >build/apt.log
  say "installing them (log: build/apt.log)"
  if ! have_candidates "${missing[@]}"; then
    apt_get "$as_root" update || say "the package lists could not be brought up to date"
  fi
  # Old lists name files that the archive has replaced since: then one more time with new ones.
  if ! apt_get "$as_root" install --no-install-recommends "${missing[@]}"; then
    if ! { apt_get "$as_root" update && apt_get "$as_root" install --no-install-recommends "${missing[@]}"; }; then
      tail -n 20 build/apt.log >&2
      fail "the packages could not be installed; please run: $command"
    fi
  fi
}

# Configures a preset and builds a target. $1: the preset; $2: the target, e.g. all; others: what CMake is told besides.
build() {
  local preset=$1 target=$2 folder=build/$1 werror=OFF
  shift 2
  if [[ ${CI:-} == true ]]; then
    werror=ON
    # The compiler collects garbage later, which takes half a gigabyte more and a tenth of the time less.
    export CXXFLAGS=--param=ggc-min-heapsize=524288
  fi
  local -a launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=)
  if command -v ccache >/dev/null; then
    # Precompiled headers, whose list has just been written, need the sloppiness to be found in the cache. What is not
    # found is compiled without being preprocessed before.
    launcher=("-DCMAKE_CXX_COMPILER_LAUNCHER=env;CCACHE_DEPEND=true;CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime;ccache")
    if [[ ! -w ${HOME:-/nonexistent} ]]; then export CCACHE_DIR=$PWD/build/ccache; fi
  fi

  mkdir -p "$folder"
  say "configuring $folder"
  if ! cmake --preset "$preset" "-DSPANSCOPE_WERROR=$werror" "${launcher[@]}" "$@" \
    </dev/null >"$folder/configure.log" 2>&1; then
    cat "$folder/configure.log" >&2
    fail "configuring failed"
  fi

  say "building"
  cmake --build "$folder" --parallel "$(nproc)" --target "$target" </dev/null ||
    fail "building failed"
}

# Has what is packed bear the date of the newest commit, so that the same sources give the same files.
use_date_of_sources() {
  if [[ -z ${SOURCE_DATE_EPOCH:-} ]]; then
    SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null || stat --format=%Y CMakeLists.txt)
  fi
  export SOURCE_DATE_EPOCH
}
