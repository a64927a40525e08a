// Memory of another owner that an engine can access: its lanes use it like resident memory. Made by
// Engine::RegisterHostMemory and Engine::OpenIpcMemory.
//
// The owner may write the memory while a job reads it. Such a job's answer is unspecified, but
// nothing else is affected: no engine takes an address from an element that it reads twice.
#ifndef GRIDFOLD_KERNELS_CONTRACT_EXTERNAL_MEMORY_H_
#define GRIDFOLD_KERNELS_CONTRACT_EXTERNAL_MEMORY_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "kernels/contract/resident_memory.h"

namespace gridfold::kernels {

// How a process passes device memory to others: the bytes of cudaIpcGetMemHandle.
using IpcHandle = std::array<std::byte, 64>;

// Owns the engine's registration of the memory, not the memory. The destructor takes time in
// proportion to the size and may run in any thread; no job may use the memory then.
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

#endif  // GRIDFOLD_KERNELS_CONTRACT_EXTERNAL_MEMORY_H_
