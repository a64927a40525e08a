// A lane of the CUDA engine: a stream with all the memory that a job needs, allocated when the lane
// is created. See kernels/contract/engine.h for the contract.
#ifndef GRIDFOLD_KERNELS_CUDA_LANE_LANE_H_
#define GRIDFOLD_KERNELS_CUDA_LANE_LANE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/contract/engine.h"
#include "kernels/cuda/bykey/order.h"
#include "kernels/cuda/device/buffer.h"
#include "kernels/cuda/device/pinned_buffer.h"
#include "kernels/cuda/device/properties.h"
#include "kernels/cuda/device/scratch.h"
#include "kernels/cuda/device/stream.h"
#include "kernels/cuda/device/zeroed_memory.h"
#include "kernels/cuda/histogram/histogram.h"
#include "kernels/cuda/lane/job_timer.h"
#include "kernels/cuda/lane/layout.h"
#include "kernels/cuda/lane/part_copier.h"
#include "kernels/cuda/lane/staging_ring.h"
#include "kernels/cuda/reduce/reduce.h"
#include "kernels/cuda/scan/scan.h"
#include "kernels/numerics/arithmetic/scaled_product.h"
#include "kernels/numerics/arithmetic/unbounded_sum.h"

namespace gridfold::kernels::cuda {

class CudaLane final : public Lane {
 public:
  // `healthy` outlives the lane; it is set to false when an error loses the device. Errors:
  // RESOURCE_EXHAUSTED where the device or the host has no memory for the lane.
  static absl::StatusOr<std::unique_ptr<Lane>> Create(const DeviceProperties& properties,
                                                      const LaneOptions& options,
                                                      std::atomic<bool>& healthy);
  ~CudaLane() override;

  absl::StatusOr<ReductionResult> RunReduction(const ReductionPlan& plan, InputSpan input,
                                               std::stop_token stop,
                                               RunStatistics& statistics) override;
  uint64_t ResidentStateBytes(const ReductionPlan& plan) const override;
  absl::Status ReduceInto(const ReductionPlan& plan, InputSpan input, MutableResidentSpan states,
                          std::stop_token stop, RunStatistics& statistics) override;
  absl::StatusOr<ReductionResult> MergeStates(const ReductionPlan& plan, uint64_t first_state,
                                              std::span<const ResidentStates> parts,
                                              std::stop_token stop) override;
  bool ReducesInPlace(const ReductionPlan& plan, ResidentSpan input) const override;
  absl::StatusOr<ReductionResult> MergeStateGrid(const ReductionPlan& plan, const StateGrid& grid,
                                                 MutableResidentSpan states, std::stop_token stop,
                                                 RunStatistics& statistics) override;
  absl::Status RunScan(const ScanPlan& plan, InputSpan input, OutputSpan output,
                       std::stop_token stop, RunStatistics& statistics) override;
  absl::Status ContinueScan(const ScanPlan& plan, InputSpan input, OutputSpan output,
                            ScanCarry& carry, std::stop_token stop,
                            RunStatistics& statistics) override;
  absl::StatusOr<ScanTotals> FindScanTotals(const ScanPlan& plan, InputSpan input,
                                            std::stop_token stop,
                                            RunStatistics& statistics) override;
  void CarryOver(const ScanPlan& plan, const ScanTotals& totals, ScanCarry& carry) override;
  absl::StatusOr<HistogramResult> RunHistogram(const HistogramPlan& plan,
                                               const HistogramInput& input, std::stop_token stop,
                                               RunStatistics& statistics) override;
  absl::Status CountInto(const HistogramPlan& plan, const HistogramInput& input,
                         MutableResidentSpan words, std::stop_token stop,
                         RunStatistics& statistics) override;
  absl::Status AddWords(ResidentSpan from, MutableResidentSpan to, std::stop_token stop) override;
  absl::StatusOr<QuantileResult> RunQuantiles(const QuantilePlan& plan, InputSpan input,
                                              std::stop_token stop,
                                              RunStatistics& statistics) override;
  absl::StatusOr<TopResult> RunTop(const TopPlan& plan, InputSpan input, std::stop_token stop,
                                   RunStatistics& statistics) override;
  absl::StatusOr<PairedSums> RunPaired(const PairedPlan& plan, const PairedInput& input,
                                       std::stop_token stop, RunStatistics& statistics) override;
  uint64_t KeyedRoomBytes(const KeyedReductionPlan& plan) const override;
  absl::StatusOr<KeyedReductionResult> RunKeyedReduction(const KeyedReductionPlan& plan,
                                                         const KeyedInput& input,
                                                         std::stop_token stop,
                                                         RunStatistics& statistics) override;
  absl::Status Rearrange(const Rearrangement& order, uint64_t element_bytes, InputSpan from,
                         OutputSpan to, std::stop_token stop, RunStatistics& statistics) override;
  absl::StatusOr<std::vector<uint64_t>> Select(const SelectionPlan& plan, InputSpan input,
                                               ResidentSpan mask, MutableResidentSpan scratch,
                                               MutableResidentSpan selected, std::stop_token stop,
                                               RunStatistics& statistics) override;
  absl::Status FindSelected(ResidentSpan mask, ResidentSpan scratch, std::span<uint64_t> places,
                            std::stop_token stop, RunStatistics& statistics) override;
  absl::Status Replace(uint64_t element_bytes, const ElementBytes& replacement, InputSpan input,
                       ResidentSpan mask, MutableResidentSpan output, std::stop_token stop,
                       RunStatistics& statistics) override;
  absl::Status Copy(InputSpan from, OutputSpan to, std::stop_token stop) override;
  absl::Status Clear(MutableResidentSpan span, std::stop_token stop) override;

