// What the bus between the host and the device allows.
#include <cuda_runtime_api.h>

#include <algorithm>

#include "kernels/cuda/benchmark/kernel_benchmark.h"
#include "kernels/cuda/device/pinned_buffer.h"
#include "kernels/cuda/device/status.h"

namespace gridfold::kernels::cuda {

absl::Status BenchmarkTransfers(KernelBenchmark& benchmark) {
  const uint64_t size_bytes = std::min<uint64_t>(uint64_t{1} << 30, benchmark.array_bytes());
  const absl::StatusOr<PinnedBuffer> host = PinnedBuffer::Allocate(size_bytes);
  if (!host.ok()) return host.status();
  const auto measure = [&](const char* name, void* to, const void* from) {
    return benchmark.Measure(name, size_bytes, Ceiling::kCopy, [&]() -> absl::Status {
      GRIDFOLD_RETURN_IF_CUDA_ERROR(
          cudaMemcpyAsync(to, from, size_bytes, cudaMemcpyDefault, benchmark.stream()));
      return absl::OkStatus();
    });
  };
  absl::Status status = measure("pinned to device", benchmark.input(), host->data());
  if (status.ok()) status = measure("device to pinned", host->data(), benchmark.input());
  return status;
}

}  // namespace gridfold::kernels::cuda
