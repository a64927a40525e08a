// The answer that a request must get, from exact integer arithmetic of this folder's own.
#ifndef GRIDFOLD_CLIENT_LOAD_WORK_KNOWN_ANSWER_H_
#define GRIDFOLD_CLIENT_LOAD_WORK_KNOWN_ANSWER_H_

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "client/load/work/array_values.h"
#include "client/load/work/scenario.h"
#include "gridfold/histogram.h"
#include "gridfold/keyed_reduction.h"
#include "gridfold/paired.h"
#include "gridfold/quantiles.h"
#include "gridfold/reduction.h"
#include "gridfold/scan.h"
#include "gridfold/top.h"

namespace gridfold::load {

struct KnownReduction {
  uint64_t group_count = 0;
  std::vector<client::ReductionResult::Entry> entries;
  std::vector<uint64_t> result_shape;  // Of each entry's values.
};

struct KnownScan {
  client::ElementType element_type = client::ElementType::kFloat64;
  std::string data;  // All results, as they lie in memory.
};

struct KnownHistogram {
  std::vector<client::ResolvedBins> bins;  // Two in two dimensions.
  std::vector<uint64_t> counts;            // In two dimensions row by row; empty with weights.
  std::vector<double> weight_sums;
  uint64_t underflow_count = 0;
  uint64_t overflow_count = 0;
};

struct KnownQuantiles {
  uint64_t group_count = 0;
  std::vector<client::StatisticValues> values;  // Of each quantile.
  std::vector<uint64_t> result_shape;           // Of each one's values.
};

struct KnownTop {
  client::StatisticValues values;
  std::vector<uint64_t> indices;
};

struct KnownKeyedReduction {
  client::StatisticValues keys;  // Empty where the request gives them.
  std::vector<uint64_t> counts;  // Of each group.
  std::vector<client::ReductionResult::Entry> entries;
  std::vector<client::StatisticValues> quantiles;
};

struct KnownRelation {
  uint64_t column_count = 0;
  uint64_t observation_count = 0;
  std::vector<client::RelateResult::Entry> entries;
};

using KnownAnswer = std::variant<KnownReduction, KnownScan, KnownHistogram, KnownQuantiles,
                                 KnownTop, KnownKeyedReduction, KnownRelation>;

// Of the kind's operation on `values`, whole rows where there are columns.
KnownAnswer ComputeKnownAnswer(const RequestKind& kind, const OperationValues& values);

KnownReduction ComputeKnownReduction(const RequestKind& kind, const OperationValues& values);
KnownHistogram ComputeKnownHistogram(const RequestKind& kind, const OperationValues& values);
KnownQuantiles ComputeKnownQuantiles(const RequestKind& kind, const OperationValues& values);
KnownTop ComputeKnownTop(const RequestKind& kind, const OperationValues& values);
KnownKeyedReduction ComputeKnownKeyedReduction(const RequestKind& kind,
                                               const OperationValues& values);
KnownRelation ComputeKnownRelation(const RequestKind& kind, const OperationValues& values);

// The bins of a kind of histogram, of each dimension: the edges of even ones are those of
// numpy.linspace.
std::vector<client::BinSpecification> BinsOf(const RequestKind& kind);

// What of an answer is not as it must be; empty where all is. Numbers are equal or wrong: there is
// no tolerance.
std::string Difference(const KnownReduction& known, const client::ReductionResult& result);
std::string Difference(const KnownHistogram& known, const client::HistogramResult& result);
std::string Difference(const KnownQuantiles& known, const client::QuantileResult& result);
std::string Difference(const KnownTop& known, const client::TopResult& result);
std::string Difference(const KnownKeyedReduction& known,
                       const client::KeyedReductionResult& result);
std::string Difference(const KnownRelation& known, const client::RelateResult& result);
// The results from `first_element` on, which may be some of them.
std::string Difference(const KnownScan& known, client::ElementType element_type,
                       uint64_t first_element, std::span<const char> data);
// That there are as many bytes of results as there must be.
std::string SizeDifference(const KnownScan& known, uint64_t size_bytes);
// All results.
std::string WholeDifference(const KnownScan& known, client::ElementType element_type,
                            std::span<const char> data);

}  // namespace gridfold::load

#endif  // GRIDFOLD_CLIENT_LOAD_WORK_KNOWN_ANSWER_H_
