#include "kernels/cuda/cuda_lane.h"

#include <cuda_runtime_api.h>

#include <span>
#include <utility>
#include <variant>

#include "kernels/cuda/cancellation.h"
#include "kernels/cuda/cuda_status.h"
#include "kernels/cuda/lane_layout.h"
#include "kernels/cuda/reduce_geometry.h"
#include "kernels/lane_limits.h"

namespace gridfold::kernels::cuda {

absl::StatusOr<std::unique_ptr<Lane>> CudaLane::Create(const DeviceProperties& properties,
                                                       const LaneOptions& options,
                                                       std::atomic<bool>& healthy) {
  GRIDFOLD_RETURN_IF_CUDA_ERROR(cudaSetDevice(properties.device));
  absl::StatusOr<Stream> stream = Stream::Create();
  if (!stream.ok()) return stream.status();
  absl::StatusOr<StagingRing> staging = StagingRing::Create();
  if (!staging.ok()) return staging.status();
  absl::StatusOr<JobTimer> timer = JobTimer::Create();
  if (!timer.ok()) return timer.status();
  absl::StatusOr<Memory> memory = AllocateMemory(LaneLayoutOf(options, properties));
  if (!memory.ok()) return memory.status();
  return std::unique_ptr<Lane>(new CudaLane(properties, options, healthy, *std::move(stream),
                                            *std::move(staging), *std::move(timer),
                                            *std::move(memory)));
}

absl::StatusOr<CudaLane::Memory> CudaLane::AllocateMemory(const LaneLayout& layout) {
  Memory memory;
  const struct {
    DeviceBuffer& buffer;
    uint64_t size_bytes;
  } parts[] = {{memory.input, layout.input_bytes},
               {memory.offsets, layout.offsets_bytes},
               {memory.output, layout.output_bytes},
               {memory.scratch, layout.scratch_bytes},
               {memory.idle_total, IdleTotalBytes()}};
  for (const auto& part : parts) {
    absl::StatusOr<DeviceBuffer> buffer = DeviceBuffer::Allocate(part.size_bytes);
    if (!buffer.ok()) return buffer.status();
    part.buffer = *std::move(buffer);
  }
  GRIDFOLD_RETURN_IF_CUDA_ERROR(cudaMemset(memory.idle_total.data(), 0, IdleTotalBytes()));
  // Streams of lanes do not wait for the stream that clears it.
  GRIDFOLD_RETURN_IF_CUDA_ERROR(cudaStreamSynchronize(nullptr));
  return memory;
}

CudaLane::CudaLane(const DeviceProperties& properties, const LaneOptions& options,
                   std::atomic<bool>& healthy, Stream stream, StagingRing staging, JobTimer timer,
                   Memory memory)
    : properties_(properties),
      options_(options),
      healthy_(healthy),
      stream_(std::move(stream)),
      staging_(std::move(staging)),
      timer_(std::move(timer)),
      memory_(std::move(memory)) {}

// Freed from whichever thread: without this, one that never used the device would first make a
// context on device 0.
CudaLane::~CudaLane() { cudaSetDevice(properties_.device); }

absl::StatusOr<ReductionResult> CudaLane::RunReduction(const ReductionPlan& plan, InputSpan input,
                                                       std::stop_token stop,
                                                       RunStatistics& statistics) {
  ReductionResult result = MakeReductionResult(plan);
  absl::Status status = CheckReductionFits(options_, plan, input);
  if (status.ok()) {
    status = Run(statistics, [&] { return Reduce(plan, input, stop, statistics, result); });
  }
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
  HistogramResult result;
  absl::Status status = CheckHistogramFits(options_, plan, input);
  if (status.ok()) {
    status = Run(statistics, [&] { return Histogram(plan, input, stop, statistics, result); });
  }
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
    if (resident == nullptr) return CopyIn(from, place, stop);
    if (absl::Status status = CheckStop(stop); !status.ok()) return status;
    GRIDFOLD_RETURN_IF_CUDA_ERROR(cudaMemcpyAsync(place, resident->data, resident->size_bytes,
                                                  cudaMemcpyDeviceToDevice, stream_.get()));
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

absl::Status CudaLane::Run(RunStatistics& statistics, absl::FunctionRef<absl::Status()> operation) {
  statistics = RunStatistics{};
  absl::Status status =
      CudaStatus(cudaSetDevice(properties_.device), "cudaSetDevice", __FILE__, __LINE__);
  if (status.ok()) status = timer_.Start(stream_.get());
  if (status.ok()) status = operation();
  // A job that failed may have left work behind; the caller's memory and the lane's are free after.
  if (absl::Status idle = stream_.Synchronize(); status.ok()) status = idle;
  staging_.OnStreamIdle();
  if (absl::Status timed = timer_.Fill(statistics); status.ok()) status = timed;
  if (IsDeviceLost(status)) healthy_.store(false, std::memory_order_relaxed);
  return status;
}

absl::Status CudaLane::CopyIn(const InputSpan& host, std::byte* place,
                              const std::stop_token& stop) {
  const auto* const slices = std::get_if<HostSlices>(&host);
  const std::span<const HostSpan> spans =
      slices != nullptr ? slices->slices : std::span(&std::get<HostSpan>(host), 1);
  return staging_.CopyIn(spans, place, stop, stream_.get());
}

absl::StatusOr<const std::byte*> CudaLane::Stage(const InputSpan& input, std::byte* place,
                                                 const std::stop_token& stop) {
  if (const auto* resident = std::get_if<ResidentSpan>(&input)) return resident->data;
  if (absl::Status status = CopyIn(input, place, stop); !status.ok()) return status;
  return place;
}

absl::StatusOr<const std::byte*> CudaLane::StageIn(const InputSpan& input, const Grouping& grouping,
                                                   const std::stop_token& stop) {
  const absl::StatusOr<const std::byte*> elements = Stage(input, memory_.input.data(), stop);
  absl::Status status = elements.status();
  if (status.ok() && grouping.kind == GroupingKind::kSegments) {
    const auto offsets = std::as_bytes(std::span(grouping.offsets));
    status = CopyIn(HostSpan{offsets.data(), offsets.size()}, memory_.offsets.data(), stop);
  }
  if (status.ok()) status = timer_.Mark(stream_.get());
  if (status.ok()) status = CheckStop(stop);
  if (!status.ok()) return status;
  return elements;
}

}  // namespace gridfold::kernels::cuda
