// The harness of kernel_benchmark: measures launches on a device and reports them beside what the
// device's memory can do. Benchmarks of an operation stand in <operation>.cc.
#ifndef GRIDFOLD_KERNELS_CUDA_BENCHMARK_KERNEL_BENCHMARK_H_
#define GRIDFOLD_KERNELS_CUDA_BENCHMARK_KERNEL_BENCHMARK_H_

#include <cuda_runtime_api.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "kernels/contract/reduction.h"
#include "kernels/cuda/benchmark/cub.h"
#include "kernels/cuda/benchmark/device.h"
#include "kernels/cuda/device/buffer.h"
#include "kernels/cuda/device/event.h"
#include "kernels/cuda/device/properties.h"
#include "kernels/cuda/device/scratch.h"
#include "kernels/cuda/device/stream.h"
#include "kernels/cuda/device/zeroed_memory.h"
#include "kernels/types/element_type.h"

namespace gridfold::kernels::cuda {

// What a benchmark's rate is compared with.
enum class Ceiling : uint8_t { kRead, kCopy };

struct BenchmarkRow {
  std::string name;
  uint64_t array_bytes = 0;  // Of the array, as large as it was then.
  uint64_t bytes = 0;        // Read and written.
  Ceiling ceiling = Ceiling::kRead;
  double microseconds = 0;                 // Median.
  std::optional<double> cub_microseconds;  // Of CUB at the same work, where it does that.

  double gigabytes_per_second() const { return static_cast<double>(bytes) / microseconds / 1e3; }
};

// The strategy that stands for each one that can take a reduction, the one that is thought best
// first.
inline constexpr char kAllStrategies[] = "all";

// What is to be measured; empty: all of it.
struct BenchmarkSelection {
  std::string strategy;  // By which all are run that it can take; empty: what is thought best.
  std::string rows;      // Those whose names contain this.
};

// What a reduction reads and writes: elements, offsets of segments, and a value of each statistic
// for each group, which is more than the elements where groups are small.
uint64_t BytesMoved(const ReductionPlan& plan);

// Whether a row is not of the strategy that is forced (kernels/contract/strategy_error.h).
bool IsStrategyRefused(const absl::Status& status);

class KernelBenchmark {
 public:
  // Allocates arrays of `array_bytes` on the current device and measures its ceilings.
  static absl::StatusOr<KernelBenchmark> Create(uint64_t array_bytes, BenchmarkSelection selection);

  // Fills the input with elements of `type`: integers of any bits, floating-point ones as `data`
  // says.
  absl::Status FillInput(ElementType type, BenchmarkData data = BenchmarkData::kUniform);

  void* input() const { return input_.data(); }
  // Where a run's array of so many bytes is in the input: small ones move on from call to call, so
  // that no cache has them.
  const void* NextInput(uint64_t bytes);
  void* output() const { return output_.data(); }  // As large as the input.
  uint64_t array_bytes() const { return array_bytes_; }
  // From now on the arrays are the first so many bytes of those that were allocated.
  void UseFirst(uint64_t array_bytes) { array_bytes_ = array_bytes; }
  // As a lane has it.
  Scratch NewScratch() { return Scratch(scratch_.data(), scratch_.size_bytes(), &zeroed_); }
  // At least so many bytes for results. Kept from row to row: memory that is freed takes time from
  // the row behind it.
  absl::StatusOr<void*> Results(uint64_t bytes);
  const BenchmarkSelection& selection() const { return selection_; }
  const DeviceProperties& properties() const { return properties_; }
  cudaStream_t stream() const { return stream_.get(); }

  // Runs `enqueue` again and again on the stream, after a rest in which the device's power falls,
  // and keeps the median time of one run, if the row is among those selected. The device begins a
  // run when the host has enqueued it.
  absl::Status Measure(const std::string& name, uint64_t bytes, Ceiling ceiling,
                       absl::FunctionRef<absl::Status()> enqueue);

  // Measures CUB beside the row before, in the same way. An empty call leaves the row alone.
  absl::Status CompareWithCub(const CubCall& call);

  const std::vector<BenchmarkRow>& rows() const { return rows_; }
  // Rate of a row over that of its ceiling.
  double RatioToCeiling(const BenchmarkRow& row) const;

 private:
  KernelBenchmark(const DeviceProperties& properties, Stream stream, Event start, Event stop,
                  DeviceBuffer input, DeviceBuffer output, DeviceBuffer scratch,
                  ZeroedMemory zeroed, BenchmarkSelection selection);

  // The ceilings, and what reading fewer bytes and none takes in the same way: most of what small
  // arrays lack is a launch's beginning and end.
  absl::Status MeasureCeilings();
  absl::Status MeasureRead(const std::string& name, uint64_t bytes);
  absl::StatusOr<double> MedianMicroseconds(absl::FunctionRef<absl::Status()> enqueue);

  DeviceProperties properties_;
  Stream stream_;
  Event start_;
  Event stop_;
  DeviceBuffer input_;
  DeviceBuffer output_;
  DeviceBuffer scratch_;
  ZeroedMemory zeroed_;
  DeviceBuffer results_;
  uint64_t array_bytes_;
  BenchmarkSelection selection_;
  std::vector<BenchmarkRow> rows_;  // The first two are the ceilings.
  uint64_t next_input_ = 0;
  bool row_is_selected_ = true;  // The row that was to be measured last.
};

// One for each operation, in the order of a whole run.
absl::Status BenchmarkExactSums(KernelBenchmark& benchmark);
absl::Status BenchmarkReductions(KernelBenchmark& benchmark);
absl::Status BenchmarkMatrices(
    KernelBenchmark& benchmark);  // Reductions of their columns and rows.
absl::Status BenchmarkScans(KernelBenchmark& benchmark);
absl::Status BenchmarkColumnScans(KernelBenchmark& benchmark);  // Along axis 0.
absl::Status BenchmarkHistograms(KernelBenchmark& benchmark);
absl::Status BenchmarkOrder(KernelBenchmark& benchmark);  // Quantiles and the largest elements.
absl::Status BenchmarkKeys(KernelBenchmark& benchmark);
absl::Status BenchmarkTransfers(KernelBenchmark& benchmark);

// The same few questions of arrays of 16 KiB to kSizesArrayBytes.
inline constexpr uint64_t kSizesArrayBytes = uint64_t{256} << 20;
absl::Status BenchmarkSizes(KernelBenchmark& benchmark);
// The questions of one size, of each operation.
absl::Status BenchmarkReductionsOfSize(KernelBenchmark& benchmark);
absl::Status BenchmarkScansOfSize(KernelBenchmark& benchmark);
absl::Status BenchmarkHistogramsOfSize(KernelBenchmark& benchmark);

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_BENCHMARK_KERNEL_BENCHMARK_H_
