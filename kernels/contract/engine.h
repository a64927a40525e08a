// Engines run plans on arrays. One contract, two engines: "cuda" (one GPU) and "cpu".
//
// An Engine is created once and makes lanes; a Lane is what one running job holds: a stream,
// scratch and staging memory, all allocated when the lane is created and never while a job runs.
// Arrays that outlive jobs lie in the engine's own memory, of a ResidentPool; jobs read them, and
// scans write them, where they lie.
//
// Thread safety: an Engine may be used from any thread. A Lane runs one job at a time; different
// lanes may run in different threads at once. The calls of a Lane block the calling thread until
// the result is where it belongs, so they are made from the scheduler's threads, never from gRPC's.
// Jobs that use the same resident memory concurrently are not ordered: what a job reads while
// another one writes it is unspecified, and so is what remains after two have written the same
// bytes.
//
// Errors of Run* calls: RESOURCE_EXHAUSTED for a job larger than the lane; OUT_OF_RANGE for an
// integer overflow; INVALID_ARGUMENT for a named strategy that cannot take the
// plan (strategy_error.h), and for faults that only the data shows (argmin of nothing but ignored
// NaNs, too many bins for an automatic range); CANCELLED when `stop` was requested before
// the result was complete; INTERNAL for a failure of the device. A lane stays usable after every
// error but the last; Engine::Healthy() tells whether the device is lost.
#ifndef GRIDFOLD_KERNELS_CONTRACT_ENGINE_H_
#define GRIDFOLD_KERNELS_CONTRACT_ENGINE_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/contract/array.h"
#include "kernels/contract/external_memory.h"
#include "kernels/contract/histogram.h"
#include "kernels/contract/keyed_reduction.h"
#include "kernels/contract/paired.h"
#include "kernels/contract/quantiles.h"
#include "kernels/contract/rearrangement.h"
#include "kernels/contract/reduction.h"
#include "kernels/contract/resident_memory.h"
#include "kernels/contract/scan.h"
#include "kernels/contract/selection.h"
#include "kernels/contract/state_grid.h"
#include "kernels/contract/top.h"

namespace gridfold::kernels {

// Which engine to create. kAuto: CUDA where the program was built with it and a GPU can be used,
// else the CPU.
enum class EngineKind : uint8_t { kAuto, kCuda, kCpu };

struct EngineOptions {
  EngineKind kind = EngineKind::kAuto;
  int cpu_threads = 0;  // CPU engine: threads for all lanes together; 0: one for each processor.
  // CPU engine: virtual devices of CreateEngines, among which the threads are dealt.
  int cpu_devices = 1;
  int cuda_device = 0;                 // CUDA engine: the GPU of CreateEngine.
  std::vector<int> cuda_devices = {};  // Those of CreateEngines; empty: all that can be used.
};

// The largest job that a lane can hold. Device and pinned memory follow from these.
struct LaneOptions {
  // All input arrays of a job that come from host memory. The CUDA engine copies those in
  // registered host memory to the same place, whole or in parts, or reads them where they lie: they
  // have no such limit.
  uint64_t input_bytes_max = 0;
  uint64_t output_bytes_max = 0;  // Scan results that go to host memory; reduction slots.
  uint64_t bin_count_max = 0;     // Bins of a histogram, all channels together.
  uint64_t group_count_max = 0;   // Groups of a reduction or scan.
  // Resident input that there is scratch for, whatever the operation. A larger one is refused
  // (RESOURCE_EXHAUSTED) where its operation needs more scratch than that.
  uint64_t resident_input_bytes_max = 0;
};

struct DeviceDescription {
  std::string name;
  uint64_t memory_bytes = 0;
  uint64_t free_bytes = 0;     // Of a GPU, what of it nobody had taken when the engine was created.
  uint32_t compute_units = 0;  // Multiprocessors, or threads on the CPU engine.
  std::string compute_capability;  // "9.0"; empty on the CPU engine.
  std::string uuid = "";  // "GPU-" and 32 digits, as nvidia-smi has it; empty on the CPU engine.
};

// How a job ran. Filled by Run* calls, also where they fail.
struct RunStatistics {
  std::string strategy;  // For example "scan/look-back".
  uint32_t cluster_size = 1;
  uint64_t bytes_read = 0;
  // Until the input is where kernels read it; of a job in parts, how long its kernels waited for
  // them.
  std::chrono::nanoseconds stage_in_time{0};
  // On a device, of small jobs with what it takes to start kernels and to hear of their end.
  std::chrono::nanoseconds kernel_time{0};
  std::chrono::nanoseconds stage_out_time{0};

