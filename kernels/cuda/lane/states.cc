// States of groups that stay on the device, and their merge.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>
#include <span>

#include "kernels/contract/lane_limits.h"
#include "kernels/cuda/device/status.h"
#include "kernels/cuda/lane/cancellation.h"
#include "kernels/cuda/lane/lane.h"
#include "kernels/cuda/reduce/reduce.h"
#include "kernels/cuda/reduce/route.h"

namespace gridfold::kernels::cuda {

namespace {

// Parts that a thread merges of a grid, in one launch.
constexpr uint64_t kGridRunParts = 16;

uint64_t AddressOf(const std::byte* at) { return reinterpret_cast<uintptr_t>(at); }

}  // namespace

uint64_t CudaLane::ResidentStateBytes(const ReductionPlan& plan) const {
  return ReductionStateBytes(plan, ReductionParts(plan));
}

absl::Status CudaLane::ReduceInto(const ReductionPlan& plan, InputSpan input,
                                  MutableResidentSpan states, std::stop_token stop,
                                  RunStatistics& statistics) {
  if (absl::Status status = CheckReduceIntoFits(options_, plan, input); !status.ok()) return status;
  return Run(statistics, [&] {
    const auto output_of = [&](const ReductionRoute&) {
      return ReductionOutput{.slots = nullptr, .failures = nullptr, .states = states.data};
    };
    const auto stage = [&] { return StageReductionInput(plan, input, stop); };
    return EnqueueReduction(plan, stage, output_of, statistics).status();
  });
}

absl::StatusOr<ReductionResult> CudaLane::MergeStates(const ReductionPlan& plan,
                                                      uint64_t first_state,
                                                      std::span<const ResidentStates> parts,
                                                      std::stop_token stop) {
  if (absl::Status status = CheckGroupsFit(options_, plan); !status.ok()) return status;
  ReductionResult result = MakeReductionResult(plan);
  RunStatistics unused;
  const absl::Status status =
      Run(unused, [&] { return Merge(plan, first_state, parts, stop, result); });
  if (!status.ok()) return status;
  return result;
}

bool CudaLane::ReducesInPlace(const ReductionPlan& plan, ResidentSpan input) const {
  return !input.is_mapped && CheckReduceIntoFits(options_, plan, input).ok() &&
         ReducesSoonerInPlace({plan, properties_, IsVectorAddress(input.data)});
}

absl::StatusOr<ReductionResult> CudaLane::MergeStateGrid(const ReductionPlan& plan,
                                                         const StateGrid& grid,
                                                         MutableResidentSpan states,
                                                         std::stop_token stop,
                                                         RunStatistics& statistics) {
  if (absl::Status status = CheckGroupsFit(options_, plan); !status.ok()) return status;
  ReductionResult result = MakeReductionResult(plan);
  const absl::Status status =
      Run(statistics, [&] { return MergeGrid(plan, grid, states, stop, result); });
  if (!status.ok()) return status;
  return result;
}

// Runs of parts become one, launch by launch, until one is all.
absl::Status CudaLane::MergeGrid(const ReductionPlan& plan, const StateGrid& grid,
                                 MutableResidentSpan states, const std::stop_token& stop,
                                 ReductionResult& result) {
  std::byte* const answer = AnswerPlace(ReductionAnswerBytes(plan));
  const ReductionOutput output = ReductionOutputAt(plan, answer, nullptr);
  const uint64_t part_bytes = grid.inner * ResidentStateBytes(plan);
  StateMergeWork work{.states = states.data,
                      .part_bytes = part_bytes,
                      .outer_bytes = grid.parts * part_bytes,
                      .inner = grid.inner,
                      .outer = grid.outer,
                      .parts = grid.parts,
                      .run_parts = kGridRunParts,
                      .part_size = grid.part_size};
  absl::Status status = ClearFailures(plan, output, stream_.get());
  while (status.ok()) {
    if (status = CheckStop(stop); !status.ok()) break;
    const uint64_t runs = work.runs();
    work.is_last = runs == 1;
    status = LaunchStateMerge(plan, work, output, properties_, stream_.get());
    if (work.is_last) break;
    work.parts = runs;
    work.part_bytes *= kGridRunParts;
    work.part_size = 0;  // Those that were merged are the whole group's.
  }
  if (status.ok()) status = timer_.Mark(JobTimer::Point::kKernelsEnd, stream_.get());
  if (!status.ok()) return status;
  return CopyAnswer(plan, answer, {}, stop, result);
}

// What another device has is brought piece by piece to the lane's scratch first: directly where
// devices reach each other, else by the driver, through the host.
absl::Status CudaLane::Merge(const ReductionPlan& plan, uint64_t first_state,
                             std::span<const ResidentStates> parts, const std::stop_token& stop,
                             ReductionResult& result) {
  const uint64_t state_bytes = ResidentStateBytes(plan);
  const uint64_t piece_groups = memory_.scratch.size_bytes() / state_bytes;
  std::byte* const place = memory_.scratch.data();
  std::byte* const answer = AnswerPlace(ReductionAnswerBytes(plan));
  const ReductionOutput output = ReductionOutputAt(plan, answer, nullptr);
  const ResidentStates& own = parts.front();
  absl::Status status = ClearFailures(plan, output, stream_.get());
  if (!status.ok()) return status;
  for (uint64_t first = 0; first < plan.grouping.group_count; first += piece_groups) {
    const uint64_t count = std::min(piece_groups, plan.grouping.group_count - first);
    const uint64_t offset = (first_state + first) * state_bytes;
    StateMergeWork work{.states = own.states.data + offset,
                        .part_bytes = AddressOf(place) - AddressOf(own.states.data) - offset,
                        .outer_bytes = 0,
                        .inner = count,
                        .first_index = own.first_index,
                        .first_group = first,
                        .is_last = parts.size() == 1};
    if (work.is_last) status = LaunchStateMerge(plan, work, output, properties_, stream_.get());
    for (size_t part = 1; part < parts.size() && status.ok(); ++part) {
      if (status = CheckStop(stop); !status.ok()) break;
      GRIDFOLD_RETURN_IF_CUDA_ERROR(cudaMemcpyAsync(place, parts[part].states.data + offset,
                                                    count * state_bytes, cudaMemcpyDefault,
                                                    stream_.get()));
      work.parts = work.run_parts = 2;
      work.part_size = parts[part].first_index - work.first_index;
      work.is_last = part + 1 == parts.size();
      status = LaunchStateMerge(plan, work, output, properties_, stream_.get());
      work.first_index = 0;  // Those that were merged are the whole's.
    }
    if (!status.ok()) return status;
  }
  return CopyAnswer(plan, answer, {}, stop, result);
}

}  // namespace gridfold::kernels::cuda
