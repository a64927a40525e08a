// Exact quantiles of groups, by sorting.
#ifndef GRIDFOLD_CLIENT_LOAD_WORK_GROUP_QUANTILES_H_
#define GRIDFOLD_CLIENT_LOAD_WORK_GROUP_QUANTILES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "client/load/work/scenario.h"
#include "gridfold/reduction.h"

namespace gridfold::load {

// The elements of each group.
using Groups = std::vector<std::vector<int32_t>>;

// One entry for each of the kind's quantiles, with the value of each group, none of them empty.
std::vector<client::StatisticValues> QuantilesOf(const RequestKind& kind, Groups groups);

// The first quantile that is not as it must be; empty where all are.
std::string QuantileDifference(const std::vector<client::StatisticValues>& known,
                               const std::vector<client::StatisticValues>& values);

}  // namespace gridfold::load

#endif  // GRIDFOLD_CLIENT_LOAD_WORK_GROUP_QUANTILES_H_
