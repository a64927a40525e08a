#include "client/command_line/report/json_report.h"

#include <cmath>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "client/command_line/input/element_dispatch.h"
#include "client/command_line/output/shortest_real.h"
#include "client/command_line/report/relation_report.h"
#include "client/command_line/report/server_report.h"
#include "gridfold/error_details.h"
#include "nlohmann/json.hpp"

namespace gridfold::client {
namespace {

using Json = nlohmann::ordered_json;

Json ToNumber(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return value;
}

// An element as a number whose text is no longer than it takes to tell it from all others of its
// type: float32's 0.1 as 0.1, where the exact number has 17 digits.
template <typename T>
Json ToNumberOf(T element) {
  if constexpr (std::is_integral_v<T>) {
    return element;
  } else {
    return ToNumber(ShortestReal(element));
  }
}

Json ToList(const ArrayView& elements) {
  return DispatchElementType(elements.element_type(), [&](auto tag) {
    using T = typename decltype(tag)::Type;
    Json list = Json::array();
    for (uint64_t i = 0; i < elements.element_count(); ++i) {
      list.push_back(ToNumberOf(ElementAt<T>(elements, i)));
    }
    return list;
  });
}

template <typename T>
Json ToList(const std::vector<T>& values) {
  Json list = Json::array();
  for (const auto value : values) {
    if constexpr (std::is_same_v<T, double>) {
      list.push_back(ToNumber(value));
    } else {
      list.push_back(static_cast<T>(value));
    }
  }
  return list;
}

Json ToList(const StatisticValues& values) {
  return std::visit([](const auto& list) { return ToList(list); }, values);
}

Json ToList(const ScanResult& scan) {
  return ToList(ArrayView(scan.element_type, scan.data.data(), scan.element_count()));
}

// The values of a statistic, one for each group.
Json ToList(const ReductionResult::Entry& entry) {
  if (entry.output_type == ElementType::kFloat64) return ToList(entry.values);
  const uint64_t count = entry.data.size() / ElementSizeBytes(entry.output_type);
  return ToList(ArrayView(entry.output_type, entry.data.data(), count));
}

Json ToObject(const InputDescription& input) {
  uint64_t count = 1;
  for (uint64_t extent : input.shape) count *= extent;
  Json object = {{"source", input.source},
                 {"element_type", std::string(ElementTypeName(input.element_type))},
                 {"shape", input.shape},
                 {"element_count", count}};
  if (!input.column.empty()) object["column"] = input.column;
  if (input.missing_count > 0) object["missing_count"] = input.missing_count;
  return object;
}

double ToMicroseconds(absl::Duration duration) { return absl::ToDoubleMicroseconds(duration); }

Json ToObject(const ExecutionStatistics& execution, absl::Duration round_trip_time) {
  return {{"engine", execution.engine},
          {"strategy", execution.strategy},
          {"cluster_size", execution.cluster_size},
          {"bytes_read", execution.bytes_read},
          {"queue_time_us", ToMicroseconds(execution.queue_time)},
          {"stage_in_time_us", ToMicroseconds(execution.stage_in_time)},
          {"kernel_time_us", ToMicroseconds(execution.kernel_time)},
          {"stage_out_time_us", ToMicroseconds(execution.stage_out_time)},
          {"total_time_us", ToMicroseconds(execution.total_time)},
          {"device_count", execution.device_count},
          {"transport", execution.streams == 0
                            ? Json()
                            : Json(std::string(ArrayTransportName(execution.transport)))},
          {"streams", execution.streams},
          {"round_trip_time_us", ToMicroseconds(round_trip_time)}};
}

// Each statistic with its values, one for each group.
Json ToObject(const std::vector<ReductionResult::Entry>& entries) {
  Json object = Json::object();
  for (const ReductionResult::Entry& entry : entries) {
    Json& list = object[std::string(StatisticName(entry.statistic))];
    list = ToList(entry);
    for (size_t i = 0; i < entry.has_value.size(); ++i) {
      if (!entry.has_value[i]) list[i] = nullptr;
    }
  }
  return object;
}

Json ToList(const std::vector<ResolvedBins>& all_bins) {
  Json list = Json::array();
  for (const ResolvedBins& bins : all_bins) {
    Json entry = {{"bin_count", bins.bin_count}};
    if (!bins.edges.empty()) entry["edges"] = ToList(bins.edges);
    list.push_back(std::move(entry));
  }
  return list;
}

Json ToObject(const HistogramCounts& counts, const HistogramOptions& options) {
  Json object;
  if (options.weights) {
    object["weight_sums"] = ToList(counts.weight_sums);
  } else {
    object["counts"] = ToList(counts.counts);
  }
  if (options.format == HistogramFormat::kSparse) {
    object["bin_indices"] = ToList(counts.bin_indices);
  }
  object["underflow_count"] = counts.underflow_count;
  object["overflow_count"] = counts.overflow_count;
  object["nan_count"] = counts.nan_count;
  object["quantiles"] = Json::array();
  for (size_t i = 0; i < options.quantiles.size(); ++i) {
    object["quantiles"].push_back({{"probability", ToNumber(options.quantiles[i])},
                                   {"value", ToNumber(counts.quantile_values[i])}});
  }
  return object;
}

Json ToObject(const ArrayDescription& array) {
  Json object = {{"name", array.name},
                 {"element_type", std::string(ElementTypeName(array.element_type))},
                 {"shape", array.shape},
                 {"size_bytes", array.size_bytes},
                 {"device", array.device},
                 {"idle_expiry_us", ToMicroseconds(array.idle_expiry)},
                 {"idle_time_us", ToMicroseconds(array.idle_time)}};
  for (const ArrayShard& shard : array.shards) {
    object["shards"].push_back({{"device", shard.device},
                                {"first_element", shard.first_element},
                                {"element_count", shard.element_count}});
  }
  return object;
}

Json ToObject(const RegionDescription& region) {
  Json object = {{"name", region.name},
                 {"size_bytes", region.size_bytes},
                 {"idle_expiry_us", ToMicroseconds(region.idle_expiry)},
                 {"idle_time_us", ToMicroseconds(region.idle_time)}};
  if (region.owner_process_id) object["owner_process_id"] = *region.owner_process_id;
  return object;
}

Json ToObject(const ServerLimits& limits) {
  return {{"message_bytes_max", limits.message_bytes_max},
          {"bin_count_max", limits.bin_count_max},
          {"group_count_max", limits.group_count_max},
          {"lane_count", limits.lane_count},
          {"queued_jobs_max", limits.queued_jobs_max},
          {"queued_bytes_max", limits.queued_bytes_max},
          {"resident_bytes_max", limits.resident_bytes_max},
          {"tenant_resident_bytes_max", limits.tenant_resident_bytes_max},
          {"array_count_max", limits.array_count_max},
          {"array_chunk_bytes_max", limits.array_chunk_bytes_max},
          {"region_count_max", limits.region_count_max},
          {"region_bytes_max", limits.region_bytes_max},
          {"stream_count_max", limits.stream_count_max},
          {"stream_pending_bytes_max", limits.stream_pending_bytes_max},
          {"batch_operations_max", limits.batch_operations_max},
          {"dealt_bytes_min", limits.dealt_bytes_min}};
}

Json ToObject(const ServerStatistics& statistics) {
  return {{"uptime_us", ToMicroseconds(statistics.uptime)},
          {"jobs_accepted", statistics.jobs_accepted},
          {"jobs_refused", statistics.jobs_refused},
          {"jobs_succeeded", statistics.jobs_succeeded},
          {"jobs_failed", statistics.jobs_failed},
          {"jobs_cancelled", statistics.jobs_cancelled},
          {"bytes_processed", statistics.bytes_processed},
          {"jobs_queued", statistics.jobs_queued},
          {"bytes_queued", statistics.bytes_queued},
          {"lanes_busy", statistics.lanes_busy},
          {"lane_count", statistics.lane_count},
          {"resident_array_count", statistics.resident_array_count},
          {"resident_bytes", statistics.resident_bytes},
          {"region_count", statistics.region_count},
          {"region_bytes", statistics.region_bytes}};
}

// Text from elsewhere may not be UTF-8; what is not is replaced.
std::string Write(const Json& object) {
  return object.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Json ToQuantiles(const std::vector<double>& probabilities,
                 const std::vector<StatisticValues>& values) {
  Json list = Json::array();
  for (size_t i = 0; i < values.size(); ++i) {
    list.push_back({{"probability", ToNumber(probabilities[i])}, {"values", ToList(values[i])}});
  }
  return list;
}

}  // namespace

std::string ToJson(const Answer<ReductionResult>& answer) {
  return Write({{"operation", "reduce"},
                {"input", ToObject(answer.input)},
                {"group_count", answer.result.group_count},
                {"result_shape", answer.result.result_shape},
                {"statistics", ToObject(answer.result.entries)},
                {"execution", ToObject(answer.result.execution, answer.round_trip_time)}});
}

std::string ToJson(const Answer<QuantileResult>& answer, const QuantileOptions& options) {
  const QuantileResult& result = answer.result;
  Json object = {{"operation", "quantile"},
                 {"input", ToObject(answer.input)},
                 {"group_count", result.group_count},
                 {"result_shape", result.result_shape},
                 {"method", std::string(QuantileMethodName(options.method))},
                 {"quantiles", ToQuantiles(options.quantiles, result.quantile_values)},
                 {"ranks", Json::array()}};
  for (size_t i = 0; i < result.rank_values.size(); ++i) {
    object["ranks"].push_back(
        {{"rank", options.ranks[i]}, {"values", ToList(result.rank_values[i])}});
  }
  object["execution"] = ToObject(result.execution, answer.round_trip_time);
  return Write(object);
}

std::string ToJson(const Answer<TopResult>& answer) {
  return Write({{"operation", "topk"},
                {"input", ToObject(answer.input)},
                {"group_count", answer.result.group_count},
                {"result_shape", answer.result.result_shape},
                {"values", ToList(answer.result.values)},
                {"indices", ToList(answer.result.indices)},
                {"execution", ToObject(answer.result.execution, answer.round_trip_time)}});
}

std::string ToJson(const Answer<RelateResult>& answer) {
  Json statistics = Json::object();
  for (const RelateResult::Entry& entry : answer.result.entries) {
    statistics[RelationName(entry.statistic)] = ToList(entry.values);
  }
  return Write({{"operation", "relate"},
                {"input", ToObject(answer.input)},
                {"column_count", answer.result.column_count},
                {"observation_count", answer.result.observation_count},
                {"statistics", statistics},
                {"execution", ToObject(answer.result.execution, answer.round_trip_time)}});
}

std::string ToJson(const std::string& source, const std::vector<ArrayDescriptionReport>& arrays) {
  Json list = Json::array();
  for (const ArrayDescriptionReport& array : arrays) {
    Json object = {{"name", array.name}};
    if (array.input) object["input"] = ToObject(*array.input);
    if (array.statistics) object["statistics"] = ToObject(array.statistics->entries);
    if (array.histogram) {
      object["quantiles"] = Json::array();
      for (size_t i = 0; i < std::size(kDescribedQuantiles); ++i) {
        object["quantiles"].push_back(
            {{"probability", kDescribedQuantiles[i]},
             {"value", ToNumber(array.histogram->channels[0].quantile_values[i])}});
      }
      object["counts"] = array.histogram->channels[0].counts;
      object["edges"] = ToList(array.histogram->bins[0].edges);
    }
    list.push_back(std::move(object));
  }
  return Write({{"operation", "describe"}, {"source", source}, {"arrays", std::move(list)}});
}

std::string ToJson(const Answer<ScanResult>& answer, const std::string& output) {
  const ScanResult& scan = answer.result;
  Json result = {{"element_type", std::string(ElementTypeName(scan.element_type))},
                 {"shape", scan.shape}};
  if (scan.resident_array) {
    result["array"] = scan.resident_array->name;
  } else if (output.empty()) {
    result["values"] = ToList(scan);
  } else {
    result["output"] = output;
  }
  return Write({{"operation", "scan"},
                {"input", ToObject(answer.input)},
                {"result", std::move(result)},
                {"execution", ToObject(scan.execution, answer.round_trip_time)}});
}

std::string ToJson(const ArrayDescription& array) { return Write({{"array", ToObject(array)}}); }

std::string ToJson(const std::vector<ArrayDescription>& arrays) {
  Json list = Json::array();
  for (const ArrayDescription& array : arrays) list.push_back(ToObject(array));
  return Write({{"arrays", std::move(list)}});
}

std::string ToJson(const std::vector<RegionDescription>& regions) {
  Json list = Json::array();
  for (const RegionDescription& region : regions) list.push_back(ToObject(region));
  return Write({{"regions", std::move(list)}});
}

std::string ToJson(const Answer<HistogramResult>& answer, const HistogramOptions& options) {
  Json object = {{"operation", "histogram"},
                 {"input", ToObject(answer.input)},
                 {"channels", Json::array()},
                 {"bins", ToList(answer.result.bins)}};
  for (const HistogramCounts& counts : answer.result.channels) {
    object["channels"].push_back(ToObject(counts, options));
  }
  object["execution"] = ToObject(answer.result.execution, answer.round_trip_time);
  return Write(object);
}

std::string ToJson(const Answer<KeyedReductionResult>& answer,
                   const KeyedReductionOptions& options) {
  const KeyedReductionResult& result = answer.result;
  Json object = {{"operation", "group"},
                 {"input", ToObject(answer.input)},
                 {"group_count", result.group_count}};
  if (std::holds_alternative<FoundKeys>(options.groups)) {
    object["keys"] = std::visit([](const auto& keys) { return ToList(keys); }, result.keys);
  } else if (const auto* const range = std::get_if<KeyRange>(&options.groups)) {
    object["first_key"] =
        range->first_unsigned_key != 0 ? Json(range->first_unsigned_key) : Json(range->first_key);
  } else {
    object["bins"] = ToList(result.bins);
    object["underflow_count"] = result.underflow_count;
    object["overflow_count"] = result.overflow_count;
    object["nan_count"] = result.nan_count;
  }
  object["counts"] = ToList(result.counts);
  object["statistics"] = ToObject(result.entries);
  if (!options.quantiles.empty()) {
    object["method"] = std::string(QuantileMethodName(options.quantile_method));
    object["quantiles"] = ToQuantiles(options.quantiles, result.quantile_values);
  }
  object["execution"] = ToObject(result.execution, answer.round_trip_time);
  return Write(object);
}

std::string ToJson(const std::string& target, HealthStatus health, const ServerInfo& info,
                   const std::optional<ServerStatistics>& statistics) {
  Json devices = Json::array();
  for (const Device& device : info.devices) {
    devices.push_back({{"name", device.name},
                       {"memory_bytes", device.memory_bytes},
                       {"compute_units", device.compute_units},
                       {"compute_capability", device.compute_capability}});
  }
  return Write({{"target", target},
                {"health", HealthName(health)},
                {"version", info.version},
                {"engine", info.engine},
                {"devices", std::move(devices)},
                {"limits", ToObject(info.limits)},
                {"statistics", statistics ? ToObject(*statistics) : Json()}});
}

std::string ToJson(const std::string& target, HealthStatus health) {
  return Write({{"target", target}, {"health", HealthName(health)}});
}

std::string ToJson(const absl::Status& error, const std::string& message) {
  Json object = {{"code", absl::StatusCodeToString(error.code())}, {"message", message}};
  if (const auto field = ViolatedField(error)) object["field"] = *field;
  if (const auto reason = ErrorReason(error)) object["reason"] = *reason;
  if (const auto delay = RetryDelay(error)) object["retry_delay_us"] = ToMicroseconds(*delay);
  return Write({{"error", std::move(object)}});
}

}  // namespace gridfold::client
