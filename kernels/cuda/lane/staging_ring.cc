#include "kernels/cuda/lane/staging_ring.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "kernels/cuda/device/grid.h"
#include "kernels/cuda/device/status.h"
#include "kernels/cuda/lane/cancellation.h"

namespace gridfold::kernels::cuda {

namespace {

template <class Span>
uint64_t TotalBytes(std::span<const Span> spans) {
  uint64_t bytes = 0;
  for (const Span& span : spans) bytes += span.size_bytes;
  return bytes;
}

// A walk over the bytes of one span after the other.
template <class Span>
class SpanWalk {
 public:
  explicit SpanWalk(std::span<const Span> spans) : spans_(spans) {}

  // Calls visit(piece, offset, size) for the pieces of the next `size_bytes` bytes; offsets count
  // from the first of these. Requires that there are so many.
  template <class Visit>
  void Next(uint64_t size_bytes, Visit visit) {
    for (uint64_t offset = 0; offset < size_bytes;) {
      const Span& span = spans_.front();
      const uint64_t taken = std::min<uint64_t>(size_bytes - offset, span.size_bytes - begin_);
      if (taken > 0) visit(span.data + begin_, offset, taken);
      offset += taken;
      begin_ += taken;
      if (begin_ == span.size_bytes) {
        spans_ = spans_.subspan(1);
        begin_ = 0;
      }
    }
  }

 private:
  std::span<const Span> spans_;
  uint64_t begin_ = 0;  // In the first of them.
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

absl::Status StagingRing::MarkUsed(Slot& slot, bool is_last, cudaStream_t stream) {
  slot.use = is_last ? Use::kUntilStreamIsIdle : Use::kUntilEvent;
  return is_last ? absl::OkStatus() : slot.copied.Record(stream);
}

absl::Status StagingRing::Await(Slot& slot, cudaStream_t stream) {
  switch (std::exchange(slot.use, Use::kNone)) {
    case Use::kNone: return absl::OkStatus();
    case Use::kUntilEvent: return slot.copied.Synchronize();
    case Use::kUntilStreamIsIdle: break;
  }
  GRIDFOLD_RETURN_IF_CUDA_ERROR(cudaStreamSynchronize(stream));
  return absl::OkStatus();
}

void StagingRing::OnStreamIdle() {
  for (Slot& slot : slots_) slot.use = Use::kNone;
}

absl::Status StagingRing::CopyIn(std::span<const HostSpan> from, std::byte* to,
                                 const std::stop_token& stop, cudaStream_t stream) {
  const uint64_t total_bytes = TotalBytes(from);
  SpanWalk walk(from);
  for (uint64_t begin = 0; begin < total_bytes; begin += kSlotBytes) {
    if (absl::Status status = CheckStop(stop); !status.ok()) return status;
    Slot& slot = NextSlot();
    if (absl::Status status = Await(slot, stream); !status.ok()) return status;
    const uint64_t size_bytes = std::min(kSlotBytes, total_bytes - begin);
    walk.Next(size_bytes, [&](const std::byte* piece, uint64_t offset, uint64_t taken) {
      std::memcpy(slot.data + offset, piece, taken);
    });
    GRIDFOLD_RETURN_IF_CUDA_ERROR(
        cudaMemcpyAsync(to + begin, slot.data, size_bytes, cudaMemcpyHostToDevice, stream));
    const bool is_last = begin + size_bytes == total_bytes;
    if (absl::Status status = MarkUsed(slot, is_last, stream); !status.ok()) return status;
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
  const uint64_t first_slot = next_slot_;
  const auto enqueue = [&](uint64_t chunk) -> absl::Status {
    // What the device does with the slot before, it has done when it comes to this.
    Slot& slot = NextSlot();
    GRIDFOLD_RETURN_IF_CUDA_ERROR(cudaMemcpyAsync(
        slot.data, from + chunk * kSlotBytes, chunk_bytes(chunk), cudaMemcpyDeviceToHost, stream));
    return MarkUsed(slot, chunk + 1 == chunk_count, stream);
  };

  SpanWalk walk(to);
  for (uint64_t chunk = 0; chunk < std::min<uint64_t>(chunk_count, kSlotCount); ++chunk) {
    if (absl::Status status = enqueue(chunk); !status.ok()) return status;
  }
  for (uint64_t chunk = 0; chunk < chunk_count; ++chunk) {
    if (absl::Status status = CheckStop(stop); !status.ok()) return status;
    Slot& slot = slots_[(first_slot + chunk) % kSlotCount];
    if (absl::Status status = Await(slot, stream); !status.ok()) return status;
    walk.Next(chunk_bytes(chunk), [&](std::byte* piece, uint64_t offset, uint64_t taken) {
      std::memcpy(piece, slot.data + offset, taken);
    });
    if (chunk + kSlotCount < chunk_count) {
      if (absl::Status status = enqueue(chunk + kSlotCount); !status.ok()) return status;
    }
  }
  return absl::OkStatus();
}

}  // namespace gridfold::kernels::cuda
