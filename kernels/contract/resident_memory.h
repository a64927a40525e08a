// Memory of an engine that outlives jobs, for resident arrays: on the device for "cuda", in host
// memory for "cpu"; and spans of it, which jobs take in place of host memory.
//
// Engine::CreateResidentPool makes the pool from which such memory is allocated. Allocating and
// releasing take microseconds for any size: no device memory is allocated after the pool was made.
#ifndef GRIDFOLD_KERNELS_CONTRACT_RESIDENT_MEMORY_H_
#define GRIDFOLD_KERNELS_CONTRACT_RESIDENT_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <variant>

#include "absl/status/statusor.h"
#include "kernels/contract/array.h"

namespace gridfold::kernels {

// Read-only bytes of resident memory, aligned to the elements that they are read as. Only lanes of
// the memory's engine may follow the pointer.
struct ResidentSpan {
  const std::byte* data = nullptr;
  uint64_t size_bytes = 0;
  // Host memory which the engine's device reaches over the bus; parts of it are as the whole.
  bool is_mapped = false;
};

// Writable bytes of resident memory, as above.
struct MutableResidentSpan {
  std::byte* data = nullptr;
  uint64_t size_bytes = 0;
  bool is_mapped = false;

  operator ResidentSpan() const { return {data, size_bytes, is_mapped}; }
};

// Consecutive bytes of one array in host memory, in pieces, as a transport leaves them. A piece may
// begin and end inside an element. Lanes copy them once, to where kernels read them.
struct HostSlices {
  std::span<const HostSpan> slices;
  uint64_t size_bytes = 0;  // Of all pieces.
};

// What a job reads and writes: bytes in host memory, or in memory of the engine that runs it.
using InputSpan = std::variant<HostSpan, ResidentSpan, HostSlices>;
using OutputSpan = std::variant<MutableHostSpan, MutableResidentSpan>;

inline uint64_t SizeBytes(const InputSpan& input) {
  return std::visit([](const auto& span) -> uint64_t { return span.size_bytes; }, input);
}
inline uint64_t SizeBytes(const OutputSpan& output) {
  return std::visit([](const auto& span) -> uint64_t { return span.size_bytes; }, output);
}

// Owns a block of a pool, aligned to kResidentUnitBytes. The destructor releases it, in any thread;
// no job may use it then. Initially the content is unspecified.
class ResidentMemory {
 public:
  ResidentMemory(std::byte* data, uint64_t size_bytes) : data_(data), size_bytes_(size_bytes) {}
  ResidentMemory(const ResidentMemory&) = delete;
  ResidentMemory& operator=(const ResidentMemory&) = delete;
  virtual ~ResidentMemory() = default;

  MutableResidentSpan span() const { return {data_, size_bytes_}; }

 private:
  std::byte* const data_;
  const uint64_t size_bytes_;
};

// Pools hand out memory in whole units, which is also what memory is aligned to.
inline constexpr uint64_t kResidentUnitBytes = 256;

// Bytes of the pool that memory of `size_bytes` takes: whole units, 0 for 0. Requires `size_bytes`
// to be at least one unit below 2^64.
constexpr uint64_t ResidentBytesTaken(uint64_t size_bytes) {
  return (size_bytes + kResidentUnitBytes - 1) / kResidentUnitBytes * kResidentUnitBytes;
}

// Thread-safe. Must outlive its memory, and be destroyed before its engine.
class ResidentPool {
 public:
  virtual ~ResidentPool() = default;

  // Errors: RESOURCE_EXHAUSTED where the pool has no room for so many bytes in one piece, or the
  // host no memory.
  virtual absl::StatusOr<std::unique_ptr<ResidentMemory>> Allocate(uint64_t size_bytes) = 0;
};

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_CONTRACT_RESIDENT_MEMORY_H_
