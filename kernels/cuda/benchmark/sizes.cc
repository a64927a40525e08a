// Time against size: where a launch's beginning and end, the caches and memory in turn decide.
#include "kernels/cuda/benchmark/kernel_benchmark.h"

namespace gridfold::kernels::cuda {

absl::Status BenchmarkSizes(KernelBenchmark& benchmark) {
  constexpr uint64_t kSmallestBytes = uint64_t{16} << 10;
  for (uint64_t bytes = kSmallestBytes; bytes <= kSizesArrayBytes; bytes *= 2) {
    benchmark.UseFirst(bytes);
    for (const auto run :
         {BenchmarkReductionsOfSize, BenchmarkScansOfSize, BenchmarkHistogramsOfSize}) {
      if (absl::Status status = run(benchmark); !status.ok()) return status;
    }
  }
  return absl::OkStatus();
}

}  // namespace gridfold::kernels::cuda
