// Sums, scans and histograms an array on a gridfold server.
//
//   gridfold_example [host:port]
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "gridfold/client.h"

namespace client = gridfold::client;

namespace {

// The answer, or the end of the program.
template <typename T>
T OrExit(absl::StatusOr<T> result) {
  if (result.ok()) return *std::move(result);
  std::cerr << result.status() << "\n";
  std::exit(1);
}

void PrintSum(client::Client& server, const std::vector<float>& samples) {
  const client::ReductionResult result = OrExit(server.ReduceArray(
      samples, {.statistics = {client::Statistic::kSum, client::Statistic::kMax}}));
  const auto& sum = std::get<std::vector<double>>(*result.Find(client::Statistic::kSum));
  const auto& max = std::get<std::vector<double>>(*result.Find(client::Statistic::kMax));
  std::cout << "sum " << sum[0] << ", maximum " << max[0] << " (" << result.execution.engine << ", "
            << result.execution.strategy << ")\n";
}

void PrintScan(client::Client& server, const std::vector<float>& samples) {
  const client::ScanResult result =
      OrExit(server.ScanArray(samples, {.operation = client::ScanOperation::kSum}));
  const std::span<const float> running = OrExit(result.Values<float>());
  std::cout << "running sum, last element " << running.back() << "\n";
}

void PrintHistogram(client::Client& server, const std::vector<float>& samples) {
  const client::HistogramResult result =
      OrExit(server.ComputeHistogram(samples, {.bins = {client::EvenBins{4, 0.0, 100.0}}}));
  for (size_t i = 0; i < result.bins[0].bin_count; ++i) {
    std::cout << "[" << result.bins[0].edges[i] << ", " << result.bins[0].edges[i + 1]
              << "): " << result.channels[0].counts[i] << "\n";
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string target = argc > 1 ? argv[1] : "localhost:50051";
  const std::unique_ptr<client::Client> server =
      OrExit(client::Client::Connect({.target = target, .channel_count = 2}));

  std::vector<float> samples(1000);
  for (size_t i = 0; i < samples.size(); ++i) samples[i] = static_cast<float>(i) / 10;
  PrintSum(*server, samples);
  PrintScan(*server, samples);
  PrintHistogram(*server, samples);
}
