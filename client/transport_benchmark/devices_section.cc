// The same requests to a server with all devices and to one with one of them.
#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/transport_benchmark/median.h"
#include "client/transport_benchmark/requests.h"
#include "client/transport_benchmark/sections.h"
#include "client/transport_benchmark/unary_load.h"
#include "gridfold/client.h"
#include "gridfold/shared_region.h"

namespace gridfold::transport_benchmark {

namespace {

using client::Client;

constexpr char kArray[] = "devices_benchmark";
constexpr char kTable[] = "devices_benchmark_table";
constexpr uint64_t kTableColumns = 4096;
constexpr double kGiga = 1e9;

// Fills an array with the same elements again and again.
absl::Status Put(Client& server, const std::string& name, const std::vector<uint64_t>& shape,
                 uint64_t count) {
  const absl::StatusOr<client::ArrayDescription> array =
      server.CreateArray({.name = name,
                          .element_type = client::ElementType::kFloat32,
                          .shape = shape,
                          .placement = client::ArrayPlacement::kSharded});
  if (!array.ok()) return array.status();
  std::vector<float> block(std::min<uint64_t>(count, uint64_t{1} << 24));
  std::mt19937 random(20261126);
  std::uniform_real_distribution<float> uniform(0, 1);
  for (float& value : block) value = uniform(random);
  for (uint64_t first = 0; first < count; first += block.size()) {
    const std::span<const float> elements(block.data(),
                                          std::min<uint64_t>(block.size(), count - first));
    absl::Status status = server.WriteArray(name, first, elements);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// A question, answered often: the median of what it takes, in seconds.
using Question = std::function<absl::Status(Client&)>;

absl::StatusOr<double> Seconds(Client& server, const Question& ask, bool quick) {
  std::vector<double> seconds;
  for (int i = 0; i < (quick ? 2 : 12); ++i) {
    const auto begin = std::chrono::steady_clock::now();
    absl::Status status = ask(server);
    if (!status.ok()) return status;
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
    // The first ones take memory and wake threads.
    if (quick || i >= 2) seconds.push_back(elapsed.count());
  }
  return Median(std::move(seconds));
}

struct Servers {
  std::unique_ptr<Client> all;
  std::unique_ptr<Client> one;
};

void Compare(const Servers& servers, const std::string& what, uint64_t size_bytes, double goal,
             const Question& ask, const Targets& targets, Report& report) {
  const absl::StatusOr<double> all = Seconds(*servers.all, ask, targets.quick);
  const absl::StatusOr<double> one = Seconds(*servers.one, ask, targets.quick);
  const auto rate = [&](const absl::StatusOr<double>& seconds) {
    return seconds.ok() ? static_cast<double>(size_bytes) / *seconds / kGiga : 0;
  };
  const absl::Status& failure = all.ok() ? one.status() : all.status();
  report.Add({.what = what,
              .value = rate(all),
              .unit = "GB/s",
              .ceiling = rate(one),
              .goal_at_least = goal,
              .note = failure.ok() ? "" : absl::StrCat("FAILED ", failure.message())});
}

absl::Status Sum(Client& server, const client::ArrayInput& array,
                 const client::ReductionOptions& options = {
                     .statistics = {client::Statistic::kSum}}) {
  return server.ReduceArray(array, options).status();
}

absl::Status Histogram(Client& server, uint64_t bin_count) {
  client::HistogramOptions options;
  options.bins = {client::EvenBins{.bin_count = bin_count, .lower_bound = 0, .upper_bound = 1}};
  return server.ComputeHistogram(client::ResidentArray{kArray}, options).status();
}

void CompareResident(const Servers& servers, const Targets& targets, Report& report) {
  const uint64_t count = uint64_t{1} << (targets.quick ? 20 : 31);
  const uint64_t size_bytes = count * sizeof(float);
  const uint64_t rows = count / kTableColumns;
  absl::Status status;
  for (Client* const server : {servers.all.get(), servers.one.get()}) {
    if (status.ok()) status = Put(*server, kArray, {count}, count);
    if (status.ok()) status = Put(*server, kTable, {rows, kTableColumns}, count);
  }
  if (!status.ok()) {
    report.Add({.what = "resident arrays", .note = absl::StrCat("FAILED ", status.message())});
    return;
  }
  const auto compare = [&](const std::string& what, double goal, const Question& ask) {
    Compare(servers, absl::StrCat(what, ", ", size_bytes >> 20, " MiB resident"), size_bytes, goal,
            ask, targets, report);
  };
  compare("all statistics", 1.9, [](Client& server) {
    return Sum(
        server, client::ResidentArray{kArray},
        {.statistics = {client::Statistic::kCount, client::Statistic::kSum, client::Statistic::kMin,
                        client::Statistic::kMax, client::Statistic::kArgmin,
                        client::Statistic::kArgmax, client::Statistic::kMean,
                        client::Statistic::kVariance, client::Statistic::kNanCount}});
  });
  compare("histogram of 1,024 bins", 1.9, [](Client& server) { return Histogram(server, 1024); });
  compare("histogram of 1,048,576 bins", 1.9,
          [](Client& server) { return Histogram(server, uint64_t{1} << 20); });
  compare(absl::StrCat("sums of ", kTableColumns, " columns"), 1.9, [](Client& server) {
    return Sum(server, client::ResidentArray{kTable},
               {.statistics = {client::Statistic::kSum}, .grouping = client::Axis{0}});
  });
  compare("inclusive scan, in place", 1.25, [](Client& server) {
    client::ScanOptions options;
    options.operation = client::ScanOperation::kMax;
    options.destination = client::InPlaceDestination{};
    return server.ScanArray(client::ResidentArray{kArray}, options).status();
  });
  for (Client* const server : {servers.all.get(), servers.one.get()}) {
    (void)server->DeleteArray(kArray);
    (void)server->DeleteArray(kTable);
  }
}

// Sizes around the one from which a request is dealt, and the largest.
void CompareRegions(const Servers& servers, const Targets& targets, Report& report) {
  const uint64_t bytes_max = uint64_t{1} << (targets.quick ? 24 : 32);
  std::unique_ptr<client::SharedRegion> regions[2];
  for (int i = 0; i < 2; ++i) {
    Client& server = i == 0 ? *servers.all : *servers.one;
    auto region = client::SharedRegion::Create(server, {.size_bytes = bytes_max});
    if (!region.ok()) {
      report.Add({.what = "region", .note = absl::StrCat("FAILED ", region.status().message())});
      return;
    }
    regions[i] = std::make_unique<client::SharedRegion>(*std::move(region));
    const std::span<float> samples = regions[i]->As<float>();
    for (size_t k = 0; k < samples.size(); ++k) samples[k] = 1.0f / static_cast<float>(k % 997 + 1);
  }
  for (uint64_t bytes = uint64_t{1} << 20; bytes <= bytes_max;
       bytes *= bytes < bytes_max / 4 ? 4 : 2) {
    Compare(
        servers, absl::StrCat("sum of a region of ", bytes >> 20, " MiB"), bytes,
        bytes == uint64_t{1} << 32 ? 1.8 : 0,
        [&](Client& server) {
          const client::SharedRegion& region =
              &server == servers.all.get() ? *regions[0] : *regions[1];
          return Sum(server, region.Slice<float>(bytes / sizeof(float)));
        },
        targets, report);
  }
}

void CompareSmallCalls(const Targets& targets, Report& report) {
  UnaryLoad load{
      .method = kReduceArray, .request = InlineSum(4096).SerializeAsString(), .connections = 64};
  if (targets.quick) load.duration = load.warm_up = std::chrono::milliseconds(50);
  load.target = targets.gridfold;
  const UnaryFigures all = RunUnaryLoad(load);
  load.target = targets.one_device;
  const UnaryFigures one = RunUnaryLoad(load);
  report.Add({.what = "4 KiB sums, 64 connections",
              .value = all.calls_per_second,
              .unit = "calls/s",
              .ceiling = one.calls_per_second,
              .goal_at_least = 1,
              .note = all.first_error});
}

}  // namespace

void MeasureDevices(const Targets& targets, Report& report) {
  Servers servers;
  for (const bool is_one : {false, true}) {
    auto connected = Client::Connect({.target = is_one ? targets.one_device : targets.gridfold});
    if (!connected.ok()) {
      report.Add(
          {.what = "devices", .note = absl::StrCat("FAILED ", connected.status().message())});
      return;
    }
    (is_one ? servers.one : servers.all) = *std::move(connected);
  }
  CompareResident(servers, targets, report);
  CompareRegions(servers, targets, report);
  CompareSmallCalls(targets, report);
}

}  // namespace gridfold::transport_benchmark
