// kernel_benchmark [--json FILE] [--mib N | --sizes] [--only NAME] [--strategy NAME] [--rows TEXT]:
// the kernels' rates on device 0, and their ratios to the device's read and copy ceilings and to
// CUB, which are measured in the same run. NAME is one of exact-sums, reductions, matrices, scans,
// column-scans, histograms, order, by-key and transfers; --strategy measures what the strategy can
// take, by it, such as reduce/groups/tiles or histogram/global, and `--strategy all` reductions by
// each one that can take them; --rows selects those whose names contain TEXT. --mib takes arrays of
// N MiB in place of 2,048; --sizes asks a few questions of arrays of every size instead, of which
// benchmark/size_report.py makes a table and a plot. Exits 1 where a benchmark fails and 2 where
// there is no device.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"
#include "kernels/cuda/benchmark/kernel_benchmark.h"
#include "kernels/cuda/lane/engine.h"
#include "nlohmann/json.hpp"

namespace gridfold::kernels::cuda {
namespace {

constexpr uint32_t kArrayMebibytes = 2048;

struct Options {
  std::string json_file;
  std::string only;  // Empty: all.
  BenchmarkSelection selection;
  uint32_t mebibytes = kArrayMebibytes;
  bool sizes = false;

  uint64_t array_bytes() const { return sizes ? kSizesArrayBytes : uint64_t{mebibytes} << 20; }
};

struct NamedBenchmark {
  const char* name;
  absl::Status (*run)(KernelBenchmark& benchmark);
};
constexpr NamedBenchmark kBenchmarks[] = {{"exact-sums", BenchmarkExactSums},
                                          {"reductions", BenchmarkReductions},
                                          {"matrices", BenchmarkMatrices},
                                          {"scans", BenchmarkScans},
                                          {"column-scans", BenchmarkColumnScans},
                                          {"histograms", BenchmarkHistograms},
                                          {"order", BenchmarkOrder},
                                          {"by-key", BenchmarkKeys},
                                          {"transfers", BenchmarkTransfers}};

bool IsBenchmark(const std::string& name) {
  return std::any_of(std::begin(kBenchmarks), std::end(kBenchmarks),
                     [&](const NamedBenchmark& benchmark) { return name == benchmark.name; });
}

bool ParseOptions(int argument_count, char** arguments, Options& options) {
  for (int i = 1; i < argument_count; ++i) {
    const absl::string_view argument = arguments[i];
    if (argument == "--sizes") {
      options.sizes = true;
    } else if (argument == "--mib" && i + 1 < argument_count) {
      if (!absl::SimpleAtoi(arguments[++i], &options.mebibytes)) return false;
      if (options.mebibytes == 0 || options.mebibytes > kArrayMebibytes) return false;
    } else if (argument == "--json" && i + 1 < argument_count) {
      options.json_file = arguments[++i];
    } else if (argument == "--only" && i + 1 < argument_count) {
      options.only = arguments[++i];
      if (!IsBenchmark(options.only)) return false;
    } else if (argument == "--strategy" && i + 1 < argument_count) {
      options.selection.strategy = arguments[++i];
    } else if (argument == "--rows" && i + 1 < argument_count) {
      options.selection.rows = arguments[++i];
    } else {
      return false;
    }
  }
  return true;
}

absl::StatusOr<KernelBenchmark> RunAll(const Options& options) {
  absl::StatusOr<KernelBenchmark> benchmark =
      KernelBenchmark::Create(options.array_bytes(), options.selection);
  if (!benchmark.ok()) return benchmark.status();
  if (options.sizes) {
    if (absl::Status status = BenchmarkSizes(*benchmark); !status.ok()) return status;
    return benchmark;
  }
  for (const NamedBenchmark& named : kBenchmarks) {
    if (!options.only.empty() && options.only != named.name) continue;
    if (absl::Status status = named.run(*benchmark); !status.ok()) return status;
  }
  return benchmark;
}

void PrintTable(const KernelBenchmark& benchmark) {
  std::printf("%-56s %10s %12s %9s %7s %9s %8s\n", "benchmark", "MiB", "median us", "GB/s", "ratio",
              "cub us", "cub/ours");
  for (const BenchmarkRow& row : benchmark.rows()) {
    std::printf("%-56s %10.1f %12.2f %9.1f %7.3f", row.name.c_str(),
                static_cast<double>(row.bytes) / (1 << 20), row.microseconds,
                row.gigabytes_per_second(), benchmark.RatioToCeiling(row));
    if (row.cub_microseconds.has_value()) {
      std::printf(" %9.1f %8.2f", *row.cub_microseconds, *row.cub_microseconds / row.microseconds);
    }
    std::printf("\n");
  }
}

bool WriteJson(const KernelBenchmark& benchmark, const std::string& file) {
  nlohmann::json report = nlohmann::json::array();
  for (const BenchmarkRow& row : benchmark.rows()) {
    nlohmann::json entry = {{"name", row.name},
                            {"array_bytes", row.array_bytes},
                            {"bytes", row.bytes},
                            {"median_microseconds", row.microseconds},
                            {"gigabytes_per_second", row.gigabytes_per_second()},
                            {"ratio_to_ceiling", benchmark.RatioToCeiling(row)}};
    if (row.cub_microseconds.has_value()) entry["cub_microseconds"] = *row.cub_microseconds;
    report.push_back(std::move(entry));
  }
  std::ofstream out(file);
  out << report.dump(2) << "\n";
  return out.good();
}

int Main(int argument_count, char** arguments) {
  Options options;
  if (!ParseOptions(argument_count, arguments, options)) {
    std::fprintf(stderr,
                 "usage: kernel_benchmark [--json FILE] [--mib N | --sizes] [--only NAME] "
                 "[--strategy NAME] [--rows TEXT]\n");
    return 1;
  }
  if (CudaDeviceCount() == 0) {
    std::fprintf(stderr, "kernel_benchmark: there is no CUDA device\n");
    return 2;
  }
  const absl::StatusOr<KernelBenchmark> benchmark = RunAll(options);
  if (!benchmark.ok()) {
    std::fprintf(stderr, "kernel_benchmark: %s\n", benchmark.status().ToString().c_str());
    return 1;
  }
  PrintTable(*benchmark);
  if (!options.json_file.empty() && !WriteJson(*benchmark, options.json_file)) {
    std::fprintf(stderr, "kernel_benchmark: cannot write %s\n", options.json_file.c_str());
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace gridfold::kernels::cuda

int main(int argument_count, char** arguments) {
  return gridfold::kernels::cuda::Main(argument_count, arguments);
}
