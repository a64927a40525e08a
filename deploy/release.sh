#!/usr/bin/env bash
# Makes the artifacts of a release from this commit, reproducibly:
#
#   deploy/release.sh FOLDER           Debian packages, the Python wheel, the relocatable archive, the sources,
#                                      SHA256SUMS and an SPDX list of what they contain
#   deploy/release.sh --check FOLDER   makes them again elsewhere and compares the checksums
#
# The build is for the CPU; GRIDFOLD_CUDA=ON in the environment makes that of the CUDA engine as well.
# Times in the artifacts are the commit's. A tree with changes is refused.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
check=false
if [[ "${1:-}" == "--check" ]]; then
  check=true
  shift
fi
[[ $# -eq 1 ]] || { sed -n '2,10p' "${BASH_SOURCE[0]}" >&2; exit 2; }
folder="$(mkdir -p "$1" && cd "$1" && pwd)"
cd "$root"
if [[ -n "$(git status --porcelain)" ]]; then
  echo "release.sh: the tree has changes; commit them, or make the release from a clean clone" >&2
  exit 1
fi

SOURCE_DATE_EPOCH="$(git log -1 --format=%ct)"
export SOURCE_DATE_EPOCH LC_ALL=C TZ=UTC
cuda="${GRIDFOLD_CUDA:-OFF}"
version="$(sed -n 's/^project(gridfold VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
umask 022

# The sources as the commit has them, at a place that no artifact must depend on.
git archive --format=tar --prefix="gridfold-$version/" HEAD >"$work/gridfold-$version-source.tar"
tar -C "$work" -xf "$work/gridfold-$version-source.tar"
source="$work/gridfold-$version" out="$work/out"
mkdir "$out"
zstd -q -12 -T2 --rm "$work/gridfold-$version-source.tar" -o "$out/gridfold-$version-source.tar.zst"

# package BUNDLE PYTHON: builds, and lets CPack make what this kind of build is packaged as.
package() {
  cmake -S "$source" -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DGRIDFOLD_CUDA="$cuda" \
    -DGRIDFOLD_BUILD_TESTS=OFF -DGRIDFOLD_PYTHON="$2" -DGRIDFOLD_BUNDLE_LIBRARIES="$1" \
    "-DCMAKE_CXX_FLAGS=-ffile-prefix-map=$work=." >/dev/null
  cmake --build "$work/build" | "$root/deploy/build_progress.sh"
  (cd "$work/build" && cpack -B "$work/cpack" >/dev/null)
}
package OFF ON
mv "$work"/cpack/*.deb "$out/"
"$source/deploy/packages/make_wheel.sh" "$work/build" "$out"
package ON OFF
# CPack's archive has the order and the times of the file system: it is packed again without them.
tree="$(basename "$work"/cpack/*.tar.zst .tar.zst)"
tar -C "$work" --zstd -xf "$work/cpack/$tree.tar.zst"
tar -C "$work" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" \
  -cf - "$tree" | zstd -q -12 -T2 -o "$out/$tree.tar.zst"
python3 "$root/deploy/release_contents.py" "$version" "$(git rev-parse HEAD)" "$out" \
  >"$out/gridfold-$version.spdx.json"
(cd "$out" && sha256sum -- * >SHA256SUMS)

if $check; then
  diff "$folder/SHA256SUMS" "$out/SHA256SUMS"
  echo "the artifacts of $folder are those of this commit"
else
  cp "$out"/* "$folder/"
  cat "$folder/SHA256SUMS"
fi
