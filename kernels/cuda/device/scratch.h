// Device scratch of a lane: memory that a launcher takes piece by piece for the length of one job.
//
// A Scratch is a view; the lane owns the memory and starts each job with a fresh Scratch over it.
// Not thread-safe, as a lane is not.
#ifndef GRIDFOLD_KERNELS_CUDA_DEVICE_SCRATCH_H_
#define GRIDFOLD_KERNELS_CUDA_DEVICE_SCRATCH_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "kernels/contract/invalid_field.h"

namespace gridfold::kernels::cuda {

inline constexpr uint64_t kScratchAlignmentBytes = 256;

// What an allocation of `size_bytes` takes of a Scratch. For ...ScratchBytes functions.
constexpr uint64_t ScratchBytes(uint64_t size_bytes) {
  return (size_bytes + kScratchAlignmentBytes - 1) / kScratchAlignmentBytes *
         kScratchAlignmentBytes;
}

class ZeroedMemory;

class Scratch {
 public:
  // `data` is aligned to kScratchAlignmentBytes, as device allocations are. `zeroed` is where zeros
  // are taken from; null where there are none (zeroed_memory.h).
  Scratch(void* data, uint64_t size_bytes, ZeroedMemory* zeroed = nullptr)
      : data_(static_cast<std::byte*>(data)), size_bytes_(size_bytes), zeroed_(zeroed) {}

  // Uninitialised memory for `count` values, aligned to kScratchAlignmentBytes. Errors:
  // LargerThanALane.
  template <class T>
  absl::StatusOr<T*> Allocate(uint64_t count) {
    const uint64_t left = size_bytes_ - used_bytes_;
    if (count > left / sizeof(T) || ScratchBytes(count * sizeof(T)) > left) {
      return LargerThanALane(absl::StrCat("the lane's scratch of ", size_bytes_,
                                          " bytes has no room for ", count, " more values of ",
                                          sizeof(T), " bytes"));
    }
    T* const values = reinterpret_cast<T*>(data_ + used_bytes_);
    used_bytes_ += ScratchBytes(count * sizeof(T));
    return values;
  }

  ZeroedMemory* zeroed() const { return zeroed_; }
  uint64_t used_bytes() const { return used_bytes_; }
  uint64_t size_bytes() const { return size_bytes_; }

 private:
  std::byte* data_;
  uint64_t size_bytes_;
  ZeroedMemory* zeroed_;
  uint64_t used_bytes_ = 0;
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_DEVICE_SCRATCH_H_
