// A StagingRing copies between pageable host memory and the device, through a small ring of pinned
// memory.
//
// The processor's copy of one chunk overlaps the device's copy of the chunk before it, so a lane
// needs only a few pinned MiB whatever the size of its jobs. Move-only; not thread-safe.
#ifndef GRIDFOLD_KERNELS_CUDA_LANE_STAGING_RING_H_
#define GRIDFOLD_KERNELS_CUDA_LANE_STAGING_RING_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <stop_token>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/contract/array.h"
#include "kernels/cuda/device/event.h"
#include "kernels/cuda/device/pinned_buffer.h"

namespace gridfold::kernels::cuda {

class StagingRing {
 public:
  // Pinned memory of a ring. A chunk's DMA then takes 150 us over PCIe 5, long beside what starting
  // it costs; the processor's copy takes longer still, so more slots would not help.
  static constexpr uint32_t kSlotCount = 2;
  static constexpr uint64_t kSlotBytes = 8 << 20;

  // Allocates the pinned memory. Errors: RESOURCE_EXHAUSTED.
  static absl::StatusOr<StagingRing> Create();

  // Copies to consecutive bytes of the device from one host span after the other. Returns when
  // `from` may be changed; the device's copies are then enqueued on `stream`. All calls of a ring
  // use the same stream. CANCELLED where `stop` is requested before the last chunk.
  absl::Status CopyIn(std::span<const HostSpan> from, std::byte* to, const std::stop_token& stop,
                      cudaStream_t stream);

  // Copies consecutive bytes from the device to one host span after the other. Waits for everything
  // enqueued on `stream` before; returns when the bytes are there. CANCELLED as above.
  absl::Status CopyOut(const std::byte* from, std::span<const MutableHostSpan> to,
                       const std::stop_token& stop, cudaStream_t stream);

  // The stream has done all that was enqueued: there is nothing to wait for.
  void OnStreamIdle();

 private:
  // The last copy of a call has no event of its own, which spares small jobs a call of the driver:
  // who has to wait for it waits for the stream.
  enum class Use { kNone, kUntilEvent, kUntilStreamIsIdle };

  struct Slot {
    std::byte* data;
    Event copied;
    Use use = Use::kNone;  // By the device.
  };

  StagingRing(PinnedBuffer memory, std::vector<Slot> slots)
      : memory_(std::move(memory)), slots_(std::move(slots)) {}

  // The slot after the last one taken.
  Slot& NextSlot() { return slots_[next_slot_++ % kSlotCount]; }
  absl::Status MarkUsed(Slot& slot, bool is_last, cudaStream_t stream);
  absl::Status Await(Slot& slot, cudaStream_t stream);

  PinnedBuffer memory_;
  std::vector<Slot> slots_;
  uint64_t next_slot_ = 0;
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_LANE_STAGING_RING_H_
