#include <cmath>
#include <limits>
#include <optional>

#include "absl/strings/str_cat.h"
#include "client/load/work/group_walk.h"
#include "client/load/work/known_answer.h"

namespace gridfold::load {
namespace {

using client::Statistic;
using client::StatisticValues;
__extension__ using Int128 = __int128;
// 113 bits of significand: so many more than a double's that rounding quotients and roots twice
// makes no difference.
__extension__ using Float128 = __float128;

// What is known of a group, exactly.
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

  void Add(int64_t value) {
    if (value < min) {
      min = value;
      argmin = count;
    }
    if (value > max) {
      max = value;
      argmax = count;
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
};

// By a step of Newton's from the double nearest to it.
double SquareRoot(Float128 value) {
  const double close = std::sqrt(static_cast<double>(value));
  if (close == 0) return 0;
  const Float128 root = close;
  return static_cast<double>((root + value / root) / 2);
}

Float128 Variance(const GroupTotals& totals) {
  const auto count = static_cast<Int128>(totals.count);
  const Int128 numerator = count * totals.sum_of_squares - totals.sum * totals.sum;
  return static_cast<Float128>(numerator) / static_cast<Float128>(count * count);
}

// A value of "element kind".
StatisticValues OfElementKind(client::ElementType type, const std::vector<Int128>& numbers) {
  if (type >= client::ElementType::kFloat16) {
    return std::vector<double>(numbers.begin(), numbers.end());
  }
  if (type >= client::ElementType::kUint8) {
    return std::vector<uint64_t>(numbers.begin(), numbers.end());
  }
  return std::vector<int64_t>(numbers.begin(), numbers.end());
}

class Evaluation {
 public:
  Evaluation(const RequestKind& kind, const std::vector<GroupTotals>& groups)
      : kind_(kind), groups_(groups) {}

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
    if (kind_.element_type >= client::ElementType::kFloat16) return Each<double>(range);
    return Each<uint64_t>(range);
  }

  template <typename Get>
  StatisticValues Elements(Get get) const {
    return OfElementKind(kind_.element_type, Each<Int128>(get));
  }

  const RequestKind& kind_;
  const std::vector<GroupTotals>& groups_;
};

}  // namespace

KnownReduction ComputeKnownReduction(const RequestKind& kind, const OperationValues& values) {
  GroupWalk walk(kind, values);
  std::vector<GroupTotals> groups(walk.group_count());
  for (uint64_t i = 0; i < values.elements.size(); ++i) {
    groups[walk.GroupOf(i)].Add(values.elements[i]);
  }
  const Evaluation evaluation(kind, groups);
  KnownReduction known{.group_count = groups.size(), .entries = {}};
  for (const Statistic statistic : kind.statistics) {
    known.entries.push_back({statistic, evaluation.ValuesOf(statistic)});
  }
  return known;
}

std::string Difference(const KnownReduction& known, const client::ReductionResult& result) {
  if (result.group_count != known.group_count) {
    return absl::StrCat(result.group_count, " groups, not ", known.group_count);
  }
  if (result.entries.size() != known.entries.size()) {
    return absl::StrCat(result.entries.size(), " statistics, not ", known.entries.size());
  }
  for (size_t i = 0; i < known.entries.size(); ++i) {
    const client::ReductionResult::Entry& entry = known.entries[i];
    if (result.entries[i].statistic != entry.statistic ||
        result.entries[i].values != entry.values) {
      return absl::StrCat(std::string(client::StatisticName(entry.statistic)), " is wrong");
    }
  }
  return "";
}

}  // namespace gridfold::load
