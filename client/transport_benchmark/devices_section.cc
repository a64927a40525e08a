// The same requests to a server with all devices and to one with one of them.
#include <algorithm>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/transport_benchmark/device_comparison.h"
#include "client/transport_benchmark/requests.h"
#include "client/transport_benchmark/sections.h"
#include "client/transport_benchmark/unary_load.h"
#include "gridfold/client.h"
#include "gridfold/shared_region.h"

namespace gridfold::transport_benchmark {

namespace {

using client::Client;

constexpr char kArray[] = "devices_benchmark";
constexpr uint64_t kTableColumns = 4096;
constexpr uint64_t kWideTableColumns = uint64_t{1} << 20;
constexpr uint64_t kTableRowsMin = 16;

// Consecutive floats that are repeated in an array.
std::vector<float> MakeBlock(uint64_t count_max) {
  std::vector<float> block(std::min<uint64_t>(count_max, uint64_t{1} << 24));
  std::mt19937 random(20261126);
  std::uniform_real_distribution<float> uniform(0, 1);
  for (float& value : block) value = uniform(random);
  return block;
}

absl::Status Put(Client& server, const std::vector<uint64_t>& shape, std::span<const float> block) {
  const absl::StatusOr<client::ArrayDescription> array =
      server.CreateArray({.name = kArray,
                          .element_type = client::ElementType::kFloat32,
                          .shape = shape,
                          .placement = client::ArrayPlacement::kSharded});
  if (!array.ok()) return array.status();
  const uint64_t count = array->size_bytes / sizeof(float);
  for (uint64_t first = 0; first < count; first += block.size()) {
    absl::Status status = server.WriteArray(
        kArray, first, block.first(std::min<uint64_t>(block.size(), count - first)));
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// What `device_count` devices are to gain.
struct Goals {
  explicit Goals(uint64_t device_count)
      : reduction(device_count == 2 ? 1.9 : 0.9 * static_cast<double>(device_count)),
        scan(device_count == 2 ? 1.25 : 0.6 * static_cast<double>(device_count)),
        // Of more, the links say how far.
        region(device_count == 2 ? 1.8 : 0) {}

  double reduction;
  double scan;
  double region;
};

auto Reduction(const client::ArrayInput& array, client::ReductionOptions options) {
  return [array, options = std::move(options)](Client& server) {
    return server.ReduceArray(array, options);
  };
}

auto Histogram(uint64_t bin_count) {
  return [bin_count](Client& server) {
    client::HistogramOptions options;
    options.bins = {client::EvenBins{.bin_count = bin_count, .lower_bound = 0, .upper_bound = 1}};
    return server.ComputeHistogram(client::ResidentArray{kArray}, options);
  };
}

int Calls(const Targets& targets) { return targets.quick ? 2 : 12; }

// One part of the comparison of resident arrays: an array that is there meanwhile.
class ResidentComparison {
 public:
  ResidentComparison(const Servers& servers, const Targets& targets,
                     const std::vector<uint64_t>& shape, std::span<const float> block,
                     Report& report)
      : servers_(servers), targets_(targets), report_(report) {
    for (const uint64_t extent : shape) size_bytes_ *= extent;
    const absl::Status status =
        servers.Both([&](Client& server) { return Put(server, shape, block); });
    if (status.ok()) return;
    report.Add({.what = absl::StrCat("resident array of ", size_bytes_ >> 20, " MiB"),
                .note = absl::StrCat("FAILED ", status.message())});
    is_there_ = false;
  }
  ResidentComparison(const ResidentComparison&) = delete;
  ResidentComparison& operator=(const ResidentComparison&) = delete;
  ~ResidentComparison() {
    (void)servers_.Both([](Client& server) { return server.DeleteArray(kArray); });
  }

  template <class Ask>
  void Row(const std::string& what, double goal, const Ask& ask) {
    if (!is_there_) return;
    Compare(servers_,
            {.what = absl::StrCat(what, ", ", size_bytes_ >> 20, " MiB resident"),
             .size_bytes = size_bytes_,
             .goal = goal,
             .calls = Calls(targets_)},
            ask, report_);
  }

 private:
  const Servers& servers_;
  const Targets& targets_;
  Report& report_;
  uint64_t size_bytes_ = sizeof(float);
  bool is_there_ = true;
};

uint64_t DevicesBytes(const Targets& targets) {
  return targets.quick ? uint64_t{16} << 20 : targets.devices_bytes;
}

void CompareVector(const Servers& servers, const Targets& targets, const Goals& goals,
                   std::span<const float> block, Report& report) {
  using client::Statistic;
  ResidentComparison array(servers, targets, {DevicesBytes(targets) / sizeof(float)}, block,
                           report);
  const client::ResidentArray input{kArray};
  array.Row("all statistics", goals.reduction,
            Reduction(input, {.statistics = {Statistic::kCount, Statistic::kSum, Statistic::kMin,
                                             Statistic::kMax, Statistic::kArgmin,
                                             Statistic::kArgmax, Statistic::kMean,
                                             Statistic::kVariance, Statistic::kNanCount}}));
  array.Row("histogram of 1,024 bins", goals.reduction, Histogram(1024));
  array.Row("histogram of 1,048,576 bins", goals.reduction, Histogram(uint64_t{1} << 20));
  array.Row("median", 0,
            [&](Client& server) { return server.ComputeQuantiles(input, {.quantiles = {0.5}}); });
  array.Row("inclusive scan, in place", goals.scan, [&](Client& server) {
    client::ScanOptions options;
    options.operation = client::ScanOperation::kMax;
    options.destination = client::InPlaceDestination{};
    return server.ScanArray(input, options);
  });
  array.Row("sum of what the scan has made", 0,
            Reduction(input, {.statistics = {Statistic::kSum}}));
}

void CompareColumns(const Servers& servers, const Targets& targets, const Goals& goals,
                    std::span<const float> block, Report& report) {
  const uint64_t count = DevicesBytes(targets) / sizeof(float);
  for (const uint64_t columns : {kTableColumns, kWideTableColumns}) {
    if (count / columns < kTableRowsMin) continue;
    ResidentComparison table(servers, targets, {count / columns, columns}, block, report);
    table.Row(absl::StrCat("sums of ", columns, " columns"), goals.reduction,
              Reduction(client::ResidentArray{kArray},
                        {.statistics = {client::Statistic::kSum}, .grouping = client::Axis{0}}));
  }
}

// Sizes around the one from which a request is dealt, and the largest; and that one by streams.
void CompareRegions(const Servers& servers, const Targets& targets, const Goals& goals,
                    std::span<const float> block, Report& report) {
  const uint64_t bytes_max = DevicesBytes(targets);
  std::unique_ptr<client::SharedRegion> regions[2];
  const auto region_of = [&](Client & server) -> auto& {
    return regions[&server == servers.all.get() ? 0 : 1];
  };
  const absl::Status status = servers.Both([&](Client& server) {
    auto region = client::SharedRegion::Create(server, {.size_bytes = bytes_max});
    if (!region.ok()) return region.status();
    std::span<float> rest = region->As<float>();
    while (!rest.empty()) {
      const std::span<const float> next = block.first(std::min(block.size(), rest.size()));
      std::copy(next.begin(), next.end(), rest.begin());
      rest = rest.subspan(next.size());
    }
    region_of(server) = std::make_unique<client::SharedRegion>(*std::move(region));
    return absl::OkStatus();
  });
  if (!status.ok()) {
    report.Add({.what = "region", .note = absl::StrCat("FAILED ", status.message())});
    return;
  }
  const client::ReductionOptions sum{.statistics = {client::Statistic::kSum}};
  for (uint64_t bytes = uint64_t{1} << 20; bytes <= bytes_max;
       bytes *= bytes < bytes_max / 4 ? 4 : 2) {
    Compare(
        servers,
        {.what = absl::StrCat("sum of a region of ", bytes >> 20, " MiB"),
         .size_bytes = bytes,
         .goal = bytes == bytes_max ? goals.region : 0,
         .calls = Calls(targets)},
        [&](Client& server) {
          return server.ReduceArray(region_of(server)->Slice<float>(bytes / sizeof(float)), sum);
        },
        report);
  }
  client::CallOptions streams;
  streams.transport = client::ArrayTransport::kStreams;
  Compare(
      servers,
      {.what = absl::StrCat("sum of one caller's ", bytes_max >> 20, " MiB by streams"),
       .size_bytes = bytes_max,
       .calls = 3},
      [&](Client& server) {
        return server.ReduceArray(region_of(server)->As<float>(), sum, streams);
      },
      report);
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
  const absl::StatusOr<client::ServerInfo> info = servers.all->GetServerInfo();
  const Goals goals(info.ok() ? info->devices.size() : 1);
  const std::vector<float> block = MakeBlock(DevicesBytes(targets) / sizeof(float));
  CompareVector(servers, targets, goals, block, report);
  CompareColumns(servers, targets, goals, block, report);
  CompareRegions(servers, targets, goals, block, report);
  CompareSmallCalls(targets, report);
}

}  // namespace gridfold::transport_benchmark
