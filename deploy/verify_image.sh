#!/usr/bin/env bash
# Builds the image for the processor from this tree, runs it, and checks what is in it, whom it runs as,
# that it needs nothing writable, how it is called, its health and its stop; says what it takes of disk
# and memory. deploy/image/ has the checks.
#
#   sudo deploy/verify_image.sh
#
# Needs root on Debian 12 or Ubuntu 24.04, but no daemon and no registry: debootstrap makes a base image
# like debian:12-slim, buildah builds, runc runs in a network of its own. Missing packages are installed.
# Besides those only the compiler's cache stays, in build/image: a second run is quicker.
set -euo pipefail
set -m  # Every step is a process group, which can be ended as a whole.

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
work="$root/build/image"
network="gridfold-image-$$"
mirror=http://deb.debian.org/debian
packages=(buildah debootstrap debian-archive-keyring iproute2 python3 runc)

step="start"
step_group=""
log="$work/log"
begin() {  # begin WHAT: what follows is this, should it fail.
  step="$1"
  printf '%s %s\n' "$(date +%T)" "$step"
}
# Commands run in the background, so that a signal is not kept waiting.
await() {
  step_group=$!
  wait "$step_group"
  step_group=""
}
run() {
  "$@" </dev/null &
  await
}
quietly() {  # As run; the output is for failures.
  "$@" </dev/null >"$log" 2>&1 &
  await
}

# buildah keeps all of its own below the work folder.
export TMPDIR="$work/tmp"
buildah() {
  command buildah --root "$work/storage" --runroot "$work/run/buildah" --storage-driver vfs "$@"
}
runc() { command runc --root "$work/run/runc" "$@"; }

remove_all() {
  local container
  if command -v runc >/dev/null; then
    for container in $(runc list --quiet 2>/dev/null); do runc delete --force "$container" || true; done
  fi
  ip netns delete "$network" 2>/dev/null || true
  if command -v buildah >/dev/null; then buildah rm --all >/dev/null 2>&1 || true; fi
  # Never across a mount that something left behind.
  rm -rf --one-file-system "$work"/{base,bootstrap,config.json,files,log,root,run,storage}
  find "$work/tmp" -mindepth 1 -maxdepth 1 ! -name buildah-cache -exec rm -rf --one-file-system {} +
}
finish() {
  local status=$?
  trap - EXIT
  # buildah waits for ever when it is asked more gently.
  if [[ -n "$step_group" ]]; then kill -KILL -- "-$step_group" 2>/dev/null || true; fi
  if [[ $status -ne 0 ]]; then
    if [[ -s "$log" ]]; then tail -n 40 "$log" >&2; fi
    echo "verify_image.sh: FAILED: $step" >&2
  fi
  remove_all
  exit "$status"
}

install_packages() {
  local missing=() package
  for package in "${packages[@]}"; do
    dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed ||
      missing+=("$package")
  done
  [[ ${#missing[@]} -eq 0 ]] && return
  apt-get update
  DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}"
}

# Debian 12 as its slim images are: without documentation, translations and packages' archives.
make_base_image() {
  local tree="$work/bootstrap" container
  debootstrap --variant=minbase bookworm "$tree" "$mirror"
  cat >"$tree/etc/apt/sources.list" <<END
deb $mirror bookworm main
deb $mirror bookworm-updates main
deb $mirror-security bookworm-security main
END
  rm -rf "$tree"/var/cache/apt/* "$tree"/var/lib/apt/lists/* "$tree"/var/log/* \
    "$tree"/usr/share/{doc,info,locale,man}/*
  container="$(buildah from --pull-never scratch)"
  buildah add --quiet "$container" "$tree" /
  buildah config --cmd /bin/bash "$container"
  buildah commit --quiet "$container" base
  buildah rm "$container"
  rm -rf --one-file-system "$tree"
}

build_image() {
  buildah bud --isolation chroot --format docker --pull-never --tag gridfold:cpu \
    --build-arg GRIDFOLD_CUDA=OFF --build-arg BUILD_IMAGE=localhost/base \
    --build-arg RUNTIME_IMAGE=localhost/base "$root"
}

# unpack IMAGE NAME: its files, as $work/NAME.
unpack() {
  local container
  container="$(buildah from --pull-never "$1")"
  ln -s "$(buildah mount "$container")" "$work/$2"
}

unpack_all() {
  unpack localhost/base base
  unpack localhost/gridfold:cpu files
  unpack localhost/gridfold:cpu root
  buildah inspect --type image localhost/gridfold:cpu |
    python3 -c 'import json, sys; json.dump(json.load(sys.stdin)["Docker"]["config"], sys.stdout)' \
      >"$work/config.json"
}

# With a loopback of its own, where the image's ports are free.
in_network() { nsenter --net="/run/netns/$network" "$@"; }

check() {
  GRIDFOLD_IMAGE="$work" PYTHONDONTWRITEBYTECODE=1 \
    run in_network python3 "$root/deploy/image/$1.py" -v
}

if [[ "$(id -u)" -ne 0 ]]; then
  echo "verify_image.sh: needs root" >&2
  exit 1
fi
trap finish EXIT
trap 'exit 130' INT TERM
mkdir -p "$work/tmp"
remove_all  # What a run that was killed has left.
mkdir -p "$work/run"
: >"$log"

begin "install what is missing"
quietly install_packages
begin "make the base image"
quietly make_base_image
begin "build the image (minutes)"
quietly build_image
begin "unpack it"
quietly unpack_all
quietly ip netns add "$network"
quietly in_network ip link set lo up
: >"$log"
begin "check its contents and configuration"
check image_content_test
begin "run it"
check image_run_test
begin "done: the image is as it should be"
