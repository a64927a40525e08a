// What is known of the elements of a group, exactly, and every statistic of it.
#ifndef GRIDFOLD_CLIENT_LOAD_WORK_GROUP_TOTALS_H_
#define GRIDFOLD_CLIENT_LOAD_WORK_GROUP_TOTALS_H_

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "client/load/work/exact_arithmetic.h"
#include "client/load/work/scenario.h"
#include "gridfold/element_type.h"
#include "gridfold/reduction.h"
#include "gridfold/statistic.h"

namespace gridfold::load {

struct GroupTotals {
  uint64_t count = 0;
  Int128 sum = 0;
  Int128 sum_of_squares = 0;
  Int128 sum_of_magnitudes = 0;
  uint64_t product = 1;  // Modulo 2^64: it is asked for only where it is small.
  int64_t min = std::numeric_limits<int64_t>::max();
  int64_t max = std::numeric_limits<int64_t>::min();
  uint64_t argmin = 0;
  uint64_t argmax = 0;
  uint64_t nonzero_count = 0;
  int64_t bitwise_and = -1;
  int64_t bitwise_or = 0;
  int64_t bitwise_xor = 0;

  // The next element; `index` is what argmin and argmax know it by.
  void Add(int64_t value, uint64_t index);
};

// The statistics of groups, none of them empty, in the order in which they are asked for.
std::vector<client::ReductionResult::Entry> StatisticsOf(
    const std::vector<client::Statistic>& statistics, client::ElementType element_type,
    const std::vector<GroupTotals>& groups);

// The statistics that a request asks for, in its output type.
std::vector<client::ReductionResult::Entry> KnownStatistics(const RequestKind& kind,
                                                            const std::vector<GroupTotals>& groups);

// The first statistic that is not as it must be; empty where all are.
std::string Difference(const std::vector<client::ReductionResult::Entry>& known,
                       const std::vector<client::ReductionResult::Entry>& entries);

}  // namespace gridfold::load

#endif  // GRIDFOLD_CLIENT_LOAD_WORK_GROUP_TOTALS_H_
