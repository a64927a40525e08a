#include "kernels/conformance/keyed_oracle.h"

#include <bit>
#include <cmath>
#include <stop_token>
#include <utility>

#include "gtest/gtest.h"
#include "kernels/conformance/group_facts.h"
#include "kernels/conformance/order_oracle.h"
#include "kernels/conformance/reduction_oracle.h"

namespace gridfold::kernels::conformance {

namespace {

// The bin of x by linear search, or none.
std::optional<uint64_t> BinOf(long double x, const std::vector<double>& edges, bool clamp) {
  const uint64_t bins = edges.size() - 1;
  if (std::isnan(x)) return std::nullopt;
  if (x < edges.front()) return clamp ? std::optional<uint64_t>(0) : std::nullopt;
  if (x > edges.back()) return clamp ? std::optional<uint64_t>(bins - 1) : std::nullopt;
  for (uint64_t bin = 0; bin + 1 < bins; ++bin) {
    if (x < edges[bin + 1]) return bin;
  }
  return bins - 1;
}

// What a statistic of no elements must be.
bool IsNothing(Statistic statistic, ElementType type, const ReductionSpec& spec, uint64_t slot) {
  if (statistic == Statistic::kArgmin || statistic == Statistic::kArgmax)
    return slot == ~uint64_t{0};
  if (TraitsOf(statistic).needs_elements) {
    const bool is_double = ValueKindOf(statistic, type) == ValueKind::kDouble;
    return is_double ? std::isnan(std::bit_cast<double>(slot)) : slot == 0;
  }
  const TestArray none(ArrayDescription::Vector(type, 0));
  const ExpectedValue expected =
      ExpectStatistic(statistic, type, ExamineGroup(none, {0, 1, 0}, false), spec);
  return slot == expected.bits;
}

bool IsExpected(Statistic statistic, const TestArray& values, const ReductionSpec& spec,
                const std::vector<uint64_t>& elements, const GroupFacts& facts, uint64_t slot) {
  ExpectedValue expected = ExpectStatistic(statistic, values.type(), facts, spec);
  if (TraitsOf(statistic).is_index) expected.bits = elements[expected.bits];
  if (expected.kind == ExpectedValue::Kind::kNan) return std::isnan(std::bit_cast<double>(slot));
  return expected.kind == ExpectedValue::Kind::kBits && slot == expected.bits;
}

// Runs the plan on copies of its input in the engine's memory, which engines may read in other
// ways, and expects the same answer.
void ExpectSameOfResident(EngineUnderTest& engine, const KeyedReductionPlan& plan,
                          const KeyedInput& input, const KeyedReductionResult& expected) {
  std::vector<const InputSpan*> arrays = {&input.keys, &input.values};
  for (const InputSpan& keys : input.further_keys) arrays.push_back(&keys);
  uint64_t pool_bytes = 0;
  for (const InputSpan* array : arrays) pool_bytes += ResidentBytesTaken(SizeBytes(*array));
  auto pool = engine.engine().CreateResidentPool(pool_bytes);
  ASSERT_TRUE(pool.ok()) << pool.status();
  std::vector<std::unique_ptr<ResidentMemory>> copies;
  for (const InputSpan* array : arrays) {
    auto memory = (*pool)->Allocate(SizeBytes(*array));
    ASSERT_TRUE(memory.ok()) << memory.status();
    copies.push_back(*std::move(memory));
    const absl::Status copied = engine.lane().Copy(*array, copies.back()->span(), {});
    ASSERT_TRUE(copied.ok()) << copied;
  }
  KeyedInput resident{.keys = ResidentSpan(copies[0]->span()),
                      .values = ResidentSpan(copies[1]->span()),
                      .room = input.room};
  for (size_t i = 2; i < copies.size(); ++i) {
    resident.further_keys.push_back(ResidentSpan(copies[i]->span()));
  }
  RunStatistics statistics;
  const auto result = engine.lane().RunKeyedReduction(plan, resident, {}, statistics);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->groups, expected.groups);
  EXPECT_EQ(result->offsets, expected.offsets);
  EXPECT_EQ(result->quantiles.slots, expected.quantiles.slots);
  EXPECT_EQ(result->underflow_count, expected.underflow_count);
  EXPECT_EQ(result->overflow_count, expected.overflow_count);
  EXPECT_EQ(result->nan_count, expected.nan_count);
  ASSERT_EQ(result->reduction.columns.size(), expected.reduction.columns.size());
  for (size_t i = 0; i < expected.reduction.columns.size(); ++i) {
    EXPECT_EQ(result->reduction.columns[i].slots, expected.reduction.columns[i].slots)
        << StatisticName(expected.reduction.columns[i].statistic) << " " << statistics.strategy;
  }
}

// Of a group's elements alone.
TestArray Gather(const TestArray& values, const std::vector<uint64_t>& elements) {
  std::vector<long double> gathered;
  for (const uint64_t i : elements) gathered.push_back(values[i]);
  return TestArray::Vector(values.type(), gathered);
}

}  // namespace

