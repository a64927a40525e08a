#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/cuda/cuda_status.h"
#include "kernels/cuda/histogram.h"
#include "kernels/cuda/histogram_benchmark_device.h"
#include "kernels/cuda/kernel_benchmark.h"
#include "kernels/cuda/launch.h"

namespace gridfold::kernels::cuda {

namespace {

constexpr uint64_t kBinCountMax = uint64_t{1} << 23;

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

// Adds a row, unless `overrides` ask for what cannot be had. Weights and second samples are read
// from the input as well.
absl::Status Measure(KernelBenchmark& benchmark, const ArrayDescription& array,
                     const HistogramSpec& spec, const std::string& remark,
                     const HistogramOverrides& overrides = {}) {
  const auto plan = PlanHistogram(array, spec, kBinCountMax);
  if (!plan.ok()) return plan.status();
  const DeviceSpan elements{benchmark.input(), array.element_count};
  const auto launch = [&] {
    Scratch scratch = benchmark.NewScratch();
    return LaunchHistogram(*plan, {elements, elements, elements}, scratch, benchmark.properties(),
                           benchmark.stream(), overrides);
  };
  const auto first = launch();
  if (first.status().code() == absl::StatusCode::kFailedPrecondition) return absl::OkStatus();
  if (!first.ok()) return first.status();
  const std::string cluster =
      first->strategy.cluster_size > 1 ? absl::StrCat(" (", first->strategy.cluster_size, ")") : "";
  const std::string name =
      absl::StrCat(HistogramMethodName(first->strategy.method), cluster, " ",
                   ElementTypeName(array.element_type), " ", plan->total_bin_count(), " ", remark);
  return benchmark.Measure(name, HistogramBytesRead(*plan), Ceiling::kRead,
                           [&] { return launch().status(); });
}

absl::Status FillDistribution(KernelBenchmark& benchmark, Distribution distribution) {
  if (absl::Status status = benchmark.FillInput(ElementType::kFloat32); !status.ok()) return status;
  LaunchShape shape;
  shape.grid = dim3(static_cast<unsigned>(benchmark.properties().multiprocessor_count) * 8);
  shape.block = dim3(256);
  return Launch(FindDistributeKernel(), shape, benchmark.stream(),
                static_cast<float*>(benchmark.input()), benchmark.array_bytes() / sizeof(float),
                distribution);
}

// Every strategy that can hold the bins, on every distribution.
absl::Status BenchmarkStrategies(KernelBenchmark& benchmark) {
  const auto array =
      ArrayDescription::Vector(ElementType::kFloat32, benchmark.array_bytes() / sizeof(float));
  for (const NamedDistribution& d : kDistributions) {
    if (absl::Status status = FillDistribution(benchmark, d.distribution); !status.ok()) {
      return status;
    }
    for (const uint64_t bins :
         {16, 256, 1024, 16'384, 57'344, 65'536, 131'072, 262'144, 1'048'576, 4'194'304}) {
      for (const HistogramMethod method :
           {HistogramMethod::kShared, HistogramMethod::kCluster, HistogramMethod::kGlobal}) {
        HistogramOverrides overrides;
        overrides.method = method;
        absl::Status status = Measure(benchmark, array, SpecOf(EvenBinsSpec{bins, 0, 1}),
                                      absl::StrCat("even ", d.name), overrides);
        if (!status.ok()) return status;
      }
    }
  }
  return absl::OkStatus();
}

absl::Status BenchmarkLayouts(KernelBenchmark& benchmark) {
  if (absl::Status status = FillDistribution(benchmark, Distribution::kUniform); !status.ok()) {
    return status;
  }
  const auto array =
      ArrayDescription::Vector(ElementType::kFloat32, benchmark.array_bytes() / sizeof(float));
  HistogramSpec channels = SpecOf(EvenBinsSpec{256, 0, 1});
  channels.channel_count = 4;
  HistogramSpec two_dimensional = SpecOf(EvenBinsSpec{200, 0, 1});
  two_dimensional.two_dimensional = true;
  const std::pair<HistogramSpec, const char*> rows[] = {
      {SpecOf(LogarithmicBinsSpec{1024, 1e-6, 1}), "logarithmic"},
      {SpecOf(LogarithmicBinsSpec{50'000, 1e-6, 1}), "logarithmic"},
      {SpecOf(EvenBinsSpec{1024, {}, {}}), "automatic range"},
      {std::move(channels), "4 channels"},
      {std::move(two_dimensional), "two-dimensional"}};
  for (const auto& [spec, remark] : rows) {
    if (absl::Status status = Measure(benchmark, array, spec, remark); !status.ok()) return status;
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
          ArrayDescription::Vector(ElementType::kFloat32, benchmark.array_bytes() / element_bytes);
      for (const uint64_t bins : {16, 1024, 57'344, 1'048'576}) {
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
  constexpr std::pair<ElementType, IntegerBinsSpec> kRows[] = {
      {ElementType::kUint8, {0, 256}},
      {ElementType::kInt8, {-128, 256}},
      {ElementType::kUint16, {0, 65'536}},
      {ElementType::kInt32, {-30'000, 60'000}}};
  if (absl::Status status = benchmark.FillInput(ElementType::kUint8); !status.ok()) return status;
  for (const auto& [type, bins] : kRows) {
    const auto array = ArrayDescription::Vector(type, benchmark.array_bytes() / ElementSize(type));
    if (absl::Status status = Measure(benchmark, array, SpecOf(bins), "integer"); !status.ok()) {
      return status;
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status BenchmarkHistograms(KernelBenchmark& benchmark) {
  for (const auto& run :
       {BenchmarkStrategies, BenchmarkLayouts, BenchmarkWeights, BenchmarkIntegers}) {
    if (absl::Status status = run(benchmark); !status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace gridfold::kernels::cuda
