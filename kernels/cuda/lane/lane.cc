#include "kernels/cuda/lane/lane.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>
#include <variant>

#include "absl/cleanup/cleanup.h"
#include "kernels/contract/lane_limits.h"
#include "kernels/cuda/device/grid.h"
#include "kernels/cuda/device/status.h"
#include "kernels/cuda/lane/cancellation.h"
#include "kernels/cuda/lane/layout.h"
#include "kernels/cuda/reduce/plan/geometry.h"

namespace gridfold::kernels::cuda {

namespace {

// Answers of up to so many bytes are written by the kernels to pinned memory, over the bus, which
// takes less time than to start a copy.
constexpr uint64_t kDirectBytes = 64 << 10;
// Counters of some hundred thousand bins; clearing more takes longer than its launch.
constexpr uint64_t kZeroedBytes = 1 << 20;

// The pieces of an input that is in host memory; they point into `input`.
std::span<const HostSpan> HostSpansOf(const InputSpan& input) {
  const auto* const slices = std::get_if<HostSlices>(&input);
  return slices != nullptr ? slices->slices : std::span(&std::get<HostSpan>(input), 1);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Lane>> CudaLane::Create(const DeviceProperties& properties,
                                                       const LaneOptions& options,
                                                       std::atomic<bool>& healthy) {
  GRIDFOLD_RETURN_IF_CUDA_ERROR(cudaSetDevice(properties.device));
  absl::StatusOr<Stream> stream = Stream::Create();
  if (!stream.ok()) return stream.status();
  absl::StatusOr<StagingRing> staging = StagingRing::Create();
  if (!staging.ok()) return staging.status();
  absl::StatusOr<PinnedBuffer> direct_memory = PinnedBuffer::Allocate(kDirectBytes);
  if (!direct_memory.ok()) return direct_memory.status();
  absl::StatusOr<JobTimer> timer = JobTimer::Create();
  if (!timer.ok()) return timer.status();
  absl::StatusOr<PartCopier> part_copier = PartCopier::Create();
  if (!part_copier.ok()) return part_copier.status();
  absl::StatusOr<Memory> memory = AllocateMemory(LaneLayoutOf(options, properties));
  if (!memory.ok()) return memory.status();
  return std::unique_ptr<Lane>(new CudaLane(
      properties, options, healthy, *std::move(stream), *std::move(staging),
      *std::move(direct_memory), *std::move(timer), *std::move(part_copier), *std::move(memory)));
}

absl::StatusOr<CudaLane::Memory> CudaLane::AllocateMemory(const LaneLayout& layout) {
  Memory memory;
  const struct {
    DeviceBuffer& buffer;
    uint64_t size_bytes;
  } parts[] = {{memory.input, layout.input_bytes},
               {memory.offsets, layout.offsets_bytes},
               {memory.output, layout.output_bytes},
               {memory.scratch, layout.scratch_bytes}};
  for (const auto& part : parts) {
    absl::StatusOr<DeviceBuffer> buffer = DeviceBuffer::Allocate(part.size_bytes);
    if (!buffer.ok()) return buffer.status();
    part.buffer = *std::move(buffer);
  }
  absl::StatusOr<ZeroedMemory> zeroed = ZeroedMemory::Create(kZeroedBytes);
  if (!zeroed.ok()) return zeroed.status();
  memory.zeroed = *std::move(zeroed);
  // What jobs leave out of the head is copied with the rest of it.
  GRIDFOLD_RETURN_IF_CUDA_ERROR(cudaMemset(memory.output.data(), 0, kOutputHeadBytes));
  // Streams of lanes do not wait for the stream that clears these.
  GRIDFOLD_RETURN_IF_CUDA_ERROR(cudaStreamSynchronize(nullptr));
  return memory;
}

CudaLane::CudaLane(const DeviceProperties& properties, const LaneOptions& options,
                   std::atomic<bool>& healthy, Stream stream, StagingRing staging,
                   PinnedBuffer direct_memory, JobTimer timer, PartCopier part_copier,
                   Memory memory)
    : properties_(properties),
      options_(options),
      healthy_(healthy),
      stream_(std::move(stream)),
      staging_(std::move(staging)),
      direct_memory_(std::move(direct_memory)),
      timer_(std::move(timer)),
      part_copier_(std::move(part_copier)),
      memory_(std::move(memory)) {}

// Freed from whichever thread: without this, one that never used the device would first make a
// context on device 0.
CudaLane::~CudaLane() { cudaSetDevice(properties_.device); }

absl::StatusOr<ReductionResult> CudaLane::RunReduction(const ReductionPlan& plan, InputSpan input,
                                                       std::stop_token stop,
                                                       RunStatistics& statistics) {
  absl::Status status = CheckReductionFits(options_, plan, input);
  if (!status.ok()) return status;
  if (ReducesInParts(plan, input)) return ReduceInParts(plan, input, stop, statistics);
  ReductionResult result = MakeReductionResult(plan);
  status = Run(statistics, [&] {
    const auto stage = [&] { return StageReductionInput(plan, input, stop); };
    return Reduce(plan, stage, stop, statistics, result);
  });
  if (!status.ok()) return status;
  return result;
}

absl::Status CudaLane::RunScan(const ScanPlan& plan, InputSpan input, OutputSpan output,
                               std::stop_token stop, RunStatistics& statistics) {
  if (absl::Status status = CheckScanFits(options_, plan, input, output); !status.ok()) {
    return status;
  }
  return Run(statistics, [&] { return Scan(plan, input, output, nullptr, stop, statistics); });
}

absl::Status CudaLane::ContinueScan(const ScanPlan& plan, InputSpan input, OutputSpan output,
                                    ScanCarry& carry, std::stop_token stop,
                                    RunStatistics& statistics) {
  absl::Status status = CheckScanFits(options_, plan, input, output);
  if (status.ok()) status = CheckScanContinues(plan, carry);
  if (!status.ok()) return status;
  return Run(statistics, [&] { return Scan(plan, input, output, &carry, stop, statistics); });
}

absl::StatusOr<HistogramResult> CudaLane::RunHistogram(const HistogramPlan& plan,
                                                       const HistogramInput& input,
                                                       std::stop_token stop,
                                                       RunStatistics& statistics) {
  absl::Status status = CheckHistogramFits(options_, plan, input);
  if (!status.ok()) return status;
  if (CountsInParts(plan, input)) return CountInParts(plan, input, stop, statistics);
  HistogramResult result;
  status = Run(statistics, [&] { return Histogram(plan, input, stop, statistics, result); });
  if (!status.ok()) return status;
  return result;
}

absl::Status CudaLane::Copy(InputSpan from, OutputSpan to, std::stop_token stop) {
  if (absl::Status status = CheckCopy(from, to); !status.ok()) return status;
  RunStatistics unused;
  return Run(unused, [&]() -> absl::Status {
    if (const auto* host = std::get_if<MutableHostSpan>(&to)) {
      const auto* const source = std::get_if<ResidentSpan>(&from);
      if (source == nullptr) return absl::InternalError("neither side of a copy is resident");
      return staging_.CopyOut(source->data, std::span(host, 1), stop, stream_.get());
    }
    std::byte* const place = std::get<MutableResidentSpan>(to).data;
    const auto* const resident = std::get_if<ResidentSpan>(&from);
    if (resident == nullptr) {
      return staging_.CopyIn(HostSpansOf(from), place, stop, stream_.get());
    }
    if (absl::Status status = CheckStop(stop); !status.ok()) return status;
    // Either may be a caller's registered memory.
    GRIDFOLD_RETURN_IF_CUDA_ERROR(cudaMemcpyAsync(place, resident->data, resident->size_bytes,
                                                  cudaMemcpyDefault, stream_.get()));
    return absl::OkStatus();
  });
}

absl::Status CudaLane::Clear(MutableResidentSpan span, std::stop_token stop) {
  RunStatistics unused;
  return Run(unused, [&]() -> absl::Status {
    if (absl::Status status = CheckStop(stop); !status.ok()) return status;
    if (span.size_bytes == 0) return absl::OkStatus();
    GRIDFOLD_RETURN_IF_CUDA_ERROR(cudaMemsetAsync(span.data, 0, span.size_bytes, stream_.get()));
    return absl::OkStatus();
  });
}

absl::Status CudaLane::SelectDevice() const {
  GRIDFOLD_RETURN_IF_CUDA_ERROR(cudaSetDevice(properties_.device));
  return absl::OkStatus();
}

absl::Status CudaLane::Run(RunStatistics& statistics, absl::FunctionRef<absl::Status()> operation) {
  statistics = RunStatistics{};
  absl::Status status = SelectDevice();
  timer_.Start();
  stream_is_idle_ = false;
  // A job ends by an exception where the host has no memory for its answer.
  absl::Cleanup settle = [this] { Settle(true).IgnoreError(); };
  if (status.ok()) status = operation();
  std::move(settle).Cancel();
  const absl::Status idle = Settle(!status.ok());
  if (status.ok()) status = idle;
  if (absl::Status timed = timer_.Fill(statistics); status.ok()) status = timed;
  if (IsDeviceLost(status)) healthy_.store(false, std::memory_order_relaxed);
  return status;
}

absl::Status CudaLane::RunStep(RunStatistics& statistics,
                               absl::FunctionRef<absl::Status()> operation) {
  RunStatistics run;
  absl::Status status = Run(run, operation);
  statistics.Add(run);
  return status;
}

absl::Status CudaLane::Settle(bool failed) {
  WatchNextLaunch(nullptr);
  absl::Status idle = stream_is_idle_ ? absl::OkStatus() : Synchronize();
  staging_.OnStreamIdle();
  // For the next job, which this one does not wait for.
  if (absl::Status restored = memory_.zeroed.Restore(failed, stream_.get()); idle.ok()) {
    idle = restored;
  }
  // Where the stream cannot be waited for, nobody knows when the memory is free.
  if (!idle.ok()) healthy_.store(false, std::memory_order_relaxed);
  return idle;
}

absl::Status CudaLane::Synchronize() {
  absl::Status status = stream_.Synchronize();
  stream_is_idle_ = status.ok();
  if (status.ok()) timer_.OnStreamIdle();
  return status;
}

std::byte* CudaLane::AnswerPlace(uint64_t size_bytes) const {
  return size_bytes <= direct_memory_.size_bytes() ? direct_memory_.data()
                                                   : memory_.output.data() + kOutputHeadBytes;
}

absl::Status CudaLane::CopyOut(const std::byte* from, std::span<const MutableHostSpan> to,
                               const std::stop_token& stop) {
  const std::byte* const begin = direct_memory_.data();
  const bool is_direct =
      std::less_equal<>()(begin, from) && std::less<>()(from, begin + direct_memory_.size_bytes());
  if (!is_direct) return staging_.CopyOut(from, to, stop, stream_.get());
  if (absl::Status status = Synchronize(); !status.ok()) return status;
  for (const MutableHostSpan& span : to) {
    if (span.size_bytes > 0) std::memcpy(span.data, from, span.size_bytes);
    from += span.size_bytes;
  }
  return CheckStop(stop);
}

absl::Status CudaLane::CopyIn(std::span<const HostSpan> from, std::byte* to,
                              const std::stop_token& stop) {
  absl::Status status = timer_.Mark(JobTimer::Point::kStagingBegins, stream_.get());
  if (!status.ok()) return status;
  return staging_.CopyIn(from, to, stop, stream_.get());
}

absl::StatusOr<const std::byte*> CudaLane::Stage(const InputSpan& input, std::byte* place,
                                                 uint64_t mapped_room,
                                                 const std::stop_token& stop) {
  if (const auto* resident = std::get_if<ResidentSpan>(&input)) {
    if (!IsLargeAndMapped(input) || resident->size_bytes > mapped_room) return resident->data;
    absl::Status status = timer_.Mark(JobTimer::Point::kStagingBegins, stream_.get());
    if (!status.ok()) return status;
    GRIDFOLD_RETURN_IF_CUDA_ERROR(cudaMemcpyAsync(place, resident->data, resident->size_bytes,
                                                  cudaMemcpyDefault, stream_.get()));
    return place;
  }
  absl::Status status = CopyIn(HostSpansOf(input), place, stop);
  if (!status.ok()) return status;
  return place;
}

absl::Status CudaLane::StageArrays(std::span<const StagedArray> arrays, uint64_t element_count,
                                   const std::stop_token& stop) {
  // There is room for all arrays that must be staged; the rest of it is for those that may be.
  uint64_t mapped_room = memory_.input.size_bytes();
  for (const auto& [from, to] : arrays) {
    if (!std::holds_alternative<ResidentSpan>(from)) {
      mapped_room -= RoundUp(SizeBytes(from), kArrayAlignmentBytes);
    }
  }
  std::byte* place = memory_.input.data();
  for (const auto& [from, to] : arrays) {
    if (SizeBytes(from) == 0) continue;
    const absl::StatusOr<const std::byte*> elements = Stage(from, place, mapped_room, stop);
    if (!elements.ok()) return elements.status();
    to = {*elements, element_count};
    if (*elements != place) continue;
    const uint64_t taken = RoundUp(SizeBytes(from), kArrayAlignmentBytes);
    place += taken;
    if (std::holds_alternative<ResidentSpan>(from)) mapped_room -= std::min(taken, mapped_room);
  }
  return absl::OkStatus();
}

absl::Status CudaLane::BeginKernels(const std::stop_token& stop) {
  absl::Status status = timer_.Mark(JobTimer::Point::kStagingEnds, stream_.get());
  timer_.WatchKernels(stream_.get());
  return status.ok() ? CheckStop(stop) : status;
}

absl::StatusOr<const std::byte*> CudaLane::StageIn(const InputSpan& input, const Grouping& grouping,
                                                   uint64_t mapped_room,
                                                   const std::stop_token& stop) {
  const absl::StatusOr<const std::byte*> elements =
      Stage(input, memory_.input.data(), mapped_room, stop);
  absl::Status status = elements.status();
  if (status.ok() && grouping.kind == GroupingKind::kSegments) {
    const auto offsets = std::as_bytes(std::span(grouping.offsets));
    const HostSpan span{offsets.data(), offsets.size()};
    status = CopyIn(std::span(&span, 1), memory_.offsets.data(), stop);
  }
  if (status.ok()) status = BeginKernels(stop);
  if (!status.ok()) return status;
  return elements;
}

}  // namespace gridfold::kernels::cuda
