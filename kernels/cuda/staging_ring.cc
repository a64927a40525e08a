#include "kernels/cuda/staging_ring.h"

#include <algorithm>
#include <cstring>

#include "kernels/cuda/cancellation.h"
#include "kernels/cuda/cuda_status.h"
#include "kernels/cuda/grid.h"

namespace gridfold::kernels::cuda {

namespace {

uint64_t TotalBytes(std::span<const MutableHostSpan> spans) {
  uint64_t bytes = 0;
  for (const MutableHostSpan& span : spans) bytes += span.size_bytes;
  return bytes;
}

// Writes consecutive bytes to one span after the other.
class SpanWriter {
 public:
  explicit SpanWriter(std::span<const MutableHostSpan> spans) : spans_(spans) {}

  // Requires that the spans have room for the bytes.
  void Write(const std::byte* data, uint64_t size_bytes) {
    while (size_bytes > 0) {
      const MutableHostSpan& span = spans_.front();
      const uint64_t taken = std::min<uint64_t>(size_bytes, span.size_bytes - offset_);
      if (taken > 0) std::memcpy(span.data + offset_, data, taken);
      data += taken;
      size_bytes -= taken;
      offset_ += taken;
      if (offset_ == span.size_bytes) {
        spans_ = spans_.subspan(1);
        offset_ = 0;
      }
    }
  }

 private:
  std::span<const MutableHostSpan> spans_;
  uint64_t offset_ = 0;  // In the first of them.
};

}  // namespace

absl::StatusOr<StagingRing> StagingRing::Create() {
  absl::StatusOr<PinnedBuffer> memory = PinnedBuffer::Allocate(kSlotCount * kSlotBytes);
  if (!memory.ok()) return memory.status();
  std::vector<Slot> slots;
  for (uint32_t i = 0; i < kSlotCount; ++i) {
    absl::StatusOr<Event> event = Event::Create();
    if (!event.ok()) return event.status();
    slots.push_back({memory->data() + i * kSlotBytes, *std::move(event)});
  }
  return StagingRing(*std::move(memory), std::move(slots));
}

absl::Status StagingRing::CopyIn(HostSpan from, std::byte* to, const std::stop_token& stop,
                                 cudaStream_t stream) {
  for (uint64_t begin = 0, turn = 0; begin < from.size_bytes; begin += kSlotBytes, ++turn) {
    if (absl::Status status = CheckStop(stop); !status.ok()) return status;
    const Slot& slot = slots_[turn % kSlotCount];
    if (absl::Status status = slot.reusable.Synchronize(); !status.ok()) return status;
    const uint64_t size_bytes = std::min(kSlotBytes, from.size_bytes - begin);
    std::memcpy(slot.data, from.data + begin, size_bytes);
    GRIDFOLD_RETURN_IF_CUDA_ERROR(
        cudaMemcpyAsync(to + begin, slot.data, size_bytes, cudaMemcpyHostToDevice, stream));
    if (absl::Status status = slot.reusable.Record(stream); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status StagingRing::CopyOut(const std::byte* from, std::span<const MutableHostSpan> to,
                                  const std::stop_token& stop, cudaStream_t stream) {
  const uint64_t total_bytes = TotalBytes(to);
  const uint64_t chunk_count = CeilDivide(total_bytes, kSlotBytes);
  const auto chunk_bytes = [&](uint64_t chunk) {
    return std::min(kSlotBytes, total_bytes - chunk * kSlotBytes);
  };
  const auto enqueue = [&](uint64_t chunk) -> absl::Status {
    const Slot& slot = slots_[chunk % kSlotCount];
    GRIDFOLD_RETURN_IF_CUDA_ERROR(cudaMemcpyAsync(
        slot.data, from + chunk * kSlotBytes, chunk_bytes(chunk), cudaMemcpyDeviceToHost, stream));
    return slot.reusable.Record(stream);
  };

  SpanWriter writer(to);
  for (uint64_t chunk = 0; chunk < std::min<uint64_t>(chunk_count, kSlotCount); ++chunk) {
    if (absl::Status status = enqueue(chunk); !status.ok()) return status;
  }
  for (uint64_t chunk = 0; chunk < chunk_count; ++chunk) {
    if (absl::Status status = CheckStop(stop); !status.ok()) return status;
    const Slot& slot = slots_[chunk % kSlotCount];
    if (absl::Status status = slot.reusable.Synchronize(); !status.ok()) return status;
    writer.Write(slot.data, chunk_bytes(chunk));
    if (chunk + kSlotCount < chunk_count) {
      if (absl::Status status = enqueue(chunk + kSlotCount); !status.ok()) return status;
    }
  }
  return absl::OkStatus();
}

}  // namespace gridfold::kernels::cuda
