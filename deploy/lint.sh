#!/usr/bin/env bash
# Checks of the sources that need no build: format, walls between folders, and the wire contract.
#
#   deploy/lint.sh         check
#   deploy/lint.sh --fix   format the sources first
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
cd "$root"

mapfile -t sources < <(find kernels server client manual -name '*.h' -o -name '*.c' -o -name '*.cc' -o -name '*.cu' \
  -o -name '*.cuh' -o -name '*.inc' | sort)
if [[ "${1:-}" == "--fix" ]]; then
  clang-format -i "${sources[@]}"
fi
clang-format --dry-run --Werror "${sources[@]}"
echo "format: ${#sources[@]} files"

python3 deploy/check_walls.py

# buf comes from npm, once, into the build folder.
buf_home="$root/build/tools"
buf="$buf_home/node_modules/.bin/buf"
if [[ ! -x "$buf" ]]; then
  mkdir -p "$buf_home"
  npm install --prefix "$buf_home" --no-audit --no-fund --silent "@bufbuild/buf@1"
fi
(cd proto && "$buf" lint)
echo "wire contract: lint clean"
