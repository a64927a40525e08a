#include "kernels/cuda/benchmark/kernel_benchmark.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/contract/invalid_field.h"
#include "kernels/contract/strategy_error.h"
#include "kernels/cuda/device/grid.h"
#include "kernels/cuda/device/launch.h"
#include "kernels/cuda/device/status.h"
#include "kernels/numerics/arithmetic/element.h"

namespace gridfold::kernels::cuda {

namespace {

constexpr uint64_t kScratchBytes = 512 << 20;
constexpr uint64_t kZeroedBytes = 1 << 20;  // As a lane has.
constexpr int kWarmUpRuns = 3;
constexpr int kMeasuredRuns = 21;
// What takes longer than this altogether is run less often: kernels that are forced to take what
// they are not made for may take seconds.
constexpr double kMeasuredMicrosecondsMax = 200'000;
// Before each row. Rows that follow one another at once draw more than the device may for long,
// which then lowers its clock for those that come after; and in the first tenth of a second it is
// slower. Small arrays draw little.
constexpr std::chrono::milliseconds kRest{50};
constexpr std::chrono::milliseconds kShortRest{10};
constexpr uint64_t kShortRestBytesMax = 64 << 20;
// Before each run, for the host to enqueue it meanwhile: else the time between events is the host's
// where that is longer.
constexpr uint64_t kHoldNanoseconds = 100'000;
// From where a small array was to where the next one is.
constexpr uint64_t kInputStep = 64 << 20;
constexpr uint64_t kAlignment = 256;

LaunchShape FullGrid(const DeviceProperties& properties) {
  return {.grid = dim3(static_cast<unsigned>(properties.multiprocessor_count) * 8),
          .block = dim3(kBenchmarkThreads)};
}

}  // namespace

uint64_t BytesMoved(const ReductionPlan& plan) {
  return plan.array.size_bytes() +
         (plan.grouping.offsets.size() + plan.result_slot_count()) * sizeof(uint64_t);
}

bool IsStrategyRefused(const absl::Status& status) { return FieldOf(status) == kStrategyField; }

absl::StatusOr<KernelBenchmark> KernelBenchmark::Create(uint64_t array_bytes,
                                                        BenchmarkSelection selection) {
  int device = 0;
  GRIDFOLD_RETURN_IF_CUDA_ERROR(cudaGetDevice(&device));
  absl::StatusOr<DeviceProperties> properties = QueryDeviceProperties(device);
  if (!properties.ok()) return properties.status();
  absl::StatusOr<Stream> stream = Stream::Create();
  if (!stream.ok()) return stream.status();
  absl::StatusOr<Event> start = Event::Create();
  if (!start.ok()) return start.status();
  absl::StatusOr<Event> stop = Event::Create();
  if (!stop.ok()) return stop.status();
  absl::StatusOr<DeviceBuffer> input = DeviceBuffer::Allocate(array_bytes);
  if (!input.ok()) return input.status();
  absl::StatusOr<DeviceBuffer> output = DeviceBuffer::Allocate(array_bytes);
  if (!output.ok()) return output.status();
  absl::StatusOr<DeviceBuffer> scratch = DeviceBuffer::Allocate(kScratchBytes);
  if (!scratch.ok()) return scratch.status();
  absl::StatusOr<ZeroedMemory> zeroed = ZeroedMemory::Create(kZeroedBytes);
  if (!zeroed.ok()) return zeroed.status();
  KernelBenchmark benchmark(*properties, *std::move(stream), *std::move(start), *std::move(stop),
                            *std::move(input), *std::move(output), *std::move(scratch),
                            *std::move(zeroed), std::move(selection));
  if (absl::Status status = benchmark.MeasureCeilings(); !status.ok()) return status;
  return benchmark;
}

KernelBenchmark::KernelBenchmark(const DeviceProperties& properties, Stream stream, Event start,
                                 Event stop, DeviceBuffer input, DeviceBuffer output,
                                 DeviceBuffer scratch, ZeroedMemory zeroed,
                                 BenchmarkSelection selection)
    : properties_(properties),
      stream_(std::move(stream)),
      start_(std::move(start)),
      stop_(std::move(stop)),
      input_(std::move(input)),
      output_(std::move(output)),
      scratch_(std::move(scratch)),
      zeroed_(std::move(zeroed)),
      array_bytes_(input_.size_bytes()),
      selection_(std::move(selection)) {}

absl::Status KernelBenchmark::FillInput(ElementType type, BenchmarkData data) {
  return VisitElementType(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (FloatingElement<T>) {
      return Launch(GetFillKernel<T>(), FullGrid(properties_), stream(),
                    reinterpret_cast<T*>(input_.data()), array_bytes() / sizeof(T), data);
    } else {
      return Launch(GetBenchmarkKernels().fill_bits, FullGrid(properties_), stream(),
                    reinterpret_cast<uint32_t*>(input_.data()), array_bytes() / sizeof(uint32_t));
    }
  });
}

