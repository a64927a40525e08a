#include "kernels/cuda/device/fault_injection.h"

#include <atomic>
#include <new>

namespace gridfold::kernels::cuda {

namespace {

constexpr uint64_t kNever = ~uint64_t{0};

std::atomic<uint64_t> g_calls = 0;
std::atomic<uint64_t> g_faulty_call = kNever;
std::atomic<cudaError_t> g_error = cudaSuccess;  // Of that call; where it is none, it throws.

}  // namespace

void ArmFault(uint64_t call, cudaError_t error) {
  g_error = error;
  g_calls = 0;
  g_faulty_call = call;
}

void ArmException(uint64_t call) { ArmFault(call, cudaSuccess); }

uint64_t CountedCalls() { return g_calls; }

cudaError_t TakeFault() {
  if (g_calls++ != g_faulty_call) return cudaSuccess;
  if (g_error == cudaSuccess) throw std::bad_alloc();
  return g_error;
}

}  // namespace gridfold::kernels::cuda