 private:
  // The lane's memory, laid out as LaneLayout says.
  struct Memory {
    DeviceBuffer input;
    DeviceBuffer offsets;
    DeviceBuffer output;
    DeviceBuffer scratch;
    ZeroedMemory zeroed;
  };

  CudaLane(const DeviceProperties& properties, const LaneOptions& options,
           std::atomic<bool>& healthy, Stream stream, StagingRing staging,
           PinnedBuffer direct_memory, JobTimer timer, PartCopier part_copier, Memory memory);

  static absl::StatusOr<Memory> AllocateMemory(const LaneLayout& layout);

  // The operations, after their limits have been checked; one file each.
  // `stage` says where the input lies, where it has to be copied first.
  using StageReduction = absl::FunctionRef<absl::StatusOr<ReductionInput>()>;
  absl::Status Reduce(const ReductionPlan& plan, StageReduction stage, const std::stop_token& stop,
                      RunStatistics& statistics, ReductionResult& result);
  absl::StatusOr<ReductionInput> StageReductionInput(const ReductionPlan& plan,
                                                     const InputSpan& input,
                                                     const std::stop_token& stop);
  // Stages the input and enqueues the reduction, whose output goes where `output_of` says of its
  // route. Returns the route.
  absl::StatusOr<ReductionRoute> EnqueueReduction(
      const ReductionPlan& plan, StageReduction stage,
      absl::FunctionRef<ReductionOutput(const ReductionRoute&)> output_of,
      RunStatistics& statistics);
  // Brings what a reduction has written, `states` first; the error of the first group that failed.
  absl::Status CopyAnswer(const ReductionPlan& plan, const std::byte* answer,
                          MutableHostSpan states, const std::stop_token& stop,
                          ReductionResult& result);
  absl::Status Merge(const ReductionPlan& plan, uint64_t first_state,
                     std::span<const ResidentStates> parts, const std::stop_token& stop,
                     ReductionResult& result);
  absl::Status MergeGrid(const ReductionPlan& plan, const StateGrid& grid,
                         MutableResidentSpan states, const std::stop_token& stop,
                         ReductionResult& result);
  absl::Status Scan(const ScanPlan& plan, const InputSpan& input, const OutputSpan& output,
                    ScanCarry* carry, const std::stop_token& stop, RunStatistics& statistics);
  absl::Status TotalStaged(const ScanPlan& plan, const InputSpan& input,
                           const std::stop_token& stop, RunStatistics& statistics,
                           ScanTotals& totals);
  // Counts, and leaves the counters in the lane's memory until the job ends.
  absl::StatusOr<DeviceHistogram> Count(const HistogramPlan& plan, const HistogramInput& input,
                                        const std::stop_token& stop, RunStatistics& statistics);
  absl::Status Histogram(const HistogramPlan& plan, const HistogramInput& input,
                         const std::stop_token& stop, RunStatistics& statistics,
                         HistogramResult& result);

