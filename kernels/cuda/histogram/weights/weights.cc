#include "kernels/cuda/histogram/weights/weights.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <type_traits>
#include <variant>
#include <vector>

#include "kernels/cuda/device/grid.h"
#include "kernels/cuda/device/launch.h"
#include "kernels/cuda/device/status.h"
#include "kernels/cuda/histogram/weights/partitions.h"
#include "kernels/numerics/sums/weight_sum.h"

namespace gridfold::kernels::cuda {

namespace {

// Memory for the sums of a pass grows with the bins, but not as fast as the sums do.
constexpr uint64_t kPassBytesMin = uint64_t{256} << 20;
constexpr uint64_t kPassBytesPerBin = 32;

// The most that a bin takes: float64 weights, with states.
constexpr uint64_t kBinBytesMax =
    WeightLayoutOf(ElementType::kFloat64).words * sizeof(uint64_t) + sizeof(WeightSum<double>);

uint64_t PassBytesMax(uint64_t bin_count) {
  return std::min(bin_count * kBinBytesMax, std::max(kPassBytesMin, bin_count * kPassBytesPerBin));
}

// Room for the sums and states of some bins.
struct WeightPass {
  uint64_t bin_count = 0;
  uint64_t sums_bytes = 0;
  uint64_t states_bytes = 0;
};

uint64_t StateBytes(ElementType type) {
  return VisitElementType(
      type, [](auto tag) -> uint64_t { return sizeof(WeightSum<typename decltype(tag)::type>); });
}

// The pass for as many bins as have room in `bytes_max`, or in all that is planned for it.
WeightPass LargestPassOf(const HistogramPlan& plan, std::optional<uint64_t> bytes_max = {}) {
  const uint64_t bytes_per_sum = WeightLayoutOf(*plan.weight_type).words * sizeof(uint64_t);
  const uint64_t bytes_per_state = plan.return_states ? StateBytes(*plan.weight_type) : 0;
  const uint64_t bin_count = plan.total_bin_count();
  const uint64_t planned = PassBytesMax(bin_count);
  const uint64_t fitting =
      std::min(bytes_max.value_or(planned), planned) / (bytes_per_sum + bytes_per_state);
  WeightPass pass{.bin_count = std::clamp<uint64_t>(fitting, 1, bin_count)};
  pass.sums_bytes = pass.bin_count * bytes_per_sum;
  pass.states_bytes = pass.bin_count * bytes_per_state;
  return pass;
}

absl::Status LaunchOnTable(WeightTableKernel kernel, const WeightTable& table,
                           cudaStream_t stream) {
  LaunchShape shape;
  shape.grid = dim3(static_cast<uint32_t>(CeilDivide(table.bin_count, kWeightTableThreads)));
  shape.block = dim3(kWeightTableThreads);
  return Launch(kernel, shape, stream, table);
}

// Enqueues the addition of all samples to the sums of the pass in `table`, carried now and then.
absl::Status AddSamples(const HistogramPlan& plan, const CountingLaunch& launch,
                        HistogramArguments arguments, uint64_t samples_per_launch,
                        const WeightTable& table, cudaStream_t stream) {
  const auto advance = [](const void*& array, uint64_t bytes) {
    if (array != nullptr) array = static_cast<const std::byte*>(array) + bytes;
  };
  const uint64_t rows_per_launch = std::max<uint64_t>(1, samples_per_launch / plan.channel_count);
  const uint64_t count_max = rows_per_launch * plan.channel_count;
  uint64_t left = plan.array.element_count;
  while (left > 0) {
    arguments.sample_count = std::min(left, count_max);
    left -= arguments.sample_count;
    absl::Status status = launch.strategy.method == HistogramMethod::kPartitions
                              ? SumByPartitions(plan, launch, arguments, stream)
                              : Launch(launch.kernel, launch.shape, stream, arguments);
    if (status.ok() && left > 0) status = LaunchOnTable(FindCarryWeightsKernel(), table, stream);
    if (!status.ok()) return status;
    const uint64_t sample_bytes = arguments.sample_count * ElementSize(plan.array.element_type);
    advance(arguments.samples, sample_bytes);
    advance(arguments.y_samples, sample_bytes);
    advance(arguments.weights, arguments.sample_count * ElementSize(*plan.weight_type));
  }
  return absl::OkStatus();
}

// Room for the states of all bins.
HistogramWeightStates MakeStates(const HistogramPlan& plan) {
  return VisitElementType(*plan.weight_type, [&](auto tag) -> HistogramWeightStates {
    return std::vector<WeightSum<typename decltype(tag)::type>>(plan.total_bin_count());
  });
}

// Copies states to those of the bins from `first_bin` on, and waits for them.
absl::Status FetchStates(const WeightTable& table, uint64_t first_bin, cudaStream_t stream,
                         HistogramWeightStates& states) {
  return std::visit(
      [&](auto& all) -> absl::Status {
        if constexpr (!std::is_same_v<std::decay_t<decltype(all)>, std::monostate>) {
          GRIDFOLD_RETURN_IF_CUDA_ERROR(cudaMemcpyAsync(all.data() + first_bin, table.states,
                                                        table.bin_count * sizeof(all[0]),
                                                        cudaMemcpyDeviceToHost, stream));
          GRIDFOLD_RETURN_IF_CUDA_ERROR(cudaStreamSynchronize(stream));
        }
        return absl::OkStatus();
      },
      states);
}

}  // namespace

uint64_t WeightScratchBytes(const HistogramPlan& plan) {
  const WeightPass pass = LargestPassOf(plan);
  return ScratchBytes(pass.sums_bytes) + ScratchBytes(pass.states_bytes) + WeightQueueBytes(plan);
}

uint64_t WeightScratchBytesMax(uint64_t bin_count) {
  return ScratchBytes(PassBytesMax(bin_count)) + kScratchAlignmentBytes +
         WeightQueueBytesMax(bin_count);
}

uint64_t WeightPassCount(const HistogramPlan& plan) {
  return CeilDivide(plan.total_bin_count(), LargestPassOf(plan).bin_count);
}

absl::Status SumWeights(const HistogramPlan& plan, const CountingLaunch& launch,
                        const HistogramArguments& arguments, double* rounded, Scratch& scratch,
                        cudaStream_t stream, const HistogramOverrides& overrides,
                        HistogramWeightStates& states) {
  const uint64_t bin_count = plan.total_bin_count();
  const WeightPass largest = LargestPassOf(plan, overrides.weight_bytes_max);
  const auto words = scratch.Allocate<uint64_t>(largest.sums_bytes / sizeof(uint64_t));
  if (!words.ok()) return words.status();
  const auto device_states = scratch.Allocate<std::byte>(largest.states_bytes);
  if (!device_states.ok()) return device_states.status();
  if (plan.return_states) {
    states = MakeStates(plan);
    // Their padding is copied with them.
    GRIDFOLD_RETURN_IF_CUDA_ERROR(cudaMemsetAsync(*device_states, 0, largest.states_bytes, stream));
  }

  HistogramArguments pass = arguments;
  if (launch.strategy.method == HistogramMethod::kPartitions) {
    const auto queue = NewWeightQueue(plan, launch, scratch);
    if (!queue.ok()) return queue.status();
    pass.queue = *queue;
  }
  pass.weight_layout = WeightLayoutOf(*plan.weight_type);
  pass.counters = *words;
  // Only a state tells a sum of negative zeros from an empty one.
  const bool keeps_zero_signs = plan.return_states && plan.keeps_zero_signs;
  pass.flags_kept = keeps_zero_signs ? kSawNan | kSawOtherThanNegativeZero : kSawNan;
  for (; pass.first_bin < bin_count; pass.first_bin += largest.bin_count) {
    pass.pass_bin_count = std::min(largest.bin_count, bin_count - pass.first_bin);
    const WeightTable table{.layout = pass.weight_layout,
                            .words = *words,
                            .bin_count = pass.pass_bin_count,
                            .rounded = rounded + pass.first_bin,
                            .states = plan.return_states ? *device_states : nullptr,
                            .keeps_zero_signs = keeps_zero_signs};
    const uint64_t table_bytes = table.bin_count * table.layout.words * sizeof(uint64_t);
    GRIDFOLD_RETURN_IF_CUDA_ERROR(cudaMemsetAsync(table.words, 0, table_bytes, stream));
    absl::Status status =
        AddSamples(plan, launch, pass, overrides.samples_per_launch, table, stream);
    if (status.ok()) {
      status = LaunchOnTable(FindFinishWeightsKernel(*plan.weight_type), table, stream);
    }
    if (status.ok() && plan.return_states) {
      status = FetchStates(table, pass.first_bin, stream, states);
    }
    if (!status.ok()) return status;
    pass.outcomes = nullptr;  // The first pass has counted them.
  }
  return absl::OkStatus();
}

}  // namespace gridfold::kernels::cuda
