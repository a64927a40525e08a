// What the tests of the C interface share: specs and arrays of the kernels' conformance tests as C
// has them, and the answers on the way back, for the oracles.
#ifndef GRIDFOLD_CLIENT_CORE_CORE_TEST_UTIL_H_
#define GRIDFOLD_CLIENT_CORE_CORE_TEST_UTIL_H_

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "client/core/gridfold_core.h"
#include "kernels/conformance/test_array.h"
#include "kernels/contract/histogram.h"
#include "kernels/contract/reduction.h"
#include "kernels/contract/scan.h"

namespace gridfold::core {

using kernels::conformance::TestArray;

struct FreeHandle {
  void operator()(gridfold_engine* handle) const { gridfold_engine_free(handle); }
  void operator()(gridfold_reduction* handle) const { gridfold_reduction_free(handle); }
  void operator()(gridfold_histogram* handle) const { gridfold_histogram_free(handle); }
  void operator()(gridfold_accumulator* handle) const { gridfold_accumulator_free(handle); }
};
template <class T>
using Handle = std::unique_ptr<T, FreeHandle>;
using Accumulator = Handle<gridfold_accumulator>;

inline absl::Status StatusOf(gridfold_status code) {
  switch (code) {
    case GRIDFOLD_OK: return absl::OkStatus();
    case GRIDFOLD_INVALID_ARGUMENT: return absl::InvalidArgumentError(gridfold_last_message());
    case GRIDFOLD_OUT_OF_RANGE: return absl::OutOfRangeError(gridfold_last_message());
    default: return absl::InternalError(gridfold_last_message());
  }
}

// What a call with one result, which comes last, hands out.
template <class T, class F, class... Arguments>
absl::StatusOr<Handle<T>> Call(F function, Arguments... arguments) {
  T* handle = nullptr;
  const gridfold_status code = function(arguments..., &handle);
  EXPECT_EQ(code == GRIDFOLD_OK, handle != nullptr);
  if (code != GRIDFOLD_OK) return StatusOf(code);
  return Handle<T>(handle);
}

inline Handle<gridfold_engine> MakeEngine(int threads = 2) {
  return *Call<gridfold_engine>(gridfold_engine_create, threads);
}

// Elements [begin, end) of `array`, which has one dimension, or rows [begin, end).
inline gridfold_array PartOf(const TestArray& array, uint64_t begin, uint64_t end) {
  const kernels::ArrayDescription& description = array.description();
  const uint64_t columns = description.is_matrix ? description.columns : 1;
  return {.data = array.data() + begin * columns * kernels::ElementSize(array.type()),
          .element_type = static_cast<int32_t>(array.type()) + 1,
          .dimension_count = description.is_matrix ? 2u : 1u,
          .shape = {end - begin, columns}};
}
inline gridfold_array ToC(const TestArray& array) {
  const kernels::ArrayDescription& description = array.description();
  return PartOf(array, 0, description.is_matrix ? description.rows : description.element_count);
}

inline gridfold_grouping ToC(const kernels::GroupingSpec& spec) {
  return {static_cast<int32_t>(spec.kind), spec.offsets.data(), spec.offsets.size()};
}

// Specs in C point to what they were made of, which these keep.
struct ReductionSpecOfC {
  explicit ReductionSpecOfC(const kernels::ReductionSpec& spec, uint64_t first_index = 0) {
    for (const kernels::Statistic statistic : spec.statistics) {
      statistics.push_back(static_cast<int32_t>(statistic) + 1);
    }
    of_c = {statistics.data(),
            statistics.size(),
            ToC(spec.grouping),
            static_cast<int32_t>(spec.nan_policy),
            static_cast<int32_t>(spec.overflow_policy),
            spec.delta_degrees_of_freedom,
            first_index};
  }
  std::vector<gridfold_statistic> statistics;
  gridfold_reduction_spec of_c;
};

inline gridfold_scan_spec ToC(const kernels::ScanSpec& spec) {
  return {static_cast<int32_t>(spec.operation),
          spec.mode == kernels::ScanMode::kExclusive,
          spec.direction == kernels::ScanDirection::kReverse,
          spec.exact,
          spec.output_type.has_value() ? static_cast<int32_t>(*spec.output_type) + 1 : 0,
          ToC(spec.grouping),
          static_cast<int32_t>(spec.nan_policy),
          static_cast<int32_t>(spec.overflow_policy),
          spec.window.value_or(0),
          spec.min_count};
}

struct HistogramSpecOfC {
  explicit HistogramSpecOfC(const kernels::HistogramSpec& spec) {
    for (const kernels::BinSpec& of_one : spec.bins) Add(of_one);
    of_c = {bins.data(),          bins.size(),
            spec.channel_count,   static_cast<int32_t>(spec.out_of_range_policy),
            spec.sparse,          spec.quantiles.data(),
            spec.quantiles.size()};
  }
  void Add(const kernels::BinSpec& spec) {
    gridfold_bins& of_one = bins.emplace_back();
    if (const auto* even = std::get_if<kernels::EvenBinsSpec>(&spec)) {
      of_one.kind = GRIDFOLD_EVEN_BINS;
      of_one.bin_count = even->bin_count;
      of_one.has_bounds = even->lower_bound.has_value();
      of_one.lower_bound = even->lower_bound.value_or(0);
      of_one.upper_bound = even->upper_bound.value_or(0);
    } else if (const auto* table = std::get_if<kernels::EdgeBinsSpec>(&spec)) {
      of_one.kind = GRIDFOLD_EDGE_BINS;
      of_one.edges = table->edges.data();
      of_one.edge_count = table->edges.size();
    } else if (const auto* log = std::get_if<kernels::LogarithmicBinsSpec>(&spec)) {
      of_one.kind = GRIDFOLD_LOGARITHMIC_BINS;
      of_one.bin_count = log->bin_count;
      of_one.lower_bound = log->lower_bound;
      of_one.upper_bound = log->upper_bound;
    } else {
      const auto& integer = std::get<kernels::IntegerBinsSpec>(spec);
      of_one.kind = GRIDFOLD_INTEGER_BINS;
      of_one.bin_count = integer.bin_count;
      of_one.first_value = integer.first_value;
      of_one.first_unsigned_value = integer.first_unsigned_value;
    }
  }
  std::vector<gridfold_bins> bins;
  gridfold_histogram_spec of_c;
};

// Answers as the oracles take them.
inline absl::StatusOr<kernels::ReductionResult> ToKernels(
    const absl::StatusOr<Handle<gridfold_reduction>>& handle) {
  if (!handle.ok()) return handle.status();
  kernels::ReductionResult result;
  uint64_t count = 0;
  EXPECT_EQ(gridfold_reduction_column_count(handle->get(), &count), GRIDFOLD_OK);
  for (uint64_t i = 0; i < count; ++i) {
    gridfold_column column;
    EXPECT_EQ(gridfold_reduction_column(handle->get(), i, &column), GRIDFOLD_OK);
    const auto* values = static_cast<const uint64_t*>(column.values);
    result.columns.push_back({static_cast<kernels::Statistic>(column.statistic - 1),
                              static_cast<kernels::ValueKind>(column.kind),
                              {values, values + column.value_count}});
  }
  return result;
}

template <class T>
std::vector<T> Copied(const T* values, uint64_t count) {
  return values == nullptr ? std::vector<T>() : std::vector<T>(values, values + count);
}

inline kernels::PlannedBins ToKernels(const gridfold_bins& bins) {
  kernels::PlannedBins planned;
  planned.kind = bins.kind == GRIDFOLD_INTEGER_BINS ? kernels::BinKind::kInteger
                 : bins.kind == GRIDFOLD_EVEN_BINS  ? kernels::BinKind::kEven
                                                    : kernels::BinKind::kTable;
  planned.bin_count = bins.bin_count;
  planned.lower_bound = bins.lower_bound;
  planned.upper_bound = bins.upper_bound;
  planned.first_value = bins.first_value;
  planned.first_unsigned_value = bins.first_unsigned_value;
  planned.edges = Copied(bins.edges, bins.edge_count);
  return planned;
}

inline absl::StatusOr<kernels::HistogramResult> ToKernels(
    const absl::StatusOr<Handle<gridfold_histogram>>& handle, bool two_dimensional) {
  if (!handle.ok()) return handle.status();
  kernels::HistogramResult result;
  uint64_t count = 0;
  EXPECT_EQ(gridfold_histogram_channel_count(handle->get(), &count), GRIDFOLD_OK);
  for (uint64_t c = 0; c < (two_dimensional ? 2 : count); ++c) {
    gridfold_bins bins;
    EXPECT_EQ(gridfold_histogram_bins(handle->get(), c, &bins), GRIDFOLD_OK);
    result.bins.push_back(ToKernels(bins));
  }
  for (uint64_t c = 0; c < count; ++c) {
    gridfold_channel channel;
    EXPECT_EQ(gridfold_histogram_channel(handle->get(), c, &channel), GRIDFOLD_OK);
    kernels::HistogramCounts& counts = result.channels.emplace_back();
    counts.counts = Copied(channel.counts, channel.value_count);
    counts.weight_sums = Copied(channel.weight_sums, channel.value_count);
    counts.bin_indices = Copied(channel.bin_indices, channel.value_count);
    counts.underflow_count = channel.underflow_count;
    counts.overflow_count = channel.overflow_count;
    counts.nan_count = channel.nan_count;
    counts.quantile_values = Copied(channel.quantiles, channel.quantile_count);
  }
  return result;
}

inline std::string BytesOf(const Accumulator& accumulator) {
  const void* bytes = nullptr;
  uint64_t size = 0;
  EXPECT_EQ(gridfold_accumulator_bytes(accumulator.get(), &bytes, &size), GRIDFOLD_OK);
  return {static_cast<const char*>(bytes), size};
}
inline absl::StatusOr<Accumulator> Parse(const std::string& bytes) {
  return Call<gridfold_accumulator>(gridfold_accumulator_parse, bytes.data(), bytes.size());
}
inline absl::StatusOr<Accumulator> Merge(const std::vector<Accumulator>& parts) {
  std::vector<const gridfold_accumulator*> pointers;
  for (const Accumulator& part : parts) pointers.push_back(part.get());
  return Call<gridfold_accumulator>(gridfold_accumulator_merge, pointers.data(), pointers.size());
}

}  // namespace gridfold::core

#endif  // GRIDFOLD_CLIENT_CORE_CORE_TEST_UTIL_H_
