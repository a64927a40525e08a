#include "client/load/work/group_totals.h"

#include <algorithm>
#include <cstdlib>
#include <variant>

#include "absl/strings/str_cat.h"
#include "client/load/work/element_encoding.h"
#include "client/load/work/known_values.h"

namespace gridfold::load {
namespace {

using client::Statistic;
using client::StatisticValues;

Float128 Variance(const GroupTotals& totals) {
  const auto count = static_cast<Int128>(totals.count);
  const Int128 scaled = ScaledCovariance(count, totals.sum, totals.sum, totals.sum_of_squares);
  return static_cast<Float128>(scaled) / static_cast<Float128>(count * count);
}

class Evaluation {
 public:
  Evaluation(client::ElementType element_type, const std::vector<GroupTotals>& groups)
      : element_type_(element_type), groups_(groups) {}

  StatisticValues ValuesOf(Statistic statistic) const {
    switch (statistic) {
      case Statistic::kCount: return Each<uint64_t>([](auto& t) { return t.count; });
      case Statistic::kArgmin: return Each<uint64_t>([](auto& t) { return t.argmin; });
      case Statistic::kArgmax: return Each<uint64_t>([](auto& t) { return t.argmax; });
      case Statistic::kNonzeroCount: return Each<uint64_t>([](auto& t) { return t.nonzero_count; });
      case Statistic::kNanCount:
      case Statistic::kInfinityCount: return Each<uint64_t>([](auto&) { return 0; });
      case Statistic::kAll: return Each<bool>([](auto& t) { return t.nonzero_count == t.count; });
      case Statistic::kAny: return Each<bool>([](auto& t) { return t.nonzero_count > 0; });
      case Statistic::kMean:
        return Each<double>([](auto& t) {
          return static_cast<Float128>(t.sum) / static_cast<Float128>(Int128{t.count});
        });
      case Statistic::kVariance: return Each<double>([](auto& t) { return Variance(t); });
      case Statistic::kStandardDeviation:
        return Each<double>([](auto& t) { return SquareRoot(Variance(t)); });
      case Statistic::kL1Norm: return Each<double>([](auto& t) { return t.sum_of_magnitudes; });
      case Statistic::kL2Norm:
        return Each<double>(
            [](auto& t) { return SquareRoot(static_cast<Float128>(t.sum_of_squares)); });
      case Statistic::kRange: return Range();
      case Statistic::kRootMeanSquare:
        return Each<double>([](auto& t) {
          return SquareRoot(static_cast<Float128>(t.sum_of_squares) /
                            static_cast<Float128>(Int128{t.count}));
        });
      case Statistic::kStandardError:
        return Each<double>([](auto& t) {
          return SquareRoot(Variance(t) / static_cast<Float128>(Int128{t.count}));
        });
      case Statistic::kSum: return Elements([](auto& t) { return t.sum; });
      case Statistic::kMin: return Elements([](auto& t) { return t.min; });
      case Statistic::kMax: return Elements([](auto& t) { return t.max; });
      case Statistic::kBitwiseAnd: return Elements([](auto& t) { return t.bitwise_and; });
      case Statistic::kBitwiseOr: return Elements([](auto& t) { return t.bitwise_or; });
      case Statistic::kBitwiseXor: return Elements([](auto& t) { return t.bitwise_xor; });
      case Statistic::kProduct:
        return Elements([](auto& t) { return static_cast<int64_t>(t.product); });
    }
    return {};
  }

 private:
  template <typename Value, typename Get>
  std::vector<Value> Each(Get get) const {
    std::vector<Value> values;
    values.reserve(groups_.size());
    for (const GroupTotals& totals : groups_) values.push_back(static_cast<Value>(get(totals)));
    return values;
  }

  StatisticValues Range() const {
    const auto range = [](auto& t) { return t.max - t.min; };
    if (element_type_ >= client::ElementType::kFloat16) return Each<double>(range);
    return Each<uint64_t>(range);
  }

  template <typename Get>
  StatisticValues Elements(Get get) const {
    return OfElementKind(element_type_, Each<Int128>(get));
  }

  const client::ElementType element_type_;
  const std::vector<GroupTotals>& groups_;
};

}  // namespace

void GroupTotals::Add(int64_t value, uint64_t index) {
  if (value < min) {
    min = value;
    argmin = index;
  }
  if (value > max) {
    max = value;
    argmax = index;
  }
  sum += value;
  sum_of_squares += Int128{value} * value;
  sum_of_magnitudes += std::abs(value);
  product *= static_cast<uint64_t>(value);
  nonzero_count += value != 0;
  bitwise_and &= value;
  bitwise_or |= value;
  bitwise_xor ^= value;
  ++count;
}

std::vector<client::ReductionResult::Entry> StatisticsOf(const std::vector<Statistic>& statistics,
                                                         client::ElementType element_type,
                                                         const std::vector<GroupTotals>& groups) {
  const Evaluation evaluation(element_type, groups);
  std::vector<client::ReductionResult::Entry> entries;
  for (const Statistic statistic : statistics) {
    entries.push_back({statistic, evaluation.ValuesOf(statistic)});
  }
  return entries;
}

std::vector<client::ReductionResult::Entry> KnownStatistics(
    const RequestKind& kind, const std::vector<GroupTotals>& groups) {
  auto entries = StatisticsOf(kind.statistics, kind.element_type, groups);
  if (!kind.output_type) return entries;
  for (client::ReductionResult::Entry& entry : entries) {
    auto* const values = std::get_if<std::vector<double>>(&entry.values);
    if (values == nullptr) continue;
    entry.output_type = *kind.output_type;
    for (double& value : *values) value = RoundedToType(*kind.output_type, value);
  }
  return entries;
}

std::string Difference(const std::vector<client::ReductionResult::Entry>& known,
                       const std::vector<client::ReductionResult::Entry>& entries) {
  for (size_t i = 0; i < std::min(known.size(), entries.size()); ++i) {
    if (entries[i].output_type == known[i].output_type) continue;
    return absl::StrCat(std::string(client::StatisticName(known[i].statistic)), " is of ",
                        std::string(client::ElementTypeName(entries[i].output_type)));
  }
  return EntryDifference(known, entries, client::StatisticName);
}

}  // namespace gridfold::load
