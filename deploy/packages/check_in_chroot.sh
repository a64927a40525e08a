#!/usr/bin/env bash
# Installs packages as a new machine would: into a bare Debian 12 that debootstrap makes, by apt, with
# what they depend on from the distribution's archive. Then it asks the installed server a question,
# installs the packages once more as an upgrade does, and purges them. Needs root and the network.
#
#   deploy/packages/check_in_chroot.sh FOLDER_OF_DEBS [CHROOT]
#
# CHROOT is made where it is not there, and kept; without it a temporary one is removed at the end.
set -euo pipefail

debs="$(cd "$1" && pwd)"
if [[ $# -ge 2 ]]; then
  chroot="$2"
else
  chroot="$(mktemp -d)"
  trap 'rm -rf --one-file-system "$chroot"' EXIT
fi
if [[ ! -x "$chroot/bin/sh" ]]; then
  debootstrap --variant=minbase bookworm "$chroot" >/dev/null
  # Nothing starts in a chroot.
  printf '#!/bin/sh\nexit 101\n' >"$chroot/usr/sbin/policy-rc.d"
  chmod 755 "$chroot/usr/sbin/policy-rc.d"
fi
mkdir -p "$chroot/debs"
cp "$debs"/*.deb "$chroot/debs/"
inside() { chroot "$chroot" env DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 "$@"; }

seconds=$SECONDS
inside apt-get update -qq
inside sh -c 'apt-get install -qq -y --no-install-recommends /debs/gridfold*.deb' >/dev/null
inside getent passwd gridfold >/dev/null
inside sh -c '
  gridfold_server --config /etc/gridfold/gridfold.toml --listen unix:/tmp/socket \
    --metrics-address off --port-file /tmp/port & server=$!
  for _ in $(seq 100); do [ -s /tmp/port ] && break; sleep 0.1; done
  printf "1\n2.5\n4\n" | gridfold reduce - --format csv --header no --stat sum --server unix:/tmp/socket
  kill $server; wait $server'
echo "from a bare system to an answer: $((SECONDS - seconds)) s"

echo "# changed by the operator" >>"$chroot/etc/gridfold/gridfold.toml"
inside sh -c 'dpkg -i /debs/gridfold*.deb' >/dev/null
grep -q "changed by the operator" "$chroot/etc/gridfold/gridfold.toml"
inside apt-get purge -qq -y gridfold gridfold-server >/dev/null
left="$(find "$chroot/usr" "$chroot/etc" -name '*gridfold*' | sed "s|^$chroot||")"
if [[ -n "$left" ]]; then
  echo "left behind: $left" >&2
  exit 1
fi
echo "upgraded with its configuration, and purged"
