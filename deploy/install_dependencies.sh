#!/usr/bin/env bash
# Installs what gridfold needs to be built, on Debian 12 or Ubuntu 24.04.
#
#   deploy/install_dependencies.sh           to build and run
#   deploy/install_dependencies.sh --tests   to run the tests as well
#   deploy/install_dependencies.sh --languages   also for the examples in Go and Java, which the tests
#                                                leave out where these are missing
#
# Only packages that are missing are installed; where none is, nothing is asked of the package
# manager. Needs root, or sudo.
set -euo pipefail

build_packages=(
  ca-certificates ccache cmake g++ git ninja-build pkg-config
  libgrpc++-dev protobuf-compiler-grpc libprotobuf-dev protobuf-compiler libabsl-dev
  libtbb-dev libcli11-dev nlohmann-json3-dev prometheus-cpp-dev libmimalloc-dev
  libyaml-cpp-dev libssl-dev zlib1g-dev libzstd-dev libhdf5-dev
  python3 python3-dev pybind11-dev)
test_packages=(
  curl iproute2 libgtest-dev libgmock-dev openssl python3-grpcio python3-protobuf python3-numpy
  python3-pip python3-setuptools python3-wheel python3-pytest python3-yaml mypy python3-dask
  python3-distributed python3-mpi4py openmpi-bin prometheus nginx-light clang-format npm
  man-db mandoc python3-sphinx python3-myst-parser furo doxygen python3-breathe
  librsvg2-bin python3-h5py python3-tqdm)

language_packages=(
  golang-go golang-google-grpc-dev golang-google-protobuf-dev golang-github-golang-protobuf-1-5-dev
  protoc-gen-go protoc-gen-go-grpc
  default-jdk-headless libgrpc-java libnetty-java libperfmark-java protobuf-compiler-grpc-java-plugin)

packages=("${build_packages[@]}")
for option in "$@"; do
  case "$option" in
    --tests) packages+=("${test_packages[@]}") ;;
    --languages) packages+=("${language_packages[@]}") ;;
    *) echo "install_dependencies.sh: there is no option $option" >&2; exit 2 ;;
  esac
done

is_installed() {
  [[ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" == "installed" ]]
}

missing=()
for package in "${packages[@]}"; do
  # A newer npm than the distribution's may have been installed by other means.
  [[ "$package" == npm ]] && command -v npm >/dev/null && continue
  is_installed "$package" || missing+=("$package")
done
if [[ ${#missing[@]} -eq 0 ]]; then
  exit 0
fi

if ! command -v apt-get >/dev/null; then
  echo "install_dependencies.sh: this machine has no apt-get; install by hand: ${missing[*]}" >&2
  exit 1
fi
as_root=()
if [[ "$(id -u)" -ne 0 ]]; then
  as_root=(sudo)
fi
echo "Installing ${#missing[@]} packages: ${missing[*]}"
log="$(mktemp)"
trap 'rm -f "$log"' EXIT
if ! { "${as_root[@]}" apt-get update &&
       "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
         apt-get install -y --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
  cat "$log" >&2
  exit 1
fi
