#include "kernels/accumulators/reduction_header.h"

#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"

namespace gridfold::kernels {

ReductionHeader ReadReductionHeader(AccumulatorReader& reader) {
  ReductionHeader header;
  const uint8_t type = reader.Byte();
  reader.Require(type < kElementTypeCount);
  header.element_type = static_cast<ElementType>(type);
  header.nan_policy = static_cast<NanPolicy>(reader.Bool());
  header.overflow_policy = static_cast<OverflowPolicy>(reader.Bool());
  header.delta_degrees_of_freedom = reader.Integer();
  reader.Require(header.delta_degrees_of_freedom <= std::numeric_limits<uint32_t>::max());
  const int statistic_count = reader.Byte();
  reader.Require(statistic_count <= kStatisticCount);
  for (int i = 0; i < statistic_count && reader.ok(); ++i) {
    const uint8_t statistic = reader.Byte();
    reader.Require(statistic < kStatisticCount);
    header.statistics.push_back(static_cast<Statistic>(statistic));
  }
  header.group_count = reader.Integer();
  // Each group takes at least a byte.
  reader.Require(header.group_count <= reader.rest_size());
  return header;
}

absl::Status CheckGroupCount(const ReductionHeader& header, uint64_t group_count_max) {
  if (header.group_count <= group_count_max) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(header.group_count, " groups are more than the ",
                                                 group_count_max, " that are allowed"));
}

ReductionSpec SpecOf(ReductionHeader header) {
  return {.statistics = std::move(header.statistics),
          .grouping = {},
          .nan_policy = header.nan_policy,
          .overflow_policy = header.overflow_policy,
          .delta_degrees_of_freedom = static_cast<uint32_t>(header.delta_degrees_of_freedom),
          .return_states = true};
}

const char* DifferenceOf(const ReductionHeader& a, const ReductionHeader& b) {
  if (a.element_type != b.element_type) return "element type";
  if (a.statistics != b.statistics) return "statistics";
  if (a.nan_policy != b.nan_policy) return "NaN policy";
  if (a.overflow_policy != b.overflow_policy) return "overflow policy";
  if (a.delta_degrees_of_freedom != b.delta_degrees_of_freedom) return "degrees of freedom";
  return nullptr;
}

}  // namespace gridfold::kernels
