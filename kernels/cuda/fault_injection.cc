#include "kernels/cuda/fault_injection.h"

#include <atomic>

namespace gridfold::kernels::cuda {

namespace {

constexpr uint64_t kNever = ~uint64_t{0};

std::atomic<uint64_t> g_calls = 0;
std::atomic<uint64_t> g_faulty_call = kNever;
std::atomic<cudaError_t> g_error = cudaSuccess;

}  // namespace

void ArmFault(uint64_t call, cudaError_t error) {
  g_error = error;
  g_calls = 0;
  g_faulty_call = call;
}

uint64_t CountedCalls() { return g_calls; }

cudaError_t TakeFault() { return g_calls++ == g_faulty_call ? g_error.load() : cudaSuccess; }

}  // namespace gridfold::kernels::cuda
