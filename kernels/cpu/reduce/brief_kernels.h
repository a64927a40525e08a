// Reductions of many groups of few elements each: one thread, some groups.
#ifndef GRIDFOLD_KERNELS_CPU_REDUCE_BRIEF_KERNELS_H_
#define GRIDFOLD_KERNELS_CPU_REDUCE_BRIEF_KERNELS_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/cpu/reduce/brief_moments.h"
#include "kernels/numerics/statistics/statistic_value.h"
#include "kernels/types/statistic_set.h"

namespace gridfold::kernels::cpu {

// The statistics that BriefLanes has.
constexpr StatisticSet BriefStatistics() {
  using enum Statistic;
  return {kCount,         kSum,    kMin,          kMax,
          kArgmin,        kArgmax, kMean,         kVariance,
          kL1Norm,        kL2Norm, kNonzeroCount, kNanCount,
          kInfinityCount, kAll,    kAny,          kStandardDeviation};
}

// What is asked of the extremes of groups; others need not be found.
struct ExtremesWanted {
  bool least = false;
  bool largest = false;
  bool places = false;

  void Add(Statistic statistic) {
    const bool has_place = statistic == Statistic::kArgmin || statistic == Statistic::kArgmax;
    least |= statistic == Statistic::kMin || statistic == Statistic::kArgmin;
    largest |= statistic == Statistic::kMax || statistic == Statistic::kArgmax;
    places |= has_place;
  }
};

// What is asked of every group; only statistics of BriefStatistics().
struct BriefRequest {
  uint32_t parts = 0;  // Bits of numerics/statistics/reduction_state.h.
  ValueRules rules;
  std::span<const Statistic> statistics;
  ExtremesWanted extremes{};  // Of the statistics.
};

// Where the answers of at most kBriefLanes groups go: statistic s of group i to slots[s][i]. A
// group whose is_open is set has no answers yet.
struct BriefAnswers {
  uint64_t* const* slots;
  bool* is_open;
};

// Columns of a matrix of at most kBriefRows rows, `stride_bytes` apart, each a group.
template <class T>
void ReduceBriefColumns(const std::byte* data, size_t stride_bytes, uint32_t rows, uint32_t columns,
                        const BriefRequest& request, const BriefAnswers& answers);

// Groups of consecutive elements, of which group i begins at element begins[i] of `data` and ends
// where the next one begins; begins[group_count] ends the last. Those that are empty, or longer
// than kBriefElements, are left open.
template <class T>
void ReduceBriefGroups(const std::byte* data, const uint64_t* begins, uint32_t group_count,
                       const BriefRequest& request, const BriefAnswers& answers);

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_REDUCE_BRIEF_KERNELS_H_
