#include <algorithm>
#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>
#include <span>
#include <thread>

#include "absl/strings/str_cat.h"
#include "client/transport_benchmark/sections.h"
#include "gridfold/client.h"
#include "gridfold/shared_region.h"

namespace gridfold::transport_benchmark {

namespace {

constexpr uint64_t kRegionBytes = uint64_t{1} << 30;
constexpr double kGiga = 1e9;

// GB/s of copies from pinned memory to the device, by kernel_benchmark; 0 where it cannot run.
double PinnedCopyRate(const Targets& targets) {
  const std::string file = targets.folder + "/transfers.json";
  {
    const auto child = ChildProcess::Start(
        {targets.kernel_benchmark, "--only", "transfers", "--json", file}, file + ".log");
    if (!child.ok()) return 0;
    while (child->IsRunning()) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  const auto rows = nlohmann::json::parse(std::ifstream(file), nullptr, false);
  if (!rows.is_array()) return 0;
  for (const auto& row : rows) {
    if (row.value("name", "") == "pinned to device") return row.value("gigabytes_per_second", 0.0);
  }
  return 0;
}

// The best of some reductions of the whole region, seen from here.
absl::StatusOr<double> ReductionRate(const Targets& targets, uint64_t size_bytes) {
  auto client = client::Client::Connect({.target = targets.gridfold});
  if (!client.ok()) return client.status();
  auto region = client::SharedRegion::Create(**client, {.size_bytes = size_bytes});
  if (!region.ok()) return region.status();
  const std::span<float> samples = region->As<float>();
  for (size_t i = 0; i < samples.size(); ++i) samples[i] = 1.0f / static_cast<float>(i % 1000 + 1);
  double best_seconds = 1e9;
  for (int i = 0; i < 7; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    const auto result = (*client)->ReduceArray(region->Slice<float>(samples.size()),
                                               {.statistics = {client::Statistic::kSum}});
    if (!result.ok()) return result.status();
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
    best_seconds = std::min(best_seconds, elapsed.count());
  }
  return static_cast<double>(size_bytes) / best_seconds / kGiga;
}

}  // namespace

void MeasureRegions(const Targets& targets, Report& report) {
  const uint64_t size_bytes = targets.quick ? kRegionBytes / 64 : kRegionBytes;
  const double ceiling = PinnedCopyRate(targets);
  const absl::StatusOr<double> rate = ReductionRate(targets, size_bytes);
  report.Add({.what = absl::StrCat("region of ", size_bytes >> 20, " MiB, sum"),
              .value = rate.value_or(0),
              .unit = "GB/s",
              .ceiling = ceiling,
              .goal_at_least = ceiling > 0 ? 0.93 : 0,
              .note = rate.ok() ? "" : absl::StrCat("FAILED ", rate.status().message())});
}

}  // namespace gridfold::transport_benchmark