KeyedElements ElementsByKey(const TestArray& keys) {
  KeyedElements groups;
  for (uint64_t i = 0; i < keys.size(); ++i) groups[static_cast<__int128>(keys[i])].push_back(i);
  return groups;
}

KeyedElements ElementsByBin(const BinnedAxes& axes, bool clamp) {
  KeyedElements groups;
  for (uint64_t i = 0; i < axes.keys.front()->size(); ++i) {
    std::optional<uint64_t> group = 0;
    for (size_t axis = 0; axis < axes.keys.size() && group; ++axis) {
      const std::vector<double>& edges = axes.edges[axis];
      const auto bin = BinOf((*axes.keys[axis])[i], edges, clamp);
      group = bin ? std::optional(*group * (edges.size() - 1) + *bin) : std::nullopt;
    }
    if (group) groups[*group].push_back(i);
  }
  return groups;
}

OutsideBins CountOutside(const BinnedAxes& axes) {
  OutsideBins counted;
  for (uint64_t i = 0; i < axes.keys.front()->size(); ++i) {
    uint64_t* counter = nullptr;
    for (size_t axis = axes.keys.size(); axis-- > 0;) {
      const long double x = (*axes.keys[axis])[i];
      if (x < axes.edges[axis].front()) counter = &counted.below;
      if (x > axes.edges[axis].back()) counter = &counted.above;
    }
    for (const TestArray* const keys : axes.keys) {
      if (std::isnan((*keys)[i])) counter = &counted.nan;
    }
    if (counter != nullptr) ++*counter;
  }
  return counted;
}

void ExpectOutside(const OutsideBins& expected, const KeyedReductionResult& result) {
  EXPECT_EQ(result.underflow_count, expected.below);
  EXPECT_EQ(result.overflow_count, expected.above);
  EXPECT_EQ(result.nan_count, expected.nan);
}

absl::StatusOr<Room> RoomFor(EngineUnderTest& engine, const KeyedReductionPlan& plan) {
  Room room;
  const uint64_t size_bytes = engine.lane().KeyedRoomBytes(plan);
  if (size_bytes == 0) return room;
  absl::StatusOr<std::unique_ptr<ResidentPool>> pool =
      engine.engine().CreateResidentPool(ResidentBytesTaken(size_bytes));
  if (!pool.ok()) return pool.status();
  room.pool = *std::move(pool);
  absl::StatusOr<std::unique_ptr<ResidentMemory>> memory = room.pool->Allocate(size_bytes);
  if (!memory.ok()) return memory.status();
  room.memory = *std::move(memory);
  return room;
}

absl::StatusOr<KeyedRun> ReduceByKey(EngineUnderTest& engine, const TestArray& keys,
                                     const TestArray& values, const KeyedReductionSpec& spec,
                                     std::vector<InputSpan> further_keys) {
  absl::StatusOr<KeyedReductionPlan> plan = OutlineKeyedReduction(
      keys.description(), values.description(), spec, kRoomyLane.group_count_max);
  if (!plan.ok()) return plan.status();
  if (absl::Status status = CompletePlan({}, *plan); !status.ok()) return status;
  KeyedInput input{
      .keys = keys.span(), .further_keys = std::move(further_keys), .values = values.span()};
  const absl::StatusOr<Room> room = RoomFor(engine, *plan);
  if (!room.ok()) return room.status();
  input.room = room->span();
  RunStatistics statistics;
  absl::StatusOr<KeyedReductionResult> result =
      engine.lane().RunKeyedReduction(*plan, input, std::stop_token(), statistics);
  if (!result.ok()) return result.status();
  if (keys.size() > 0) ExpectSameOfResident(engine, *plan, input, *result);
  KeyedAnswer answer = SpreadGroups(*plan, *result);
  return KeyedRun{*std::move(result), std::move(answer)};
}

