#!/usr/bin/env bash
# Times what a new user does first, in bare systems that debootstrap makes: the quickstart, then the
# packages by apt in a second system that has only them, and the Python wheel in an empty virtual
# environment of a third. Each ends in an answer. Needs root and the network.
#
#   deploy/packages/time_as_new_user.sh bookworm|noble [FOLDER]
#
# FOLDER keeps the bare system for the next time, as FOLDER/bookworm; without it nothing is kept. What
# apt downloads counts; debootstrap does not.
set -euo pipefail

[[ $# -ge 1 && ("$1" == bookworm || "$1" == noble) ]] || { sed -n '2,10p' "${BASH_SOURCE[0]}" >&2; exit 2; }
release="$1"
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
work="$(mktemp -d -p /var/tmp)"
bare="${2:-$work}/$release"
remove_all() {
  for system in "$work"/*/; do
    for mounted in proc dev; do
      if mountpoint -q "$system$mounted"; then umount -R -l "$system$mounted"; fi
    done
  done
  # Nothing is removed while this machine's own devices are in there.
  if ! grep -qF " $work/" /proc/mounts; then rm -rf --one-file-system "$work"; fi
}
trap remove_all EXIT

if [[ ! -x "$bare/bin/sh" ]]; then
  archive=http://deb.debian.org/debian components=main
  if [[ "$release" == noble ]]; then
    archive=http://archive.ubuntu.com/ubuntu components=main,universe
    # Releases of Ubuntu differ from each other in nothing that debootstrap's script for them says.
    [[ -e /usr/share/debootstrap/scripts/noble ]] ||
      ln -s gutsy /usr/share/debootstrap/scripts/noble
  fi
  debootstrap --variant=minbase --no-check-gpg --components="$components" "$release" "$bare" \
    "$archive" >/dev/null
fi

# make_system NAME: a bare system of its own, in which nothing starts by itself.
make_system() {
  cp -a "$bare" "$work/$1"
  printf '#!/bin/sh\nexit 101\n' >"$work/$1/usr/sbin/policy-rc.d"
  chmod 755 "$work/$1/usr/sbin/policy-rc.d"
  # A machine can look names up, its own among them.
  cp /etc/resolv.conf /etc/hosts "$work/$1/etc/"
  mount -t proc proc "$work/$1/proc"
  mount --rbind /dev "$work/$1/dev"
  mount --make-rslave "$work/$1/dev"
}
# inside NAME SCRIPT: runs it in the system, as root, in a shell.
inside() {
  chroot "$work/$1" env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive bash -euo pipefail -c "$2"
}
# timed WHAT COMMAND...
timed() {
  local start=$SECONDS
  "${@:2}" >"$work/log" 2>&1 || { tail -n 60 "$work/log" >&2; echo "$1: failed" >&2; exit 1; }
  printf '%-58s %4d s\n' "$release: $1" $((SECONDS - start))
}

make_system build
mkdir "$work/build/root/gridfold"
git -C "$root" archive HEAD | tar -x -C "$work/build/root/gridfold"
timed "packages that are built with, by apt" inside build \
  '/root/gridfold/deploy/install_dependencies.sh'
timed "deploy/quickstart.sh after that, to its last answer" inside build \
  '/root/gridfold/deploy/quickstart.sh'
timed "gridfold as a command after it" inside build \
  'gridfold_server --listen 127.0.0.1:50051 --metrics-address off & server=$!
   trap "kill $server; wait $server" EXIT
   for _ in $(seq 100); do gridfold info --health && break; sleep 0.1; done
   gridfold reduce /root/gridfold/deploy/sample_data/flight_delay_minutes.npy'
timed "(packages and wheel made there)" inside build \
  'apt-get install -y --no-install-recommends dpkg-dev file python3-numpy python3-pip python3-setuptools \
     python3-wheel patchelf
   cd /root/gridfold && cmake --build build/quickstart --target gridfold_python
   deploy/packages/make_wheel.sh build/quickstart /root/made
   cd build/quickstart && cpack -G DEB -B /root/made'

make_system packages
mkdir "$work/debs"
cp "$work"/build/root/made/gridfold{,-server}_*.deb "$work/debs"
timed "packages by apt: an answer, an upgrade, a purge" \
  "$root/deploy/packages/check_in_chroot.sh" "$work/debs" "$work/packages"
grep "to an answer" "$work/log"

make_system wheel
mkdir "$work/wheel/wheel"
cp "$work"/build/root/made/*.whl "$root/deploy/sample_data/flight_delay_minutes.npy" "$work/wheel/wheel"
cat >"$work/wheel/wheel/flights.py" <<'PYTHON'
import gridfold as gf, numpy as np
delay = np.load("/wheel/flight_delay_minutes.npy")
with gf.local() as here:
    print(here.sum(delay), here.mean(delay), here.std(delay), here.median(delay))
    print(here.histogram(delay, bins=10)[0])
PYTHON
timed "Python with NumPy by apt" inside wheel \
  'apt-get update && apt-get install -y --no-install-recommends python3-numpy python3-venv'
timed "pip install of the wheel, and a script of five lines" inside wheel \
  'python3 -m venv --system-site-packages /root/venv
   /root/venv/bin/pip install --no-index --no-deps /wheel/*.whl
   /root/venv/bin/python /wheel/flights.py'
cat "$work/log"
