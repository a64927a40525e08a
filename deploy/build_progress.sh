#!/usr/bin/env bash
# Shows how far a build is: reads what ninja prints, and writes the percentage and the time that is
# left by the pace so far, on one line of a terminal, else a line at every tenth.
#
#   ninja | deploy/build_progress.sh
set -euo pipefail

# "4 min 5 s" of seconds; minutes alone where it is long, since it is a guess.
say_time() {
  if (($1 < 60)); then
    echo "$1 s"
  elif (($1 < 300)); then
    echo "$(($1 / 60)) min $(($1 % 60)) s"
  else
    echo "$((($1 + 30) / 60)) min"
  fi
}

step='^\[([0-9]+)/([0-9]+)\]'
shown=-1
while IFS= read -r line; do
  [[ "$line" =~ $step ]] || continue
  done_steps=${BASH_REMATCH[1]} all_steps=${BASH_REMATCH[2]}
  percent=$((done_steps * 100 / all_steps))
  # The first steps are short: a guess from them alone would be far too low.
  left=""
  if ((percent >= 5 && percent < 100)); then
    left=", about $(say_time $((SECONDS * (all_steps - done_steps) / done_steps))) left"
  fi
  if [[ -t 1 ]]; then
    printf '\r\e[K%3d %%%s' "$percent" "$left"
  elif ((percent / 10 > shown / 10 || shown < 0)); then
    printf '%3d %%%s\n' "$percent" "$left"
  fi
  shown=$percent
done
if [[ -t 1 ]]; then printf '\r\e[K'; fi
