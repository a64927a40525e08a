#!/bin/sh
# Waits before a server is started again that has just ended: not at all the first time, then 4 s,
# twice as long each time, up to five minutes. Once the server has run for two minutes it counts as
# sound, and the next start waits no time again.
#
#   restart_delay.sh STATE_FILE [UPTIME_FILE]
#
# As ExecStartPre= of a unit without a limit of starts: systemd 252 (Debian 12) has only a fixed
# RestartSec=, which is either too long for one crash or too short for a hundred; RestartSteps= and
# RestartMaxDelaySec= came with 254. STATE_FILE has the time of the last start and the delay before
# it; it belongs in a RuntimeDirectory= with RuntimeDirectoryPreserve=restart, so that a start by hand
# begins anew. Times are seconds since the machine started, which no change of the clock moves.
set -eu

state_file="$1"
uptime_file="${2:-/proc/uptime}"
delay_first=4
delay_most=300
sound_after=120

read -r uptime _ <"$uptime_file"
now="${uptime%%.*}"
started=0
delay=0
has_state=false
if [ -s "$state_file" ]; then
  # A file that is not as it was written counts as none.
  read -r started delay _ <"$state_file" || true
  case "$started$delay" in
    '' | *[!0-9]*) started=0 delay=0 ;;
    *) has_state=true ;;
  esac
fi
if ! $has_state || [ $((now - started)) -ge "$sound_after" ]; then
  delay=0
elif [ "$delay" -eq 0 ]; then
  delay="$delay_first"
else
  delay=$((delay * 2))
  [ "$delay" -le "$delay_most" ] || delay="$delay_most"
fi
echo "$((now + delay)) $delay" >"$state_file"
if [ "$delay" -gt 0 ]; then
  echo "restart_delay: the server has ended soon after its start; waiting $delay s"
  sleep "$delay"
fi
