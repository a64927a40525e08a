// The largest or smallest elements of an array or of each of its groups, and where they stand.
#ifndef GRIDFOLD_CLIENT_GRIDFOLD_TOP_H_
#define GRIDFOLD_CLIENT_GRIDFOLD_TOP_H_

#include <cstdint>
#include <vector>

#include "gridfold/execution_statistics.h"
#include "gridfold/grouping.h"
#include "gridfold/reduction.h"

namespace gridfold::client {

struct TopOptions {
  uint64_t count = 1;     // Elements of each group, no more than the smallest one has.
  bool smallest = false;  // The smallest ones, from the smallest up, and not the largest.
  Grouping grouping = WholeArray{};
  // kPropagate: NaNs come before all numbers, in either direction. kIgnore: they are left out.
  NanPolicy nan_policy = NanPolicy::kPropagate;
};

struct TopResult {
  // `count` elements of each group, in order; equal ones in the order of their indices. int64 of
  // signed integers, uint64 of unsigned ones, else double.
  StatisticValues values;
  std::vector<uint64_t> indices = {};  // Of each of them in its group.
  uint64_t group_count = 0;
  // Of the values and the indices, which are row-major: the last extent is the count.
  std::vector<uint64_t> result_shape = {};
  ExecutionStatistics execution;
};

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_GRIDFOLD_TOP_H_
