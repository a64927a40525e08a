#!/usr/bin/env bash
# What continuous integration cannot check: runs, on a machine with a GPU, the tests labelled `gpu`,
# small cases of every strategy under compute-sanitizer, the flight data through a server on the CUDA
# engine, the kernels' benchmark, and requests on all GPUs beside those on one. Prints a table last.
#
#   deploy/run_gpu_tests.sh [FOLDER] [STAGE...]
#
# FOLDER holds the programs: a build folder (default build/release), or what deploy/package_gpu_tests.sh
# made for a machine that can run them but not build them. Stages, all by default:
# tests memcheck racecheck initcheck synccheck flights benchmark devices
set -uo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
folder="${1:-$root/build/release}"
shift || true
stages=("${@:-}")
[[ -z "${stages[*]}" ]] && stages=(tests memcheck racecheck initcheck synccheck flights benchmark devices)

program() { find "$folder" -type f -perm -u+x -name "$1" | head -n 1; }

results=()
passed=0
failed=0
check() {  # check NAME COMMAND...: runs it, keeps its log, remembers how it ended.
  local name="$1" start=$SECONDS log
  shift
  log="$logs/${name//[^A-Za-z0-9]/_}.log"
  if "$@" >"$log" 2>&1; then
    passed=$((passed + 1))
    results+=("$(printf '%-44s passed  %4d s  %s' "$name" $((SECONDS - start)) "$(summary "$log")")")
  else
    failed=$((failed + 1))
    results+=("$(printf '%-44s FAILED  %4d s  %s' "$name" $((SECONDS - start)) "$(summary "$log")")")
    tail -n 60 "$log"
  fi
}
# The line of a log that says how much was run, or what a sanitizer found.
summary() { grep -hE 'ERROR SUMMARY|RACECHECK SUMMARY|\[  PASSED  \]|\[  SKIPPED \].*tests?,' "$1" | tr '\n' ' '; }
# Sanitizers slow tests down beyond what their watchdog allows.
export GRIDFOLD_TEST_SECONDS=0
# Tests of requests on several devices take GPUs instead of virtual devices, where there are two.
export GRIDFOLD_TEST_ENGINE=cuda
logs="${GRIDFOLD_LOGS:-$(mktemp -d)}"
mkdir -p "$logs"

# Program and GoogleTest filter of each test that needs a GPU.
gpu_tests=(
  "kernels_cuda_device_test:*"
  "engine_conformance_test:Cuda*"
  "flight_data_test:*Cuda*"
  "fault_test:*Cuda*"
  "steady_state_test:*Cuda*"
  "several_engines_test:DealtRequestTest.*:DealtScanRequestTest.*:DealtBatchTest.*:GatheredRequestTest.*"
)
# Small cases for the sanitizers, which slow kernels down a hundredfold: jobs of every operation and
# type, and strategies that are taken only for large ones.
sanitizer_tests=(
  "engine_conformance_test:Cuda/SmallJobsTest.*:Cuda/AxesTest.Rearrangements*:Cuda/AxesTest.ScansAlongEveryAxis/*:Cuda/InputSlicesTest.SegmentsAndScans*:Cuda/FloatProductTest.*OfGroups/*:Cuda/ProductWindowTest.PartsFromOneEndToTheOther/*:Cuda/ScanTest.FloatSumsOfWhichPartsOverflow/*:Cuda/*ExtremesBeforeTheFirstNumber*:Cuda/HistogramEdgeTest.IntegerBinsBeyondInt64/*:Cuda/ScanTotalsTest.PartsOfIdentities/*:Cuda/ScanTotalsTest.MisalignedParts/*:Cuda/MovingScanTest.*:Cuda/KeyedQuantilesTest.*:Cuda/KeyedReductionTest.KeysAtTheEnds*:Cuda/KeyedReductionTest.Bins*:Cuda/KeyedReductionTest.TheBits*:Cuda/KeyedReductionTest.ResidentArrays/*"
  "kernels_cuda_device_test:HistogramDeviceTest.EveryStrategyOnFewSamples:HistogramTogetherTest/3.ChannelsWithAndWithoutRanges:HistogramTogetherTest/7.TwoDimensions:HistogramTogetherDeviceTest.NumbersThatAreNoneOrEqualOrFarApart:HistogramTogetherDeviceTest.SmallAnswersGoToTheHost:TransposeDeviceTest/0.EveryShape:HistogramSteadyDeviceTest/3.SpecialSamplesAmongOthers:HistogramWeightsDeviceTest/11.PassesAndLaunchesOfPartitions:ReduceDoubleColumnsDeviceTest.InfinitiesAndNansStayInTheirColumns:ReduceIntegerColumnsDeviceTest/2.OverflowIsReported:ReduceMomentColumnsDeviceTest/0.StatisticsAreExact:ReduceMomentColumnsDeviceTest/1.StatisticsAreExact:Shapes/ReduceDoubleMomentColumnsDeviceTest.StatisticsAreExact/45:ReducePairTilesDeviceTest.SegmentsAreExact:ReduceExtremesDeviceTest/0.OfManyRowsOfWarps:ReduceExtremesDeviceTest/0.OfRows:ReduceExtremesDeviceTest/9.OfSegments:ReduceExtremesDeviceTest/10.OfVeryManyBriefRows:ReduceFloatRowMomentsDeviceTest/0.OfWhateverIsAskedFor:ReduceFloatRowMomentsDeviceTest/1.OfWhateverIsAskedFor:ReduceFloatRowMomentsDeviceTest/2.OfWhateverIsAskedFor:ReduceFloatRowMomentsDeviceTest/3.OfWhateverIsAskedFor:ReduceLongArrayTest/0.OfTwoBlocks:ReduceLongArrayTest/3.OfTwoBlocks:ReduceLongArrayTest/4.OfTwoBlocks:ReduceLongColumnsTest/0.OfThreeBlocks:ReduceLongColumnsTest/1.OfThreeBlocks:ReduceLongColumnsTest/4.OfThreeBlocks:ReduceStripsTest/0.EveryAlignment:ReduceStripsTest/0.FewRowsBehindATurn:ReduceSumsDeviceTest/0.InfinitiesAndNansStayInTheirGroups:ReduceSumsDeviceTest/3.InfinitiesAndNansStayInTheirGroups:ScanColumnsDeviceTest.NansAreIgnoredOrStayInTheirColumn:ScanWideFormDeviceTest.ReportsOfColumns"
  "several_engines_test:DealtRequestTest.ReductionsOfInlineArrays:DealtRequestTest.SlicesOfShardedArraysAreWrittenAndRead:DealtRequestTest.WideHistograms"
)

