#include "kernels/cuda/histogram/histogram.h"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kernels/cuda/benchmark/histogram_device.h"
#include "kernels/cuda/benchmark/kernel_benchmark.h"
#include "kernels/cuda/device/launch.h"
#include "kernels/cuda/device/status.h"

namespace gridfold::kernels::cuda {

namespace {

constexpr uint64_t kBinCountMax = uint64_t{1} << 23;
// CUB 3.0.1 finds the private counters of its blocks by 32-bit offsets, which overflow beyond.
constexpr uint64_t kCubBinCountMax = uint64_t{1} << 20;

struct NamedDistribution {
  Distribution distribution;
  const char* name;
};
constexpr NamedDistribution kDistributions[] = {{Distribution::kUniform, "uniform"},
                                                {Distribution::kConstant, "constant"},
                                                {Distribution::kSkewed, "u^6"},
                                                {Distribution::kSorted, "sorted"}};

HistogramSpec SpecOf(BinSpec bins) {
  HistogramSpec spec;
  spec.bins.push_back(std::move(bins));
  return spec;
}

constexpr uint64_t kSampleCountMax = uint64_t{1} << 28;

// Samples of so many bytes each.
uint64_t SampleCount(const KernelBenchmark& benchmark, uint64_t sample_bytes,
                     uint64_t sample_count_max = kSampleCountMax) {
  return std::min(sample_count_max, benchmark.array_bytes() / sample_bytes);
}

// A device copy of a table of edges as CUB takes them, at the end of the output.
absl::StatusOr<const float*> CopyOfEdges(const KernelBenchmark& benchmark,
                                         const std::vector<double>& edges) {
  const std::vector<float> rounded(edges.begin(), edges.end());
  const uint64_t bytes = rounded.size() * sizeof(float);
  float* const copy = reinterpret_cast<float*>(static_cast<std::byte*>(benchmark.output()) +
                                               benchmark.array_bytes() - bytes);
  GRIDFOLD_RETURN_IF_CUDA_ERROR(cudaMemcpy(copy, rounded.data(), bytes, cudaMemcpyHostToDevice));
  return copy;
}

// CUB's histogram of the same bins, where it has one.
absl::StatusOr<CubCall> CubCallFor(const KernelBenchmark& benchmark, const ArrayDescription& array,
                                   const HistogramSpec& spec) {
  if (spec.two_dimensional || spec.weight_type.has_value()) return CubCall();
  uint32_t* const counts = static_cast<uint32_t*>(benchmark.output());
  const BinSpec& bins = spec.bins.front();
  if (const auto* edges = std::get_if<EdgeBinsSpec>(&bins)) {
    const absl::StatusOr<const float*> copy = CopyOfEdges(benchmark, edges->edges);
    if (!copy.ok()) return copy.status();
    return CubEdgesHistogram(static_cast<const float*>(benchmark.input()), array.element_count,
                             *copy, static_cast<uint32_t>(edges->edges.size() - 1), counts);
  }
  const auto even_bins = [&](uint64_t bin_count, double lower, double upper) {
    if (bin_count > kCubBinCountMax) return CubCall();
    return CubEvenHistogram(array.element_type, benchmark.input(), array.element_count,
                            static_cast<uint32_t>(bin_count), lower, upper, spec.channel_count,
                            counts);
  };
  if (const auto* even = std::get_if<EvenBinsSpec>(&bins); even != nullptr && even->lower_bound) {
    return even_bins(even->bin_count, *even->lower_bound, *even->upper_bound);
  }
  if (const auto* integer = std::get_if<IntegerBinsSpec>(&bins)) {
    const double first = static_cast<double>(integer->first_value);
    return even_bins(integer->bin_count, first, first + static_cast<double>(integer->bin_count));
  }
  return CubCall();
}

// Adds a row, unless the strategy that is forced cannot have it. Weights and second samples are a
// copy of the input: what is read twice from one place comes from a cache.
absl::Status Measure(KernelBenchmark& benchmark, const ArrayDescription& array,
                     const HistogramSpec& spec, const std::string& remark) {
  auto plan = PlanHistogram(array, spec, kBinCountMax);
  if (!plan.ok()) return plan.status();
  plan->strategy = benchmark.selection().strategy;
  const DeviceSpan elements{benchmark.input(), array.element_count};
  const DeviceSpan others{benchmark.output(), array.element_count};
  if (spec.two_dimensional || spec.weight_type.has_value()) {
    GRIDFOLD_RETURN_IF_CUDA_ERROR(cudaMemcpyAsync(benchmark.output(), benchmark.input(),
                                                  benchmark.array_bytes(), cudaMemcpyDeviceToDevice,
                                                  benchmark.stream()));
  }
  const auto launch = [&] {
    Scratch scratch = benchmark.NewScratch();
    return LaunchHistogram(*plan, {elements, others, others}, scratch, benchmark.properties(),
                           benchmark.stream());
  };
  const auto first = launch();
  if (IsStrategyRefused(first.status())) return absl::OkStatus();
  if (!first.ok()) return first.status();
  const std::string parts =
      first->strategy.part_count > 1 ? absl::StrCat(" (", first->strategy.part_count, ")") : "";
  const std::string name =
      absl::StrCat(HistogramMethodName(first->strategy.method), parts, " ",
                   ElementTypeName(array.element_type), " ", plan->total_bin_count(), " ", remark);
  const absl::Status status = benchmark.Measure(name, HistogramBytesRead(*plan), Ceiling::kRead,
                                                [&] { return launch().status(); });
  if (!status.ok()) return status;
  const absl::StatusOr<CubCall> cub = CubCallFor(benchmark, array, spec);
  return cub.ok() ? benchmark.CompareWithCub(*cub) : cub.status();
}

// `type` is float32 or int32.
absl::Status FillDistribution(KernelBenchmark& benchmark, Distribution distribution,
                              ElementType type = ElementType::kFloat32) {
  if (absl::Status status = benchmark.FillInput(ElementType::kFloat32); !status.ok()) return status;
  LaunchShape shape;
  shape.grid = dim3(static_cast<unsigned>(benchmark.properties().multiprocessor_count) * 8);
  shape.block = dim3(256);
  return Launch(FindDistributeKernel(), shape, benchmark.stream(),
                static_cast<float*>(benchmark.input()), SampleCount(benchmark, sizeof(float)),
                distribution, type == ElementType::kInt32);
}

// Even bins, from two to millions.
absl::Status BenchmarkEvenBins(KernelBenchmark& benchmark) {
  for (const ElementType type : {ElementType::kFloat32, ElementType::kInt32}) {
    const double upper = type == ElementType::kInt32 ? kIntegerRange : 1;
    const auto array = ArrayDescription::Vector(type, SampleCount(benchmark, ElementSize(type)));
    for (const NamedDistribution& d : kDistributions) {
      absl::Status status = FillDistribution(benchmark, d.distribution, type);
      if (!status.ok()) return status;
      for (const uint64_t bins : {2, 16, 256, 1024, 16'384, 57'344, 65'536, 98'304, 131'072,
                                  262'144, 524'288, 1'048'576, 4'194'304}) {
        status = Measure(benchmark, array, SpecOf(EvenBinsSpec{bins, 0, upper}),
                         absl::StrCat("even ", d.name));
        if (!status.ok()) return status;
      }
    }
  }
  return absl::OkStatus();
}

// Samples that no guess is sure of, but of which there are many.
absl::Status BenchmarkFrequentValues(KernelBenchmark& benchmark) {
  constexpr NamedDistribution kSome[] = {{Distribution::kSomeNan, "5% NaN"},
                                         {Distribution::kSomeOne, "5% on the upper bound"}};
  const auto array =
      ArrayDescription::Vector(ElementType::kFloat32, SampleCount(benchmark, sizeof(float)));
  for (const NamedDistribution& d : kSome) {
    absl::Status status = FillDistribution(benchmark, d.distribution);
    if (!status.ok()) return status;
    for (const uint64_t bins : {1024, 65'536}) {
      status = Measure(benchmark, array, SpecOf(EvenBinsSpec{bins, 0, 1}),
                       absl::StrCat("even ", d.name));
      if (!status.ok()) return status;
    }
  }
  return absl::OkStatus();
}

// 1,024 bins that become wider.
EdgeBinsSpec SquareEdges() {
  EdgeBinsSpec spec;
  for (int i = 0; i <= 1024; ++i) spec.edges.push_back(i / 1024.0 * (i / 1024.0));
  return spec;
}

absl::Status BenchmarkLayouts(KernelBenchmark& benchmark) {
  HistogramSpec channels = SpecOf(EvenBinsSpec{256, 0, 1});
  channels.channel_count = 4;
  HistogramSpec two_dimensional = SpecOf(EvenBinsSpec{256, 0, 1});
  two_dimensional.two_dimensional = true;
  HistogramSpec large_two_dimensional = SpecOf(EvenBinsSpec{1000, 0, 1});
  large_two_dimensional.two_dimensional = true;
  const std::pair<HistogramSpec, const char*> rows[] = {
      {SpecOf(SquareEdges()), "edges"},
      {SpecOf(LogarithmicBinsSpec{1024, 1e-6, 1}), "logarithmic"},
      {SpecOf(LogarithmicBinsSpec{50'000, 1e-6, 1}), "logarithmic"},
      {SpecOf(EvenBinsSpec{1024, {}, {}}), "automatic range"},
      {std::move(channels), "4 channels"},
      {std::move(two_dimensional), "two-dimensional"},
      {std::move(large_two_dimensional), "two-dimensional"}};
  const auto array =
      ArrayDescription::Vector(ElementType::kFloat32, SampleCount(benchmark, sizeof(float)));
  for (const NamedDistribution& d : kDistributions) {
    if (absl::Status status = FillDistribution(benchmark, d.distribution); !status.ok()) {
      return status;
    }
    for (const auto& [spec, remark] : rows) {
      absl::Status status = Measure(benchmark, array, spec, absl::StrCat(remark, " ", d.name));
      if (!status.ok()) return status;
    }
  }
  return absl::OkStatus();
}

// Sums of weights, from several private copies of them to several passes.
absl::Status BenchmarkWeights(KernelBenchmark& benchmark) {
  for (const NamedDistribution& d : kDistributions) {
    if (absl::Status status = FillDistribution(benchmark, d.distribution); !status.ok()) {
      return status;
    }
    for (const ElementType type :
         {ElementType::kUint8, ElementType::kFloat32, ElementType::kFloat64}) {
      const uint64_t element_bytes = std::max(sizeof(float), ElementSize(type));
      const auto array =
          ArrayDescription::Vector(ElementType::kFloat32, SampleCount(benchmark, element_bytes));
      for (const uint64_t bins : {16, 1024, 4096, 16'384, 57'344, 1'048'576}) {
        HistogramSpec spec = SpecOf(EvenBinsSpec{bins, 0, 1});
        spec.weight_type = type;
        const std::string remark = absl::StrCat("weighted ", ElementTypeName(type), " ", d.name);
        absl::Status status = Measure(benchmark, array, spec, remark);
        if (!status.ok()) return status;
      }
    }
  }
  return absl::OkStatus();
}

absl::Status BenchmarkIntegers(KernelBenchmark& benchmark) {
  struct Row {
    ElementType type;
    BinSpec bins;
    uint32_t channel_count;
    const char* remark;
    uint64_t sample_count_max = kSampleCountMax;
  };
  // 2^28 bytes are read in so little time that what comes before and after counts.
  constexpr uint64_t kManySamples = uint64_t{1} << 30;
  const Row rows[] = {
      {ElementType::kUint8, IntegerBinsSpec{0, 256}, 1, "integer"},
      {ElementType::kUint8, IntegerBinsSpec{0, 256}, 1, "integer of 1024Mi", kManySamples},
      {ElementType::kUint8, EvenBinsSpec{100, 0, 250}, 1, "even"},
      {ElementType::kUint8, IntegerBinsSpec{0, 256}, 4, "integer, 4 channels"},
      {ElementType::kUint8, IntegerBinsSpec{0, 256}, 4, "integer, 4 channels of 1024Mi",
       kManySamples},
      {ElementType::kInt8, IntegerBinsSpec{-128, 256}, 1, "integer"},
      {ElementType::kUint16, IntegerBinsSpec{0, 65'536}, 1, "integer"},
      {ElementType::kInt32, IntegerBinsSpec{-30'000, 60'000}, 1, "integer, outside"},
      {ElementType::kInt16, IntegerBinsSpec{-30'000, 60'000}, 1, "integer"}};
  if (absl::Status status = benchmark.FillInput(ElementType::kUint8); !status.ok()) return status;
  for (const Row& row : rows) {
    const auto array = ArrayDescription::Vector(
        row.type, SampleCount(benchmark, ElementSize(row.type), row.sample_count_max));
    HistogramSpec spec = SpecOf(row.bins);
    spec.channel_count = row.channel_count;
    if (absl::Status status = Measure(benchmark, array, spec, row.remark); !status.ok()) {
      return status;
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status BenchmarkHistograms(KernelBenchmark& benchmark) {
  for (const auto& run : {BenchmarkEvenBins, BenchmarkFrequentValues, BenchmarkLayouts,
                          BenchmarkIntegers, BenchmarkWeights}) {
    if (absl::Status status = run(benchmark); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status BenchmarkHistogramsOfSize(KernelBenchmark& benchmark) {
  absl::Status status = FillDistribution(benchmark, Distribution::kUniform);
  const auto array =
      ArrayDescription::Vector(ElementType::kFloat32, SampleCount(benchmark, sizeof(float)));
  for (const uint64_t bins : {256, 1024, 16'384}) {
    if (!status.ok()) return status;
    status = Measure(benchmark, array, SpecOf(EvenBinsSpec{bins, 0, 1}), "even");
  }
  if (!status.ok()) return status;
  return Measure(benchmark, array, SpecOf(EvenBinsSpec{1024, {}, {}}), "range found");
}

}  // namespace gridfold::kernels::cuda
