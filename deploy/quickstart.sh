#!/usr/bin/env bash
# From a fresh Debian 12 or Ubuntu 24.04 machine to three answers: installs what is missing, builds,
# starts a server (on the GPU if there is one), reduces, scans and histograms the bundled flight data
# through the command line, and stops the server. After it `gridfold`, `gridfold_server` and
# `gridfold_load` are found as commands: links to the build, in /usr/local/bin or ~/.local/bin.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
build="$root/build/quickstart"
sample="$root/deploy/sample_data"

bold="" dim="" plain=""
if [[ -t 1 && -z "${NO_COLOR:-}" ]]; then
  bold=$'\e[1m' dim=$'\e[2m' plain=$'\e[0m'
fi
heading() { printf '\n%s%s%s\n' "$bold" "$1" "$plain"; }
show() { printf '%s$ gridfold %s%s\n' "$dim" "$*" "$plain"; }

# Where NVIDIA's packages put the compiler, without naming the folder in PATH.
PATH="$PATH:/usr/local/cuda/bin"
# A GPU that the driver shows, and a compiler for it. grep reads all that there is: a list that is cut
# off would be a failure.
has_gpu() { command -v nvidia-smi >/dev/null && nvidia-smi -L 2>/dev/null | grep GPU >/dev/null; }
# Its compute capability without the dot: 90.
gpu_architecture() {
  nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -n 1 | tr -d '.'
}
has_nvcc() { command -v nvcc >/dev/null; }

heading "1/4  Preparing this machine"
"$root/deploy/install_dependencies.sh"
cuda=OFF
if has_gpu && has_nvcc && [[ $(gpu_architecture) -ge 80 ]]; then cuda=ON; fi
echo "build tools and libraries are installed; building $([[ $cuda == ON ]] &&
  echo "with the CUDA engine" || echo "for the CPU engine")"

heading "2/4  Building (the first time takes some minutes)"
mkdir -p "$build"
log="$build/quickstart.log"
architectures=()
if [[ $cuda == ON ]]; then
  architectures=("-DCMAKE_CUDA_ARCHITECTURES=$(gpu_architecture)")
fi
if ! { cmake -S "$root" --preset quickstart -DGRIDFOLD_CUDA="$cuda" "${architectures[@]}" &&
       cmake --build "$build" --target gridfold_installed; } 2>&1 | tee "$log" |
       "$root/deploy/build_progress.sh"; then
  tail -n 40 "$log" >&2
  echo "The build failed; all of its output is in $log" >&2
  exit 1
fi
server_binary="$build/server/gridfold_server"
client_binary="$build/client/command_line/gridfold"
echo "built gridfold_server, gridfold and gridfold_load in $((SECONDS / 60)) min $((SECONDS % 60)) s"

# Links where commands are looked for; empty where there is no such folder that can be written.
link_folder=""
for folder in /usr/local/bin "$HOME/.local/bin"; do
  if [[ ":$PATH:" == *":$folder:"* ]] && mkdir -p "$folder" 2>/dev/null && [[ -w "$folder" ]]; then
    link_folder="$folder"
    ln -sf "$server_binary" "$client_binary" "$build/client/load/gridfold_load" "$folder"
    echo "they are commands now, by links in $folder"
    break
  fi
done

heading "3/4  Starting a server"
state="$(mktemp -d)"
server_pid=""
stop_server() {
  if [[ -n "$server_pid" ]] && kill -0 "$server_pid" 2>/dev/null; then
    kill -TERM "$server_pid"
    wait "$server_pid" || true
  fi
  rm -rf "$state"
}
trap stop_server EXIT
"$server_binary" --listen 127.0.0.1:0 --metrics-address off --port-file "$state/port" \
  >"$state/log" 2>&1 &
server_pid=$!
for _ in $(seq 300); do
  [[ -s "$state/port" ]] && break
  if ! kill -0 "$server_pid" 2>/dev/null; then break; fi
  sleep 0.1
done
if [[ ! -s "$state/port" ]]; then
  cat "$state/log" >&2
  echo "The server did not start." >&2
  exit 1
fi
export GRIDFOLD_SERVER="127.0.0.1:$(cat "$state/port")"
gridfold() { "$client_binary" "$@"; }
show info
gridfold info

heading "4/4  Asking it about 200,000 flights"
cd "$sample"
printf '\nHow late do flights arrive, in minutes?\n'
show reduce flight_delay_minutes.npy
gridfold reduce flight_delay_minutes.npy
printf '\nMinutes lost, added up flight by flight:\n'
show scan flight_delay_minutes.npy --op sum
gridfold scan flight_delay_minutes.npy --op sum
printf '\nHow are the delays spread?\n'
show histogram flight_delay_minutes.npy --bins 20 --range=-60,140
gridfold histogram flight_delay_minutes.npy --bins 20 --range=-60,140

server_status=0
kill -TERM "$server_pid"
wait "$server_pid" || server_status=$?
server_pid=""
if [[ $server_status -ne 0 ]]; then
  cat "$state/log" >&2
  echo "The server ended with status $server_status." >&2
  exit 1
fi

heading "Done. The server has stopped. To go on:"
cat <<NEXT
  gridfold_server &
  gridfold describe $sample/flight_distance_miles.npy
  gridfold help reduce
  sudo cmake --install $build     # for every user, with manual pages and completions
NEXT
if [[ -z "$link_folder" ]]; then
  echo "First: export PATH=\"$build/server:$build/client/command_line:$build/client/load:\$PATH\""
fi