  // Makes these the statistics of several runs: sums, and the strategy of the last.
  void Add(const RunStatistics& run) {
    strategy = run.strategy;
    cluster_size = run.cluster_size;
    bytes_read += run.bytes_read;
    stage_in_time += run.stage_in_time;
    kernel_time += run.kernel_time;
    stage_out_time += run.stage_out_time;
  }
};

// What the engines of one kind have taken from the device and the system, all of the program
// together. Zero for the CPU engine, whose memory is the process's own.
struct EngineResources {
  uint64_t device_bytes = 0;  // Device memory held now.
  uint64_t pinned_bytes = 0;  // Page-locked host memory held now.
  // Memory of others that is registered or opened now, and how often that was done.
  uint64_t registered_bytes = 0;
  uint64_t registrations = 0;
  // Since the program started. They stand still while no lane is created.
  uint64_t device_allocations = 0;
  uint64_t pinned_allocations = 0;
  uint64_t streams_created = 0;

  bool operator==(const EngineResources&) const = default;
};

struct HistogramInput {
  InputSpan array;
  InputSpan y_array;  // Two-dimensional plans only.
  InputSpan weights;  // Weighted plans only.
};

// What a part of a reduction's elements leaves with an engine: the states of all groups.
struct ResidentStates {
  MutableResidentSpan states;
  uint64_t first_index = 0;  // Of the part's first element of each group, in the whole group.
};

// Counters of a histogram as words: underflow, overflow and NaN, then one for each bin.
inline constexpr uint64_t kOutcomeWords = 3;
inline uint64_t CounterWordBytes(const HistogramPlan& plan) {
  return (kOutcomeWords + plan.total_bin_count()) * sizeof(uint64_t);
}

class Lane {
 public:
  virtual ~Lane() = default;

  // `input` holds exactly plan.array.span_bytes() bytes; an array with pitches is one that
  // ReducesInPlace takes.
  virtual absl::StatusOr<ReductionResult> RunReduction(const ReductionPlan& plan, InputSpan input,
                                                       std::stop_token stop,
                                                       RunStatistics& statistics) = 0;

  // Bytes of a group's state as ReduceInto leaves it, the same for all engines of the kind. 0 where
  // the engine keeps none.
  virtual uint64_t ResidentStateBytes(const ReductionPlan& plan) const;

  // Reduces as RunReduction does, and leaves the states of all groups, not their values, where
  // MergeStates and MergeStateGrid read them: `states` holds ResidentStateBytes for each, aligned
  // to two words; unspecified on error. Requires a plan of rows or columns that returns states, and
  // a resident input. Errors: UNIMPLEMENTED where the engine keeps no states.
  virtual absl::Status ReduceInto(const ReductionPlan& plan, InputSpan input,
                                  MutableResidentSpan states, std::stop_token stop,
                                  RunStatistics& statistics);

  // The values of the plan's groups, columns all, from the states that ReduceInto left of all parts
  // of their elements: the plan's first group is group `first_state` there. The first part lies
  // with the lane's engine, and what it has of these groups is unspecified afterwards; the others
  // lie with any engine of the kind. Errors: those of RunReduction; UNIMPLEMENTED as above.
  virtual absl::StatusOr<ReductionResult> MergeStates(const ReductionPlan& plan,
                                                      uint64_t first_state,
                                                      std::span<const ResidentStates> parts,
                                                      std::stop_token stop);

  // Whether RunReduction and ReduceInto take the plan's groups, rows or the columns of a stack,
  // where the input lies, and keep states of them.
  virtual bool ReducesInPlace(const ReductionPlan& plan, ResidentSpan input) const;

  // The values of the plan's groups from the states that ReduceInto left of their parts, which are
  // unspecified afterwards. Requires a plan of rows or columns as the parts' was. Errors: those of
  // RunReduction; UNIMPLEMENTED as above.
  virtual absl::StatusOr<ReductionResult> MergeStateGrid(const ReductionPlan& plan,
                                                         const StateGrid& grid,
                                                         MutableResidentSpan states,
                                                         std::stop_token stop,
                                                         RunStatistics& statistics);

