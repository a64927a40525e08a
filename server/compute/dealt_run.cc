#include "server/compute/dealt_run.h"

#include <algorithm>
#include <utility>

namespace gridfold::server {

void DealtStatistics::Add(const JobContext& context, const kernels::RunStatistics& run) {
  const std::lock_guard lock(mutex_);
  by_engine_[context.engine].Add(run);
  queue_time_ = std::max(queue_time_, context.queue_time);
}

kernels::RunStatistics DealtStatistics::total() const {
  const std::lock_guard lock(mutex_);
  kernels::RunStatistics total;
  for (const auto& [engine, run] : by_engine_) {
    // Who only brings elements has none.
    if (!run.strategy.empty()) {
      total.strategy = run.strategy;
      total.cluster_size = run.cluster_size;
    }
    total.bytes_read += run.bytes_read;
    total.stage_in_time = std::max(total.stage_in_time, run.stage_in_time);
    total.kernel_time = std::max(total.kernel_time, run.kernel_time);
    total.stage_out_time = std::max(total.stage_out_time, run.stage_out_time);
  }
  return total;
}

std::chrono::nanoseconds DealtStatistics::queue_time() const {
  const std::lock_guard lock(mutex_);
  return queue_time_;
}

uint32_t DealtStatistics::device_count() const {
  const std::lock_guard lock(mutex_);
  return static_cast<uint32_t>(by_engine_.size());
}

std::vector<PartPlace> PlacesOf(const std::vector<ArrayShard>& shards) {
  std::vector<PartPlace> places;
  for (const ArrayShard& shard : shards) {
    places.push_back({shard.engine, shard.first_element, shard.element_count});
  }
  return places;
}

std::vector<PartPlace> EqualPlaces(uint64_t element_count, uint64_t unit, const Limits& limits) {
  const uint64_t units = element_count / unit;
  const uint64_t parts = std::min<uint64_t>(limits.engine_count, units);
  std::vector<PartPlace> places;
  for (uint64_t part = 0; part < parts; ++part) {
    const uint64_t first = units * part / parts * unit;
    const uint64_t end = part + 1 == parts ? element_count : units * (part + 1) / parts * unit;
    places.push_back({std::nullopt, first, end - first});
  }
  return places;
}

kernels::Cuts CutsOf(const std::vector<PartPlace>& places) {
  kernels::Cuts cuts = {0};
  for (const PartPlace& place : places) cuts.push_back(place.first_element + place.element_count);
  return cuts;
}

JobGroup::Parts MakeParts(const JobWork& common, const std::vector<PartPlace>& places,
                          uint64_t element_bytes,
                          const std::function<absl::Status(size_t, const JobContext&)>& run) {
  JobGroup::Parts parts;
  for (size_t part = 0; part < places.size(); ++part) {
    JobWork work = common;
    // What arrived in the message waits with the parts, each with about as much of it.
    work.batchable.reset();
    work.payload_bytes = common.payload_bytes / places.size();
    if (part > 0) work.answer_bytes = 0;
    work.engine = places[part].engine;
    if (common.resident_bytes > 0) work.resident_bytes = places[part].element_count * element_bytes;
    work.run = [run, part](const JobContext& context) { return run(part, context); };
    parts.push_back(std::move(work));
  }
  return parts;
}

}  // namespace gridfold::server
