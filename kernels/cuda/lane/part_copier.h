// A PartCopier brings arrays that lie in mapped host memory to the device part by part, by its copy
// engine: the next part while the kernels work on the one before it. Move-only; not thread-safe.
#ifndef GRIDFOLD_KERNELS_CUDA_LANE_PART_COPIER_H_
#define GRIDFOLD_KERNELS_CUDA_LANE_PART_COPIER_H_

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/cuda/device/event.h"
#include "kernels/cuda/device/stream.h"
#include "kernels/cuda/lane/layout.h"

namespace gridfold::kernels::cuda {

// Kernels read host memory over the bus in requests of 128 bytes, at 50 GB/s on an H200 on PCIe 5;
// its copy engine reaches 55. Of fewer bytes than these that is less than what it costs to start a
// copy.
inline constexpr uint64_t kCopiedBytesMin = uint64_t{4} << 20;

// Whether an input is to come by the copy engine.
inline bool IsLargeAndMapped(const InputSpan& input) {
  const auto* const resident = std::get_if<ResidentSpan>(&input);
  return resident != nullptr && resident->is_mapped && resident->size_bytes >= kCopiedBytesMin;
}

// Two parts have a place at the same time. A part of this size, the largest, takes the bus 1.2 ms:
// long beside its launches; and computing on the last part, which no copy overlaps, adds little.
inline constexpr uint64_t kPartBytesMax = uint64_t{64} << 20;

// Bytes of a part for each byte of the states that are merged on the host behind it, so that this
// takes less time than the copy of the next part.
inline constexpr uint64_t kPartBytesPerStateByte = 256;

// An array of which every part has as many elements as of the others.
struct PartArray {
  const std::byte* data;
  uint64_t element_bytes;
};

// The elements from `begin` on.
struct Part {
  uint64_t number = 0;
  uint64_t begin = 0;
  uint64_t element_count = 0;
  std::array<const std::byte*, kInputArrayCountMax> arrays{};  // In device memory.
};

class PartCopier {
 public:
  // A stream and events of the current device.
  static absl::StatusOr<PartCopier> Create();

  // Calls run(part) for one part after the other, up to `element_count` elements, while the next
  // part is copied. Parts lie in the two halves of `places`, which are aligned to
  // kArrayAlignmentBytes, in turn: when `run` returns, the kernels have done with its part.
  // elements_of(begin, elements_max) says how many the part at `begin` has, one or more. Ends with
  // the first error; copies may then be under way. Errors: those of `run`; INTERNAL from CUDA.
  absl::Status ForEachPart(std::span<const PartArray> arrays, uint64_t element_count,
                           std::span<std::byte> places,
                           absl::FunctionRef<uint64_t(uint64_t, uint64_t)> elements_of,
                           absl::FunctionRef<absl::Status(const Part&)> run);

  // What is enqueued on `stream` from now on waits for the part that `run` was called with.
  absl::Status Await(const Part& part, cudaStream_t stream) const;

  // Blocks until no copy is under way.
  absl::Status Synchronize() const { return stream_.Synchronize(); }

 private:
  using Events = std::array<Event, 2>;

  PartCopier(Stream stream, Events copied)
      : stream_(std::move(stream)), copied_(std::move(copied)) {}

  // Enqueues the copies of a part that begins at `place`.
  absl::Status Start(std::span<const PartArray> arrays, std::byte* place, Part& part);

  Stream stream_;
  Events copied_;  // By the half that a part lies in.
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_LANE_PART_COPIER_H_