run_tests() {
  local entry name
  for entry in "${gpu_tests[@]}"; do
    name="${entry%%:*}"
    check "$name" "$(program "$name")" --gtest_filter="${entry#*:}" --gtest_brief=1
  done
}

run_sanitizer() {
  local entry name
  for entry in "${sanitizer_tests[@]}"; do
    name="${entry%%:*}"
    check "$1 $name" compute-sanitizer --tool "$1" --error-exitcode 9 "$(program "$name")" \
      --gtest_filter="${entry#*:}" --gtest_brief=1
  done
}

# The main job over a socket, on the CUDA engine.
run_flights() {
  local state port
  state="$(mktemp -d)"
  "$(program gridfold_server)" --engine cuda --listen 127.0.0.1:0 --metrics-address off \
    --port-file "$state/port" &
  local server=$!
  for _ in $(seq 300); do [[ -s "$state/port" ]] && break; sleep 0.1; done
  port="$(cat "$state/port")"
  local client sample="$root/deploy/sample_data" status=0
  client="$(program gridfold)"
  export GRIDFOLD_SERVER="127.0.0.1:$port"
  "$client" info || status=1
  "$client" reduce "$sample/flight_delay_minutes.npy" || status=1
  "$client" reduce "$sample/flight_departure_hour.npy" --stat sum --json | tee "$state/sum" || status=1
  grep -q '2755170.1662385147' "$state/sum" || status=1
  "$client" scan "$sample/flight_delay_minutes.npy" --op sum || status=1
  "$client" histogram "$sample/flight_delay_minutes.npy" --bins 10 --range=-60,140 || status=1
  "$client" array put hour "$sample/flight_departure_hour.npy" || status=1
  "$client" reduce --array hour --stat sum --json | tee "$state/resident" || status=1
  grep -q '2755170.1662385147' "$state/resident" || status=1
  kill -TERM $server
  wait $server || status=1
  rm -rf "$state"
  return $status
}

# The table of all GPUs against one of them. Both servers are there at the same time, and the one
# with all GPUs takes no more of a card than leaves room for the other.
run_devices() {
  if [[ "$(nvidia-smi -L | wc -l)" -lt 2 ]]; then echo "[  SKIPPED ] 1 test: there is one GPU"; return; fi
  "$(program transport_benchmark)" --only devices --server "$(program gridfold_server)" \
    --server-option=--resident-bytes=26GiB --log "$logs/devices_servers.log" --json "$logs/devices.json"
}

for stage in "${stages[@]}"; do
  case "$stage" in
    tests) run_tests ;;
    memcheck | racecheck | initcheck | synccheck) run_sanitizer "$stage" ;;
    flights) check "flight data, CUDA engine" run_flights ;;
    devices) check "all GPUs against one" run_devices ;;
    benchmark) check "kernel benchmark" "$(program kernel_benchmark)" --json "$logs/kernel_benchmark.json" ;;
    *) echo "unknown stage: $stage" >&2; exit 2 ;;
  esac
done

[[ -f "$logs/flight_data__CUDA_engine.log" ]] && cat "$logs/flight_data__CUDA_engine.log"
[[ -f "$logs/kernel_benchmark.log" ]] && cat "$logs/kernel_benchmark.log"
[[ -f "$logs/all_GPUs_against_one.log" ]] && cat "$logs/all_GPUs_against_one.log"
printf '\n'
printf '%s\n' "${results[@]}"
printf '\n%d passed, %d failed\n' "$passed" "$failed"
[[ $failed -eq 0 ]]
