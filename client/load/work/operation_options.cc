#include "client/load/work/operation_options.h"

#include "client/load/work/known_answer.h"

namespace gridfold::load {
namespace {

// Of an array for results, should nobody delete it: its call was given up, say.
constexpr absl::Duration kResultExpiry = absl::Minutes(1);

client::Grouping GroupingOf(const RequestKind& kind, const std::vector<uint64_t>& offsets) {
  if (kind.axes) return client::Axes{*kind.axes};
  switch (kind.group_by) {
    case GroupBy::kRows: return client::Axis{1};
    case GroupBy::kColumns: return client::Axis{0};
    case GroupBy::kSegments: return client::Segments{offsets};
    case GroupBy::kAll: break;
  }
  return client::WholeArray{};
}

// A place in shared memory is not known before the call.
client::ScanDestination DestinationOf(const RequestKind& kind) {
  if (kind.destination == ResultDestination::kResident) {
    return client::ResidentDestination{.idle_expiry = kResultExpiry};
  }
  return client::InlineDestination{};
}

}  // namespace

OperationInput InputToRead(const RequestKind& kind) {
  OperationInput input{.elements = client::ResidentArray{}};
  if (HasYElements(kind)) input.y_elements.emplace(client::ResidentArray{});
  if (HasWeights(kind)) input.weights.emplace(client::ResidentArray{});
  if (HasKeys(kind)) input.keys.emplace(client::ResidentArray{});
  if (kind.where) input.mask.emplace(client::ResidentArray{});
  return input;
}

client::ReductionOptions ReductionOptionsOf(const RequestKind& kind, const OperationInput& input) {
  return {.statistics = kind.statistics,
          .grouping = GroupingOf(kind, input.segment_offsets),
          .keep_dimensions = kind.keep_dimensions,
          .where = input.mask,
          .output_type = kind.output_type};
}

client::ScanOptions ScanOptionsOf(const RequestKind& kind, const OperationInput& input) {
  return {.operation = kind.scan_operation,
          .mode = kind.scan_mode,
          .grouping = GroupingOf(kind, input.segment_offsets),
          .where = input.mask,
          .destination = DestinationOf(kind)};
}

client::HistogramOptions HistogramOptionsOf(const RequestKind& kind, const OperationInput& input) {
  return {.bins = BinsOf(kind),
          .y_array = input.y_elements,
          .weights = input.weights,
          .where = input.mask};
}

client::QuantileOptions QuantileOptionsOf(const RequestKind& kind,
                                          const std::vector<uint64_t>& segment_offsets) {
  return {.quantiles = kind.quantiles,
          .method = kind.quantile_method,
          .grouping = GroupingOf(kind, segment_offsets),
          .keep_dimensions = kind.keep_dimensions};
}

client::TopOptions TopOptionsOf(const RequestKind& kind,
                                const std::vector<uint64_t>& segment_offsets) {
  return {.count = kind.top_count,
          .smallest = kind.top_smallest,
          .grouping = GroupingOf(kind, segment_offsets)};
}

client::KeyedReductionOptions KeyedReductionOptionsOf(const RequestKind& kind) {
  client::KeyedReductionOptions options{.statistics = kind.statistics,
                                        .output_type = kind.output_type,
                                        .quantiles = kind.quantiles,
                                        .quantile_method = kind.quantile_method};
  if (kind.key_groups == KeyGroups::kRange) {
    options.groups = client::KeyRange{.key_count = kind.key_count};
  }
  return options;
}

client::RelateOptions RelateOptionsOf(const RequestKind& kind, const OperationInput& input) {
  return {.statistics = kind.relations, .y = input.y_elements};
}

}  // namespace gridfold::load
