// What a histogram on the device is made from. Plain C++.
#ifndef GRIDFOLD_KERNELS_CUDA_HISTOGRAM_PLAN_INPUT_H_
#define GRIDFOLD_KERNELS_CUDA_HISTOGRAM_PLAN_INPUT_H_

#include <cstdint>
#include <optional>
#include <span>

#include "kernels/contract/array.h"
#include "kernels/cuda/histogram/plan/strategy.h"

namespace gridfold::kernels::cuda {

// All pointers are to device memory.
struct DeviceHistogramInput {
  DeviceSpan samples = {};    // plan.array.element_count of them, and as many of the others.
  DeviceSpan y_samples = {};  // Two-dimensional plans only.
  DeviceSpan weights = {};    // Weighted plans only.
  // The bytes of EdgeTableSpans(plan); null: LaunchHistogram copies them, by slower ways.
  const double* edges = nullptr;
  // Memory of the host that kernels can write, where a small answer may go; may be empty.
  std::span<uint64_t> direct = {};
};

// What tests and benchmarks may change.
struct HistogramOverrides {
  std::optional<HistogramMethod> method;  // Absent: what ChooseHistogramStrategy thinks best.
  // Samples after which private counters are added up; at least one for each thread of a block
  // is taken. At most 2^31, which is what a digit of a sum of weights takes.
  uint64_t samples_per_flush = uint64_t{1} << 31;
  // Samples, with weights, after which the sums in device memory are carried; at least one for each
  // channel is taken. At most 2^30.
  uint64_t samples_per_launch = uint64_t{1} << 30;
  // Memory for the sums of a pass, with weights; absent, or more: all that is planned for it.
  std::optional<uint64_t> weight_bytes_max = {};
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_HISTOGRAM_PLAN_INPUT_H_
