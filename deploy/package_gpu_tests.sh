#!/usr/bin/env bash
# Gathers the programs of a build that deploy/run_gpu_tests.sh runs, with the shared libraries they
# need, into one folder that runs on a machine where they cannot be built.
#
#   deploy/package_gpu_tests.sh BUILD_FOLDER TARGET_FOLDER
set -euo pipefail

build="$1" target="$2"
programs=(gridfold_server gridfold engine_conformance_test kernels_cuda_device_test flight_data_test
          fault_test steady_state_test several_engines_test kernel_benchmark transport_benchmark)

rm -rf "$target"
mkdir -p "$target/bin" "$target/lib"
for name in "${programs[@]}"; do
  found="$(find "$build" -type f -perm -u+x -name "$name" | head -n 1)"
  if [[ -z "$found" ]]; then
    echo "package_gpu_tests.sh: $build has no $name" >&2
    exit 1
  fi
  cp "$found" "$target/bin/"
  # The C library and the dynamic linker belong to the machine; the rest travels.
  ldd "$found" | awk '$3 ~ /^\// {print $3}' |
    grep -vE '/(libc|libm|libdl|librt|libpthread|libresolv)\.so' |
    xargs -r cp -L -u -t "$target/lib"
done
strip "$target"/bin/* "$target"/lib/*.so* 2>/dev/null || true
for name in "${programs[@]}"; do
  mv "$target/bin/$name" "$target/bin/$name.program"
  # A launcher instead of a changed run path: the programs stay as they were built.
  printf '#!/bin/sh\nhere="$(dirname "$(readlink -f "$0")")"\nLD_LIBRARY_PATH="$here/../lib" exec "$here/%s.program" "$@"\n' \
    "$name" >"$target/bin/$name"
  chmod +x "$target/bin/$name"
done
du -sh "$target"