  // `output` holds exactly plan.output_size_bytes() bytes, none of the input's; its content is
  // unspecified on error.
  virtual absl::Status RunScan(const ScanPlan& plan, InputSpan input, OutputSpan output,
                               std::stop_token stop, RunStatistics& statistics) = 0;

  // Scans `input` as the continuation of the parts before it, whose running result is `carry`, and
  // updates `carry`. The bits are those of one scan over all parts: those of a reverse scan follow
  // each other from the array's end on. Where anything precedes, the first group, or the last one
  // of a reverse scan, goes on from there; a part that begins with a group of its own is given no
  // carry. All but the last part have a multiple of kScanCarryElements elements. `carry` is
  // unspecified on error. Further errors: those of CheckScanContinues.
  virtual absl::Status ContinueScan(const ScanPlan& plan, InputSpan input, OutputSpan output,
                                    ScanCarry& carry, std::stop_token stop,
                                    RunStatistics& statistics) = 0;

  // What the elements of a part come to that others follow, found without scanning them. Requires
  // one group, and a multiple of kScanCarryElements elements. Errors: UNIMPLEMENTED where the
  // engine has no quicker way than to scan them.
  virtual absl::StatusOr<ScanTotals> FindScanTotals(const ScanPlan& plan, InputSpan input,
                                                    std::stop_token stop,
                                                    RunStatistics& statistics);

  // Updates `carry` as ContinueScan would with a part of these totals, unless running results leave
  // the range of float64 on the way: then ContinueScan leaves another one.
  virtual void CarryOver(const ScanPlan& plan, const ScanTotals& totals, ScanCarry& carry);

  virtual absl::StatusOr<HistogramResult> RunHistogram(const HistogramPlan& plan,
                                                       const HistogramInput& input,
                                                       std::stop_token stop,
                                                       RunStatistics& statistics) = 0;

  // Counts as RunHistogram does, and leaves the counters where others can add to them: `words`
  // holds CounterWordBytes(plan) of them, unspecified on error. Requires a complete plan of one
  // channel, without weights, that returns states.
  virtual absl::Status CountInto(const HistogramPlan& plan, const HistogramInput& input,
                                 MutableResidentSpan words, std::stop_token stop,
                                 RunStatistics& statistics);

  // Adds 64-bit words in the memory of any engine of the kind to as many in that of the lane's.
  // Both are aligned to words. Errors: CANCELLED, INTERNAL; UNIMPLEMENTED where the engine has no
  // counters to add.
  virtual absl::Status AddWords(ResidentSpan from, MutableResidentSpan to, std::stop_token stop);

  // Bytes of resident memory that RunKeyedReduction of the plan needs for the while.
  virtual uint64_t KeyedRoomBytes(const KeyedReductionPlan& plan) const;

  // The plan's bins are complete, and input.room is as large as it must be. Further errors:
  // INVALID_ARGUMENT for a key outside of a range, or more keys than there may be. Errors of a
  // group name it by its place among those that occur.
  virtual absl::StatusOr<KeyedReductionResult> RunKeyedReduction(const KeyedReductionPlan& plan,
                                                                 const KeyedInput& input,
                                                                 std::stop_token stop,
                                                                 RunStatistics& statistics);

  // `input` holds exactly plan.array.size_bytes() bytes.
  virtual absl::StatusOr<QuantileResult> RunQuantiles(const QuantilePlan& plan, InputSpan input,
                                                      std::stop_token stop,
                                                      RunStatistics& statistics);

  // `input` holds exactly plan.array.size_bytes() bytes. Error: INVALID_ARGUMENT (field in the
  // payload) where a group has too many ignored NaNs.
  virtual absl::StatusOr<TopResult> RunTop(const TopPlan& plan, InputSpan input,
                                           std::stop_token stop, RunStatistics& statistics);

  // The exact sums that the plan's statistics are made of (MakePairedResult). The spans of `input`
  // hold exactly what the plan says.
  virtual absl::StatusOr<PairedSums> RunPaired(const PairedPlan& plan, const PairedInput& input,
                                               std::stop_token stop, RunStatistics& statistics);

  // Copies elements of so many bytes from `from`, which holds order.from_count of them, to `to` in
  // another order: order.element_count() of them, and none of the input's. The content of `to` is
  // unspecified on error.
  virtual absl::Status Rearrange(const Rearrangement& order, uint64_t element_bytes, InputSpan from,
                                 OutputSpan to, std::stop_token stop,
                                 RunStatistics& statistics) = 0;

