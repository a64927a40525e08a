#!/usr/bin/env bash
# Checks that a library exports the functions of its headers, each with a version, and nothing else,
# and that it needs neither gRPC nor Protobuf nor CUDA.
#
#   symbols_test.sh LIBRARY FOLDER_OF_HEADERS
set -euo pipefail
export LC_ALL=C  # One order for all that is sorted.

exported="$(nm --dynamic --defined-only "$1" | awk '$2 ~ /[TBDVW]/ {print $3}' | sort)"
declared="$(grep -ohE '\bgridfold_[a-z_]+\(' "$2"/*.h | tr -d '(' |
              sed 's/$/@@GRIDFOLD_CORE_0/' | sort -u)"
if ! diff <(echo "$declared") <(echo "$exported"); then
  echo "what the library exports (>) differs from what its headers declare (<)" >&2
  exit 1
fi
if readelf --dynamic "$1" | grep -E 'NEEDED.*(grpc|protobuf|cuda|ssl)'; then
  echo "the library needs what it must not know" >&2
  exit 1
fi
echo "$(wc -l <<<"$declared") functions"