  absl::Status Quantiles(const QuantilePlan& plan, const InputSpan& input,
                         const std::stop_token& stop, RunStatistics& statistics,
                         QuantileResult& result);
  absl::Status Top(const TopPlan& plan, const InputSpan& input, const std::stop_token& stop,
                   RunStatistics& statistics, TopResult& result);
  // Into `words`, which PairedWords describes.
  absl::Status SumPaired(const PairedPlan& plan, const PairedInput& input,
                         const std::stop_token& stop, RunStatistics& statistics,
                         std::vector<uint64_t>& words);
  // The memory for inputs, where a job's array is not there.
  std::span<std::byte> SpareBeside(const std::byte* elements) const;
  // The steps of a keyed reduction. Statistics of runs are added to those given.
  absl::Status FindKeyRanges(const KeyedReductionPlan& plan, const KeyedInput& input,
                             const std::stop_token& stop, RunStatistics& statistics,
                             std::vector<PlannedBins>& bins);
  absl::Status ReduceByKey(const KeyedReductionPlan& plan, const KeyedInput& input,
                           const std::stop_token& stop, RunStatistics& statistics,
                           KeyedReductionResult& result);
  // Sets `order`; or `counts`, where the survey shows that the sums are histograms.
  absl::Status OrderByKey(const KeyedReductionPlan& plan, const KeyedInput& input,
                          const std::vector<PlannedBins>& bins, Scratch& room,
                          const std::stop_token& stop, RunStatistics& statistics,
                          DeviceOrder& order, std::optional<HistogramPlan>& counts);
  absl::Status ReduceOrdered(const KeyedReductionPlan& plan, const DeviceOrder& order,
                             Scratch& room, const std::stop_token& stop, RunStatistics& statistics,
                             KeyedReductionResult& result);
  absl::Status StageKeys(const KeyedReductionPlan& plan, const KeyedInput& input,
                         const std::vector<PlannedBins>& bins, Scratch& room,
                         const std::stop_token& stop, DeviceKeyedInput& device_input);
  // Statistics and quantiles of groups in order; `offsets` are the order's, empty where they are
  // still on the device.
  absl::Status ReduceGroups(const KeyedReductionPlan& plan, const DeviceOrder& order,
                            const std::vector<uint64_t>& offsets, const std::stop_token& stop,
                            RunStatistics& statistics, ReductionResult& result);
  absl::Status FindGroupQuantiles(const KeyedReductionPlan& plan, const DeviceOrder& order,
                                  const std::vector<uint64_t>& offsets, const std::stop_token& stop,
                                  RunStatistics& statistics, QuantileResult& result);
  // Makes the indices of a result those of the input, with room for eight bytes each.
  absl::Status MapKeyedIndices(const DeviceOrder& order, const std::vector<uint64_t>& offsets,
                               Scratch& room, const std::stop_token& stop,
                               RunStatistics& statistics, ReductionResult& result);
  absl::Status MapPositions(const DeviceOrder& order, Scratch& room, const std::stop_token& stop,
                            std::vector<uint64_t>& positions);
  // Sums by key where keys are few: histograms of the keys, without weights and with the values as
  // weights (keyed_sums.cc). The first one's plan, or nothing where that is not the way: of bins or
  // a range, or of keys that lie in the interval.
  std::optional<HistogramPlan> PlanKeyCounts(const KeyedReductionPlan& plan,
                                             const KeyedInput& input,
                                             const std::vector<PlannedBins>& bins) const;
  std::optional<HistogramPlan> PlanKeyCounts(const KeyedReductionPlan& plan,
                                             const KeyedInput& input,
                                             const std::optional<KeyInterval>& interval) const;
  bool SumsByHistogram(const KeyedReductionPlan& plan, const KeyedInput& input,
                       const HistogramPlan& counts) const;
  // Returns false, and leaves the result as it was, where keys are outside of a range.
  absl::StatusOr<bool> SumByHistogram(const KeyedReductionPlan& plan, const HistogramPlan& counts,
                                      const KeyedInput& input, const std::stop_token& stop,
                                      RunStatistics& statistics, KeyedReductionResult& result);
  // Whether negative zeros are among the values, which are resident and floating-point.
  absl::StatusOr<bool> HasNegativeZeros(const KeyedReductionPlan& plan, const KeyedInput& input,
                                        const std::stop_token& stop, RunStatistics& statistics);

  // A scan between device memory, from and to the carry's value, if there is one. Returns whether
  // all results fit.
  absl::StatusOr<bool> ScanStaged(const ScanPlan& plan, const ScanInput& input,
                                  const ScanOutput& output, ScanCarry* carry,
                                  const std::stop_token& stop);
  // Scans as ScanStaged does, with the plain form of Wide, an operator of
  // numerics/scans/operator.h, and, if that does not hold, once more with Wide. Results all fit.
  template <class Wide>
  absl::StatusOr<bool> ScanPlainFirst(const ScanPlan& plan, const ScanInput& input,
                                      const ScanOutput& output, ScanCarry* carry,
                                      const std::stop_token& stop);
  // Whether the wide form is needed where the plain one did not hold, `before` being what precedes
  // the elements.
  absl::StatusOr<bool> NeedsWideForm(const DeviceSpan& elements, const UnboundedSum& before,
                                     const std::stop_token& stop);
  absl::StatusOr<bool> NeedsWideForm(const DeviceSpan& elements, const ScaledProduct& before,
                                     const std::stop_token& stop);
  // The largest finite magnitude of float64 elements.
  absl::StatusOr<double> LargestMagnitude(const DeviceSpan& elements, const std::stop_token& stop);

