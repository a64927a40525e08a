#!/usr/bin/env bash
# Checks that what deploy/quickstart.sh builds can be installed, and that the installed tree stands on
# its own: it is installed with the shared libraries, moved
# elsewhere, every library it loads comes from inside it or from the C library, its programs answer
# each other, and programs outside the project build against its CMake packages and by pkg-config.
#
#   deploy/check_install.sh BUILD_FOLDER EMPTY_PREFIX EMPTY_TARGET
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
build="$(cd "$1" && pwd)" prefix="$2" moved="$3"

# What an install copies out of the build folder is made by the target that the quickstart builds.
grep -q -- '--target gridfold_installed' "$root/deploy/quickstart.sh"
made="$(ninja -C "$build" -t query gridfold_installed | sed 's/^[ |]*//')"
while read -r file; do
  # A folder that is installed whole is the output of a target of its own.
  [[ "$file" == manual/share/ ]] && file=manual/gridfold_manual_pages
  if ! grep -qxF "$file" <<<"$made"; then
    echo "cmake --install copies $file, which the target gridfold_installed does not build" >&2
    exit 1
  fi
done < <(find "$build" -name cmake_install.cmake -exec grep -h 'file(INSTALL' {} + |
           grep -oE "\"$build/[^\"]+\"" | tr -d '"' |
           sed -e "s|^$build/||" -e 's|\.so\.[0-9.]*$|.so|' | sort -u |
           grep -vE '(^|/)CMakeFiles/|^packages/|\.(cmake|pc)$')

cmake -S "$root" -B "$build" -DGRIDFOLD_BUNDLE_LIBRARIES=ON >/dev/null
cmake --build "$build" >/dev/null
cmake --install "$build" --prefix "$prefix" --strip >/dev/null
cmake -S "$root" -B "$build" -DGRIDFOLD_BUNDLE_LIBRARIES=OFF >/dev/null
tree="$moved/gridfold"
mv "$prefix" "$tree"
mkdir -p "$prefix"

# From the C library, the dynamic linker or the tree itself; nothing from the machine's packages.
belongs_to_machine='linux-vdso|ld-linux|/lib(c|m|dl|rt|pthread|resolv)\.so'
for program in gridfold gridfold_server gridfold_load; do
  PATH="$tree/bin" "$program" --version
done
"$tree/libexec/restart_delay.sh" "$moved/restarts"
for page in man1/gridfold.1 man1/gridfold-reduce.1 man8/gridfold_server.8; do
  [[ -s "$tree/share/man/$page" ]]
done
[[ -s "$tree/share/bash-completion/completions/gridfold" ]]
for program in "$tree"/bin/* "$tree/lib/libgridfold_core.so"; do
  strangers="$(ldd "$program" | grep -vE "$belongs_to_machine" | grep -vF "$tree/" || true)"
  if [[ -n "$strangers" ]]; then
    echo "$program loads libraries from outside the installed tree:" >&2
    echo "$strangers" >&2
    exit 1
  fi
done
echo "installed tree: $(du -sh "$tree" | cut -f 1), $(find "$tree/lib" -name '*.so*' | wc -l) libraries"

# The C library, which needs no server.
cmake -S "$root/client/core/example" -B "$moved/core_example" -G Ninja \
  -DCMAKE_PREFIX_PATH="$tree" >/dev/null
cmake --build "$moved/core_example" >/dev/null
"$moved/core_example/gridfold_core_example"
pkgconfig="$(dirname "$(find "$tree" -name gridfold_core.pc)")"
# The words of the flags are words of the command line.
# shellcheck disable=SC2046
cc -o "$moved/by_pkg_config" "$root/client/core/example/main.c" \
  $(PKG_CONFIG_PATH="$pkgconfig" pkg-config --cflags --libs gridfold_core)
LD_LIBRARY_PATH="$(dirname "$pkgconfig")" "$moved/by_pkg_config"

"$tree/bin/gridfold_server" --engine cpu --listen 127.0.0.1:0 --metrics-address off \
  --port-file "$moved/port" >"$moved/log" 2>&1 &
server=$!
trap 'kill -TERM $server 2>/dev/null || true' EXIT
for _ in $(seq 100); do
  [[ -s "$moved/port" ]] && break
  sleep 0.1
done
address="127.0.0.1:$(cat "$moved/port")"
"$tree/bin/gridfold" info --server "$address" --health

cmake -S "$root/client/example" -B "$moved/example" -G Ninja -DCMAKE_PREFIX_PATH="$tree" >/dev/null
cmake --build "$moved/example" >/dev/null
"$moved/example/gridfold_example" "$address"

kill -TERM $server
wait $server
trap - EXIT
