// Memory that somebody else owns and an engine was shown: to its lanes it is what resident memory
// is, spans that they follow. Engine::RegisterHostMemory and Engine::OpenIpcMemory make it.
//
// Whoever owns the memory may write it while a job reads it. Such a job's answer is unspecified,
// but nothing else comes to harm: no engine takes an address from an element that it reads twice.
#ifndef GRIDFOLD_KERNELS_EXTERNAL_MEMORY_H_
#define GRIDFOLD_KERNELS_EXTERNAL_MEMORY_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "kernels/resident_memory.h"

namespace gridfold::kernels {

// How a process hands device memory to others: what cudaIpcGetMemHandle gives, byte for byte.
using IpcHandle = std::array<std::byte, 64>;

// Owns what the engine took for the memory, not the memory. The destructor, which takes time in
// proportion to it, may run in any thread that no job of the memory runs in; no job may use it
// then.
class ExternalMemory {
 public:
  explicit ExternalMemory(MutableResidentSpan span) : span_(span) {}
  ExternalMemory(const ExternalMemory&) = delete;
  ExternalMemory& operator=(const ExternalMemory&) = delete;
  virtual ~ExternalMemory() = default;

  // Only lanes of the engine may follow the pointer.
  MutableResidentSpan span() const { return span_; }

 private:
  const MutableResidentSpan span_;
};

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_EXTERNAL_MEMORY_H_
