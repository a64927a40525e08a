#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "client/command_line/report/relation_report.h"
#include "client/load/work/exact_arithmetic.h"
#include "client/load/work/known_answer.h"
#include "client/load/work/known_values.h"

namespace gridfold::load {
namespace {

using client::PairedStatistic;
using client::StatisticValues;

// x and y, or the columns of a matrix, and the sums of them.
class Columns {
 public:
  Columns(const RequestKind& kind, const OperationValues& values)
      : column_count_(kind.column_count > 0 ? kind.column_count : 2),
        has_y_(kind.column_count == 0),
        observation_count_(values.elements.size() / (has_y_ ? 1 : column_count_)),
        sums_(column_count_),
        sums_of_products_(column_count_ * column_count_) {
    std::vector<int64_t> row(column_count_);
    for (uint64_t i = 0; i < observation_count_; ++i) {
      if (has_y_) {
        row = {values.elements[i], values.y_elements[i]};
      } else {
        const auto begin = values.elements.begin() + static_cast<ptrdiff_t>(i * column_count_);
        row.assign(begin, begin + static_cast<ptrdiff_t>(column_count_));
      }
      AddRow(row);
    }
  }

  uint64_t column_count() const { return column_count_; }
  uint64_t observation_count() const { return observation_count_; }

  // What `get` makes of each two columns, or of x and y alone.
  template <typename Value, typename Get>
  std::vector<Value> OfPairs(Get get) const {
    if (has_y_) return {static_cast<Value>(get(0, 1))};
    std::vector<Value> values;
    for (uint64_t i = 0; i < column_count_; ++i) {
      for (uint64_t k = 0; k < column_count_; ++k) values.push_back(static_cast<Value>(get(i, k)));
    }
    return values;
  }

  template <typename Get>
  std::vector<double> OfEach(Get get) const {
    std::vector<double> values;
    for (uint64_t i = 0; i < column_count_; ++i) values.push_back(static_cast<double>(get(i)));
    return values;
  }

  Int128 Dot(uint64_t x, uint64_t y) const {
    return sums_of_products_[std::min(x, y) * column_count_ + std::max(x, y)];
  }
  Float128 Mean(uint64_t x) const { return static_cast<Float128>(sums_[x]) / Count(); }
  Float128 Covariance(uint64_t x, uint64_t y) const { return Scaled(x, y) / (Count() * Count()); }
  Float128 Correlation(uint64_t x, uint64_t y) const {
    const Float128 square = Scaled(x, x) * Scaled(y, y);
    if (square == 0) return std::numeric_limits<double>::quiet_NaN();
    return Scaled(x, y) / SquareRoot(square);
  }

 private:
  void AddRow(const std::vector<int64_t>& row) {
    for (uint64_t i = 0; i < column_count_; ++i) {
      sums_[i] += row[i];
      for (uint64_t k = i; k < column_count_; ++k) {
        sums_of_products_[i * column_count_ + k] += Int128{row[i]} * row[k];
      }
    }
  }

  Float128 Count() const { return static_cast<Float128>(observation_count_); }
  Float128 Scaled(uint64_t x, uint64_t y) const {
    return static_cast<Float128>(
        ScaledCovariance(Int128{observation_count_}, sums_[x], sums_[y], Dot(x, y)));
  }

  const uint64_t column_count_;
  const bool has_y_;
  const uint64_t observation_count_;
  std::vector<Int128> sums_;
  std::vector<Int128> sums_of_products_;  // Of each column and those from it on.
};

StatisticValues RelationsOf(const Columns& columns, PairedStatistic statistic,
                            client::ElementType type) {
  switch (statistic) {
    case PairedStatistic::kDot:
      return OfElementKind(
          type, columns.OfPairs<Int128>([&](uint64_t x, uint64_t y) { return columns.Dot(x, y); }));
    case PairedStatistic::kCovariance:
      return columns.OfPairs<double>(
          [&](uint64_t x, uint64_t y) { return columns.Covariance(x, y); });
    case PairedStatistic::kCorrelation:
      return columns.OfPairs<double>(
          [&](uint64_t x, uint64_t y) { return columns.Correlation(x, y); });
    case PairedStatistic::kMean: return columns.OfEach([&](uint64_t x) { return columns.Mean(x); });
    case PairedStatistic::kVariance:
      return columns.OfEach([&](uint64_t x) { return columns.Covariance(x, x); });
  }
  return {};
}

}  // namespace

KnownRelation ComputeKnownRelation(const RequestKind& kind, const OperationValues& values) {
  const Columns columns(kind, values);
  KnownRelation known{.column_count = columns.column_count(),
                      .observation_count = columns.observation_count(),
                      .entries = {}};
  for (const PairedStatistic statistic : kind.relations) {
    known.entries.push_back({statistic, RelationsOf(columns, statistic, kind.element_type)});
  }
  return known;
}

std::string Difference(const KnownRelation& known, const client::RelateResult& result) {
  if (result.column_count != known.column_count ||
      result.observation_count != known.observation_count) {
    return absl::StrCat(result.observation_count, " observations of ", result.column_count,
                        " columns, not ", known.observation_count, " of ", known.column_count);
  }
  return EntryDifference(known.entries, result.entries, client::RelationName);
}

}  // namespace gridfold::load
