#!/usr/bin/env bash
# Installs what is missing, builds everything and runs every test that this machine can run: the
# programs and their tests, the server's with AddressSanitizer and ThreadSanitizer, the installed
# tree, and the checks of the tree itself. Tests that need a GPU skip, saying so, where there is none.
#
#   deploy/run_tests.sh          everything
#   deploy/run_tests.sh --fast   without the sanitizers' builds
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
cd "$root"
fast=false
[[ "${1:-}" == "--fast" ]] && fast=true

passed=0
failed=0
stage() {  # stage NAME COMMAND...: runs a stage, reports it and its time, remembers a failure.
  local name="$1"
  shift
  printf '\n=== %s\n' "$name"
  local start=$SECONDS
  if "$@"; then
    printf '=== %s: passed (%d s)\n' "$name" $((SECONDS - start))
    passed=$((passed + 1))
  else
    printf '=== %s: FAILED (%d s)\n' "$name" $((SECONDS - start))
    failed=$((failed + 1))
  fi
}

build_preset() { cmake --preset "$1" "${@:2}" && cmake --build "build/$1"; }

build_targets() {
  cmake --preset "$1" -DGRIDFOLD_BUILD_TESTS=ON && cmake --build "build/$1" --target "${@:2}"
}

# sanitizer_stages PRESET NAME TEST...: builds these tests with a sanitizer, and runs them.
sanitizer_stages() {
  local preset="$1" name="$2"
  shift 2
  stage "Build with $name" build_targets "$preset" "$@"
  stage "Tests with $name" ctest --preset "$preset" -R "^($(IFS='|'; echo "$*"))\$"
}

# The installed tree, moved to another place, and a program built against it from outside.
check_installed_tree() {
  local prefix moved
  prefix="$(mktemp -d)"
  moved="$(mktemp -d)"
  "$root/deploy/check_install.sh" "$root/build/release" "$prefix" "$moved"
  local status=$?
  rm -rf "$prefix" "$moved"
  return $status
}

"$root/deploy/install_dependencies.sh" --tests

# Several files of the server and the clients at a time, as their headers are most of what there is to
# compile. Where no GPU runs what comes of it, CUDA code is compiled soon, and to PTX only.
build_options=(-DGRIDFOLD_BUILD_TESTS=ON -DGRIDFOLD_CUDA=AUTO -DCMAKE_UNITY_BUILD=ON)
if ! nvidia-smi -L >/dev/null 2>&1; then
  build_options+=(-DCMAKE_CUDA_ARCHITECTURES=90-virtual -DCMAKE_CUDA_FLAGS="-Xcicc -O1")
fi

stage "Lint: format, walls, wire contract" "$root/deploy/lint.sh"
stage "Sources by themselves" "$root/deploy/compile_alone.py"
stage "Build" build_preset release "${build_options[@]}"
# Two at a time, but for those that need the machine (RUN_SERIAL).
stage "Tests" ctest --preset release --parallel 2
stage "Installed tree" check_installed_tree
if ! $fast; then
  # Jobs, streams and arrays, by themselves and over sockets, with clients that break off.
  served=(scheduler_test array_store_test region_store_test server_unit_test service_test
          stream_test batch_test region_service_test fault_test)
  # What reads bytes from strangers, and what shares memory with them.
  sanitizer_stages asan AddressSanitizer "${served[@]}" fold_test malformed_request_test \
    resident_memory_test command_line_input_test words_test core_test
  # What several threads share, as far as ThreadSanitizer can see it: CONTRIBUTING.md says how far.
  sanitizer_stages tsan ThreadSanitizer "${served[@]}" worker_pool_test reduction_batch_test
fi

printf '\n%d passed, %d failed\n' "$passed" "$failed"
[[ $failed -eq 0 ]]