const void* KernelBenchmark::NextInput(uint64_t bytes) {
  if (bytes >= std::min(kInputStep, array_bytes())) return input_.data();
  const uint64_t last_place = (array_bytes() - bytes) / kAlignment * kAlignment;
  next_input_ = (next_input_ + kInputStep + RoundUp(bytes, kAlignment)) % (last_place + kAlignment);
  return static_cast<const std::byte*>(input_.data()) + next_input_;
}

absl::StatusOr<void*> KernelBenchmark::Results(uint64_t bytes) {
  if (results_.size_bytes() < bytes) {
    results_ = DeviceBuffer();
    absl::StatusOr<DeviceBuffer> results = DeviceBuffer::Allocate(bytes);
    if (!results.ok()) return results.status();
    results_ = *std::move(results);
  }
  return results_.data();
}

absl::StatusOr<double> KernelBenchmark::MedianMicroseconds(
    absl::FunctionRef<absl::Status()> enqueue) {
  std::this_thread::sleep_for(array_bytes() <= kShortRestBytesMax ? kShortRest : kRest);
  std::vector<double> microseconds;
  double total = 0;
  for (int run = 0; run < kWarmUpRuns + kMeasuredRuns; ++run) {
    absl::Status status = Launch(GetBenchmarkKernels().hold, {}, stream(), kHoldNanoseconds);
    if (status.ok()) status = zeroed_.Restore(false, stream());
    if (status.ok()) status = start_.Record(stream());
    if (status.ok()) status = enqueue();
    if (status.ok()) status = stop_.Record(stream());
    if (status.ok()) status = stop_.Synchronize();
    if (!status.ok()) return status;
    const auto time = stop_.TimeSince(start_);
    if (!time.ok()) return time.status();
    const double taken = static_cast<double>(time->count()) / 1e3;
    total += taken;
    if (run >= kWarmUpRuns || total > kMeasuredMicrosecondsMax) microseconds.push_back(taken);
    if (total > kMeasuredMicrosecondsMax) break;
  }
  const auto median = microseconds.begin() + static_cast<ptrdiff_t>(microseconds.size() / 2);
  std::nth_element(microseconds.begin(), median, microseconds.end());
  return *median;
}

absl::Status KernelBenchmark::Measure(const std::string& name, uint64_t bytes, Ceiling ceiling,
                                      absl::FunctionRef<absl::Status()> enqueue) {
  const bool is_ceiling = rows_.size() < 2;
  row_is_selected_ = is_ceiling || name.find(selection_.rows) != std::string::npos;
  if (!row_is_selected_) return absl::OkStatus();
  const absl::StatusOr<double> microseconds = MedianMicroseconds(enqueue);
  if (!microseconds.ok()) return microseconds.status();
  rows_.push_back({name, array_bytes(), bytes, ceiling, *microseconds, {}});
  return absl::OkStatus();
}

absl::Status KernelBenchmark::CompareWithCub(const CubCall& call) {
  if (call == nullptr || !row_is_selected_) return absl::OkStatus();
  size_t bytes = 0;
  GRIDFOLD_RETURN_IF_CUDA_ERROR(call(nullptr, bytes, stream()));
  const absl::StatusOr<DeviceBuffer> scratch = DeviceBuffer::Allocate(std::max(bytes, size_t{1}));
  if (!scratch.ok()) return scratch.status();
  const absl::StatusOr<double> microseconds = MedianMicroseconds([&]() -> absl::Status {
    size_t scratch_bytes = bytes;
    GRIDFOLD_RETURN_IF_CUDA_ERROR(call(scratch->data(), scratch_bytes, stream()));
    return absl::OkStatus();
  });
  if (!microseconds.ok()) return microseconds.status();
  rows_.back().cub_microseconds = *microseconds;
  return absl::OkStatus();
}

absl::Status KernelBenchmark::MeasureRead(const std::string& name, uint64_t bytes) {
  return Measure(name, bytes, Ceiling::kRead, [&] {
    return Launch(GetBenchmarkKernels().read, FullGrid(properties_), stream(), input(), bytes / 16,
                  static_cast<uint32_t*>(output()));
  });
}

absl::Status KernelBenchmark::MeasureCeilings() {
  if (absl::Status status = FillInput(ElementType::kUint32); !status.ok()) return status;
  absl::Status status = MeasureRead("ceiling/read", array_bytes());
  if (!status.ok()) return status;
  status = Measure("ceiling/copy", 2 * array_bytes(), Ceiling::kCopy, [&]() -> absl::Status {
    GRIDFOLD_RETURN_IF_CUDA_ERROR(
        cudaMemcpyAsync(output(), input(), array_bytes(), cudaMemcpyDeviceToDevice, stream()));
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  for (const uint64_t parts : {2, 4, 8}) {
    const uint64_t bytes = array_bytes() / parts;
    status = MeasureRead(absl::StrCat("ceiling/read of ", bytes >> 20, " MiB"), bytes);
    if (!status.ok()) return status;
  }
  return MeasureRead("ceiling/read of nothing", 0);
}

double KernelBenchmark::RatioToCeiling(const BenchmarkRow& row) const {
  const BenchmarkRow& ceiling = rows_[row.ceiling == Ceiling::kRead ? 0 : 1];
  return row.gigabytes_per_second() / ceiling.gigabytes_per_second();
}

}  // namespace gridfold::kernels::cuda