  // Copies the elements that the mask selects to `selected`, and returns where there each group's
  // begin, and where the last one ends. The mask holds a byte, 0 or 1, for each element, or none:
  // then all are selected. `scratch` and `selected` hold as many bytes as the plan says; `scratch`
  // is for FindSelected. Their contents are unspecified on error. Errors: UNIMPLEMENTED where the
  // engine has no selections.
  virtual absl::StatusOr<std::vector<uint64_t>> Select(
      const SelectionPlan& plan, InputSpan input, ResidentSpan mask, MutableResidentSpan scratch,
      MutableResidentSpan selected, std::stop_token stop, RunStatistics& statistics);

  // Makes of every place the index of the element that the mask selects and before which it
  // selects so many. `scratch` is as Select left it, with this mask, which selects more elements
  // than each place. Errors as of Select.
  virtual absl::Status FindSelected(ResidentSpan mask, ResidentSpan scratch,
                                    std::span<uint64_t> places, std::stop_token stop,
                                    RunStatistics& statistics);

  // Copies elements of so many bytes, one for each byte of the mask, to `output`, with
  // `replacement` in the place of those that it does not select. Errors as of Select.
  virtual absl::Status Replace(uint64_t element_bytes, const ElementBytes& replacement,
                               InputSpan input, ResidentSpan mask, MutableResidentSpan output,
                               std::stop_token stop, RunStatistics& statistics);

  // Copies all bytes of `from` to `to`, which holds as many and none of the same; at least one of
  // them is resident. On error some of them may have been copied. Errors: CANCELLED, INTERNAL.
  virtual absl::Status Copy(InputSpan from, OutputSpan to, std::stop_token stop) = 0;

  // Makes all bytes 0. Errors: CANCELLED, INTERNAL.
  virtual absl::Status Clear(MutableResidentSpan span, std::stop_token stop) = 0;
};

class Engine {
 public:
  virtual ~Engine() = default;

  virtual const char* name() const = 0;  // "cuda" or "cpu".
  virtual const DeviceDescription& device() const = 0;

  // False once the device has failed in a way that only a restart of the process mends.
  virtual bool Healthy() const = 0;

  virtual EngineResources resources() const { return {}; }

  // Lanes must be destroyed before their engine.
  virtual absl::StatusOr<std::unique_ptr<Lane>> CreateLane(const LaneOptions& options) = 0;

  // A pool of `size_bytes` for resident memory. The CUDA engine takes it all from the device now;
  // the CPU engine takes from the host what is asked for, up to that. Errors: RESOURCE_EXHAUSTED.
  virtual absl::StatusOr<std::unique_ptr<ResidentPool>> CreateResidentPool(uint64_t size_bytes) = 0;

  // Lets lanes read and write host memory in place. The memory begins at a page boundary and must
  // outlive what is returned, which must be destroyed before the engine. On the CUDA engine it
  // takes time in proportion to the size, since pages are locked. Errors: RESOURCE_EXHAUSTED where
  // they cannot be locked; FAILED_PRECONDITION where the engine does not support it.
  virtual absl::StatusOr<std::unique_ptr<ExternalMemory>> RegisterHostMemory(
      MutableHostSpan memory);

  // Opens device memory of another process; `size_bytes` of it are used. Errors: INVALID_ARGUMENT
  // where the handle cannot be opened or the memory is smaller; FAILED_PRECONDITION where the
  // engine has no device.
  virtual absl::StatusOr<std::unique_ptr<ExternalMemory>> OpenIpcMemory(const IpcHandle& handle,
                                                                        uint64_t size_bytes);
};

// Errors: FAILED_PRECONDITION where kCuda is asked for and cannot be had; the message says why.
absl::StatusOr<std::unique_ptr<Engine>> CreateEngine(const EngineOptions& options);

// The engines of all devices that `options` names, in that order: one for each GPU, or for each
// virtual device of the CPU. At least one. Errors: those of CreateEngine, where a GPU that is
// named, or each of all, cannot be had.
absl::StatusOr<std::vector<std::unique_ptr<Engine>>> CreateEngines(const EngineOptions& options);

// Whether a CUDA device can be used by this program on this machine.
bool CudaDeviceAvailable();

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_CONTRACT_ENGINE_H_