  // The operations on such inputs in parts, which are copied to the device one ahead of the
  // kernels: whether that can be done and is worth while, and doing it. Answers have the bits of
  // those that are not in parts.
  bool ReducesInParts(const ReductionPlan& plan, const InputSpan& input) const;
  bool CountsInParts(const HistogramPlan& plan, const HistogramInput& input) const;
  absl::StatusOr<ReductionResult> ReduceInParts(const ReductionPlan& plan, const InputSpan& input,
                                                const std::stop_token& stop,
                                                RunStatistics& statistics);
  absl::StatusOr<HistogramResult> CountInParts(const HistogramPlan& plan,
                                               const HistogramInput& input,
                                               const std::stop_token& stop,
                                               RunStatistics& statistics);
  // The memory where parts lie, and PartCopier::ForEachPart there; no copy is under way when it
  // ends, by an exception either.
  std::span<std::byte> PartPlaces() const;
  absl::Status ForEachPart(std::span<const PartArray> arrays, uint64_t element_count,
                           absl::FunctionRef<uint64_t(uint64_t, uint64_t)> elements_of,
                           absl::FunctionRef<absl::Status(const Part&)> run);
  // Settles copies, as Settle does kernels.
  absl::Status SettleCopies();
  // Runs an operation on a part, behind its copy, and adds its statistics to those of the job.
  absl::Status RunPart(const Part& part, RunStatistics& statistics,
                       absl::FunctionRef<absl::Status(RunStatistics&)> operation);

  absl::Status SelectDevice() const;

  // Runs a job, times it, and leaves the stream idle whatever came of it, an exception too.
  absl::Status Run(RunStatistics& statistics, absl::FunctionRef<absl::Status()> operation);
  // The same of a step of a job, whose statistics are added to those given.
  absl::Status RunStep(RunStatistics& statistics, absl::FunctionRef<absl::Status()> operation);

  // Waits for what a job has left behind: the caller's memory and the lane's are free after.
  absl::Status Settle(bool failed);

  // Waits for the stream. Nothing is enqueued behind it in this job.
  absl::Status Synchronize();

  // The lane's scratch, for launchers of one job or part.
  Scratch NewScratch() {
    return Scratch(memory_.scratch.data(), memory_.scratch.size_bytes(), &memory_.zeroed);
  }
  // The memory to which kernels write an answer of so many bytes: small answers go to pinned memory
  // directly.
  std::byte* AnswerPlace(uint64_t size_bytes) const;

  // Enqueues a copy of what a job works on, which is staging.
  absl::Status CopyIn(std::span<const HostSpan> from, std::byte* to, const std::stop_token& stop);

  // Waits for the stream. `from` is device memory or an AnswerPlace.
  absl::Status CopyOut(const std::byte* from, std::span<const MutableHostSpan> to,
                       const std::stop_token& stop);

  // The address at which kernels find `input`: in place where it is resident, else at `place`,
  // where its copy is enqueued. There too where it IsLargeAndMapped, and no more than
  // `mapped_room`.
  absl::StatusOr<const std::byte*> Stage(const InputSpan& input, std::byte* place,
                                         uint64_t mapped_room, const std::stop_token& stop);

  // Stages arrays of so many elements each, one behind the other.
  struct StagedArray {
    const InputSpan& from;
    DeviceSpan& to;
  };
  absl::Status StageArrays(std::span<const StagedArray> arrays, uint64_t element_count,
                           const std::stop_token& stop);

  // What a job has to stage is enqueued, and kernels follow. Errors: CANCELLED.
  absl::Status BeginKernels(const std::stop_token& stop);

  // Stages a job's array, enqueues, of segments, the copy of their offsets, and marks the end of
  // staging. Returns where the array is.
  absl::StatusOr<const std::byte*> StageIn(const InputSpan& input, const Grouping& grouping,
                                           uint64_t mapped_room, const std::stop_token& stop);

  const DeviceProperties properties_;
  const LaneOptions options_;
  std::atomic<bool>& healthy_;
  // Destroyed last to first: memory before the stream that used it.
  Stream stream_;
  StagingRing staging_;
  PinnedBuffer direct_memory_;
  JobTimer timer_;
  PartCopier part_copier_;
  Memory memory_;
  bool stream_is_idle_ = false;
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_LANE_LANE_H_