void CheckKeyed(const KeyedElements& groups, const TestArray& values, const ReductionSpec& spec,
                std::optional<uint64_t> dense_count, __int128 first, const KeyedAnswer& answer) {
  const bool ignore_nan = spec.nan_policy == NanPolicy::kIgnore;
  ASSERT_EQ(answer.counts.size(), dense_count.value_or(groups.size()));
  ASSERT_EQ(answer.columns.size(), spec.statistics.size());
  std::vector<bool> has_elements(answer.counts.size());
  uint64_t next = 0;
  for (const auto& [key, elements] : groups) {
    const uint64_t g = dense_count ? static_cast<uint64_t>(key - first) : next++;
    ASSERT_LT(g, answer.counts.size());
    has_elements[g] = true;
    if (!dense_count) {
      ASSERT_EQ(answer.keys[g], static_cast<uint64_t>(key));
    }
    ASSERT_EQ(answer.counts[g], elements.size()) << "group " << g;
    const GroupFacts facts =
        ExamineGroup(Gather(values, elements), {0, 1, elements.size()}, ignore_nan);
    for (size_t s = 0; s < spec.statistics.size(); ++s) {
      const Statistic statistic = spec.statistics[s];
      ASSERT_TRUE(IsExpected(statistic, values, spec, elements, facts, answer.columns[s].slots[g]))
          << StatisticName(statistic) << " of group " << g << ", " << Describe(values.description())
          << ": " << answer.columns[s].slots[g];
    }
  }
  for (uint64_t g = 0; g < has_elements.size(); ++g) {
    if (has_elements[g]) continue;
    ASSERT_EQ(answer.counts[g], 0u);
    for (size_t s = 0; s < spec.statistics.size(); ++s) {
      ASSERT_TRUE(IsNothing(spec.statistics[s], values.type(), spec, answer.columns[s].slots[g]))
          << StatisticName(spec.statistics[s]) << " of group " << g
          << " of nothing: " << answer.columns[s].slots[g];
    }
  }
}

void CheckKeyedQuantiles(const KeyedElements& groups, const TestArray& values,
                         const KeyedReductionSpec& spec, std::optional<uint64_t> dense_count,
                         __int128 first, const KeyedAnswer& answer) {
  ASSERT_EQ(answer.quantiles.size(), spec.quantiles.size());
  const QuantileSpec of_group{.quantiles = spec.quantiles,
                              .method = spec.quantile_method,
                              .nan_policy = spec.reduction.nan_policy};
  const bool is_double = IsFloatingPoint(values.type()) || Interpolates(spec.quantile_method);
  const uint64_t group_count = dense_count.value_or(groups.size());
  std::vector<bool> has_elements(group_count);
  uint64_t next = 0;
  for (const auto& [key, elements] : groups) {
    const uint64_t g = dense_count ? static_cast<uint64_t>(key - first) : next++;
    SCOPED_TRACE(testing::Message() << "key " << static_cast<int64_t>(key));
    QuantileResult found;
    for (const std::vector<uint64_t>& slots : answer.quantiles) {
      ASSERT_EQ(slots.size(), group_count);
      found.slots.push_back(slots[g]);
    }
    has_elements[g] = true;
    CheckQuantiles(Gather(values, elements), of_group, found);
    if (testing::Test::HasFailure()) return;
  }
  for (uint64_t g = 0; g < group_count; ++g) {
    if (has_elements[g]) continue;
    for (const std::vector<uint64_t>& slots : answer.quantiles) {
      ASSERT_EQ(slots[g], is_double ? kNanSlot : 0) << "group " << g << " of nothing";
    }
  }
}

}  // namespace gridfold::kernels::conformance
