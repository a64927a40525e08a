#!/usr/bin/env bash
# Makes the Python wheel of a build, with the shared libraries that its modules need inside, and without
# the network:
#
#   deploy/packages/make_wheel.sh BUILD FOLDER
#
# BUILD has built the target gridfold_python. With SOURCE_DATE_EPOCH, the same build gives the same bytes.
set -euo pipefail

[[ $# -eq 2 ]] || { sed -n '2,7p' "${BASH_SOURCE[0]}" >&2; exit 2; }
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
build="$(cd "$1" && pwd)"
folder="$(mkdir -p "$2" && cd "$2" && pwd)"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

# setuptools writes beside the sources.
mkdir -p "$work/client/python"
cp "$root/CMakeLists.txt" "$work"
cp -r "$root"/client/python/{src,setup.py,pyproject.toml,README.md} "$work/client/python"
GRIDFOLD_BUILD_FOLDER="$build" "${PYTHON:-/usr/bin/python3}" -m pip wheel --quiet --no-index \
  --no-deps --no-build-isolation -w "$folder" "$work/client/python"
