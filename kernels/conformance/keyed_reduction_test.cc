// Reductions by key: of ranges, of keys that are found, and of bins.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <stop_token>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/conformance/element_codec.h"
#include "kernels/conformance/engine_test.h"
#include "kernels/conformance/keyed_oracle.h"
#include "kernels/conformance/reduction_specs.h"
#include "kernels/conformance/test_data.h"
#include "kernels/contract/invalid_field.h"

namespace gridfold::kernels::conformance {
namespace {

constexpr ElementType kIntegerTypes[] = {
    ElementType::kInt8,  ElementType::kInt16,  ElementType::kInt32,  ElementType::kInt64,
    ElementType::kUint8, ElementType::kUint16, ElementType::kUint32, ElementType::kUint64};

ReductionSpec AllOf(const TestArray& values) {
  ReductionSpec spec = SpecOfAll(values.description(), false);
  spec.overflow_policy = OverflowPolicy::kWrap;
  return spec;
}

KeyRangeSpec Range(int64_t first, uint64_t count) {
  return {.first_key = first, .key_count = count};
}

EvenBinsSpec Even(uint64_t count, double lower, double upper) {
  return {.bin_count = count, .lower_bound = lower, .upper_bound = upper};
}

// Keys that lie in one way or another: `kind` is one of kKeyKinds.
constexpr const char* kKeyKinds[] = {"one", "few", "many", "distinct", "sorted", "skewed"};
TestArray MakeKeys(ElementType type, uint64_t size, const std::string& kind, uint64_t seed) {
  TestArray keys(ArrayDescription::Vector(type, size), seed % 2);
  std::mt19937_64 random(seed);
  std::vector<long double> drawn(size);
  for (uint64_t i = 0; i < size; ++i) {
    const auto uniform = static_cast<double>(random() >> 11) * 0x1p-53;
    if (kind == "one") drawn[i] = 7;
    if (kind == "few") drawn[i] = static_cast<double>(random() % 5);
    if (kind == "many" || kind == "sorted") drawn[i] = static_cast<double>(random() % 100);
    if (kind == "distinct") drawn[i] = static_cast<double>((i * 7919) % size);
    if (kind == "skewed") drawn[i] = std::min(100.0, std::floor(1 / (uniform + 1e-9)));
  }
  if (kind == "sorted") std::sort(drawn.begin(), drawn.end());
  for (uint64_t i = 0; i < size; ++i) keys.Set(i, drawn[i]);
  return keys;
}

class KeyedReductionTest : public EngineTest {
 protected:
  // Of the spec, and of sums alone, for which engines may go another way.
  void CheckFound(const TestArray& keys, const TestArray& values, const ReductionSpec& spec) {
    CheckFoundAlone(keys, values, spec);
    CheckFoundAlone(keys, values, SumsOf(spec));
  }
  void CheckRange(const TestArray& keys, const TestArray& values, const ReductionSpec& spec,
                  const KeyRangeSpec& range) {
    CheckRangeAlone(keys, values, spec, range);
    CheckRangeAlone(keys, values, SumsOf(spec), range);
  }

  static ReductionSpec SumsOf(ReductionSpec spec) {
    spec.statistics = {Statistic::kMean, Statistic::kSum, Statistic::kCount};
    return spec;
  }

  void CheckFoundAlone(const TestArray& keys, const TestArray& values, const ReductionSpec& spec) {
    const auto run = ReduceByKey(engine(), keys, values, {FoundKeysSpec{}, spec});
    ASSERT_TRUE(run.ok()) << run.status();
    CheckKeyed(ElementsByKey(keys), values, spec, std::nullopt, 0, run->answer);
  }

  void CheckRangeAlone(const TestArray& keys, const TestArray& values, const ReductionSpec& spec,
                       const KeyRangeSpec& range) {
    const auto run = ReduceByKey(engine(), keys, values, {range, spec});
    ASSERT_TRUE(run.ok()) << run.status();
    const __int128 first = range.first_unsigned_key != 0 ? __int128{range.first_unsigned_key}
                                                         : __int128{range.first_key};
    CheckKeyed(ElementsByKey(keys), values, spec, range.key_count, first, run->answer);
  }

  void ExpectRefused(const TestArray& keys, const TestArray& values, const KeyedReductionSpec& spec,
                     const std::string& field, const std::string& text) {
    const auto run = ReduceByKey(engine(), keys, values, spec);
    EXPECT_EQ(run.status().code(), absl::StatusCode::kInvalidArgument) << run.status();
    EXPECT_EQ(FieldOf(run.status()), field);
    EXPECT_THAT(std::string(run.status().message()), testing::HasSubstr(text));
  }
};

TEST_P(KeyedReductionTest, EveryTypeOfKeysAndValues) {
  uint64_t seed = 1;
  for (const ElementType key_type : kIntegerTypes) {
    for (const ElementType type : kAllTypes) {
      const TestArray keys =
          MakeUniform(key_type, 257, std::max(SmallestElement(key_type), -20.0L), 30, ++seed);
      const TestArray values = MakeVector(type, 257, DataKind::kWide, seed + 1, seed % 2);
      CheckFound(keys, values, AllOf(values));
      CheckRange(keys, values, AllOf(values), Range(IsUnsigned(key_type) ? 0 : -25, 60));
    }
  }
}

TEST_P(KeyedReductionTest, EverySizeAndLieOfKeys) {
  for (const uint64_t size : SizesAtEdges()) {
    if (size > 40'000) continue;
    for (const std::string kind : kKeyKinds) {
      const TestArray keys = MakeKeys(ElementType::kInt32, size, kind, size + 1);
      const TestArray values = MakeVector(ElementType::kInt32, size, DataKind::kWide, size);
      const ReductionSpec spec =
          SpecOf({Statistic::kSum, Statistic::kArgmin, Statistic::kArgmax, Statistic::kCount});
      SCOPED_TRACE(testing::Message() << kind << " " << size);
      CheckFound(keys, values, spec);
      CheckRange(keys, values, spec, Range(0, std::max<uint64_t>(size, 101)));
    }
  }
}

// As many as keep several threads, or blocks, busy.
TEST_P(KeyedReductionTest, ManyElements) {
  constexpr uint64_t kSize = 700'001;
  for (const auto& [key_type, kind] : {std::pair{ElementType::kInt32, "many"},
                                       {ElementType::kInt64, "skewed"},
                                       {ElementType::kUint32, "distinct"},
                                       {ElementType::kUint16, "one"},
                                       {ElementType::kInt16, "sorted"}}) {
    SCOPED_TRACE(kind);
    const TestArray keys = MakeKeys(key_type, kSize, kind, 5);
    const TestArray values = MakeVector(ElementType::kFloat32, kSize, DataKind::kWide, 6);
    const auto run =
        ReduceByKey(engine(), keys, values,
                    {FoundKeysSpec{}, SpecOf({Statistic::kNonzeroCount, Statistic::kArgmax})});
    ASSERT_TRUE(run.ok()) << run.status();
    std::map<int64_t, std::pair<uint64_t, uint64_t>> expected;  // Nonzero count, place of the max.
    for (uint64_t i = 0; i < kSize; ++i) {
      auto [entry, is_new] = expected.try_emplace(static_cast<int64_t>(keys[i]), 0, i);
      entry->second.first += values[i] != 0 ? 1 : 0;
      if (values[i] > values[entry->second.second]) entry->second.second = i;
    }
    ASSERT_EQ(run->answer.keys.size(), expected.size());
    uint64_t g = 0;
    for (const auto& [key, facts] : expected) {
      ASSERT_EQ(run->answer.keys[g], static_cast<uint64_t>(key));
      ASSERT_EQ(run->answer.columns[0].slots[g], facts.first) << key;
      ASSERT_EQ(run->answer.columns[1].slots[g], facts.second) << key;
      ++g;
    }
  }
}

TEST_P(KeyedReductionTest, TheBitsDoNotDependOnWhereKeysLie) {
  for (const ElementType type : {ElementType::kFloat16, ElementType::kBfloat16,
                                 ElementType::kFloat32, ElementType::kFloat64}) {
    const TestArray keys = MakeKeys(ElementType::kInt16, 5000, "skewed", 3);
    const TestArray values = MakeVector(type, 5000, DataKind::kWide, 4);
    const ReductionSpec spec = SpecOf({Statistic::kSum, Statistic::kMean, Statistic::kVariance,
                                       Statistic::kL2Norm, Statistic::kL1Norm});
    CheckFound(keys, values, spec);
    std::vector<uint64_t> places(5000);
    std::iota(places.begin(), places.end(), 0);
    std::shuffle(places.begin(), places.end(), std::mt19937(8));
    TestArray other_keys(keys.description());
    TestArray other_values(values.description());
    for (uint64_t i = 0; i < places.size(); ++i) {
      other_keys.Set(i, keys[places[i]]);
      other_values.Set(i, values[places[i]]);
    }
    const auto a = ReduceByKey(engine(), keys, values, {FoundKeysSpec{}, spec});
    const auto b = ReduceByKey(engine(), other_keys, other_values, {FoundKeysSpec{}, spec});
    ASSERT_TRUE(a.ok() && b.ok());
    for (size_t s = 0; s < spec.statistics.size(); ++s) {
      EXPECT_EQ(a->answer.columns[s].slots, b->answer.columns[s].slots);
    }
  }
}

TEST_P(KeyedReductionTest, NansAndDegreesOfFreedom) {
  for (const ElementType type : {ElementType::kFloat16, ElementType::kFloat64}) {
    for (const NanPolicy policy : NanPoliciesFor(type)) {
      const TestArray keys = MakeKeys(ElementType::kUint8, 600, "many", 11);
      const TestArray values = MakeVector(type, 600, DataKind::kSpecial, 12);
      ReductionSpec spec = AllOf(values);
      RemoveIndices(spec);
      spec.nan_policy = policy;
      spec.delta_degrees_of_freedom = 6;  // As many as some groups have elements, and more.
      CheckFound(keys, values, spec);
      CheckRange(keys, values, spec, Range(0, 256));
    }
  }
}

TEST_P(KeyedReductionTest, KeysAtTheEndsOfTheirTypes) {
  const TestArray values = TestArray::Vector(ElementType::kInt32, {1, 2, 4, 8});
  const ReductionSpec spec = SpecOf({Statistic::kSum});
  for (const ElementType type : kIntegerTypes) {
    const long double least = SmallestElement(type);
    const long double largest = LargestElement(type);
    CheckFound(TestArray::Vector(type, {largest, least, largest, least}), values, spec);
    CheckFound(TestArray::Vector(type, {least, least, largest, largest}), values, spec);
    KeyRangeSpec last{.key_count = 3};
    if (IsUnsigned(type)) {
      last.first_unsigned_key = static_cast<uint64_t>(largest) - 2;
    } else {
      last.first_key = static_cast<int64_t>(largest) - 2;
    }
    CheckRange(TestArray::Vector(type, {largest, largest - 2, largest, largest}), values, spec,
               last);
  }
}

TEST_P(KeyedReductionTest, Bins) {
  const TestArray values = MakeVector(ElementType::kFloat32, 3001, DataKind::kSmall, 21);
  ReductionSpec spec = AllOf(values);
  for (const ElementType type :
       {ElementType::kFloat32, ElementType::kFloat64, ElementType::kFloat16, ElementType::kInt16}) {
    TestArray keys = MakeUniform(type, 3001, -3, 12, 22);
    if (IsFloatingPoint(type)) keys.Set(17, std::nanl(""));
    for (const BinSpec& bins :
         {BinSpec(Even(7, 0, 10)), BinSpec(EdgeBinsSpec{{-1, 0, 0.5, 4, 9}}),
          BinSpec(LogarithmicBinsSpec{5, 0.5, 10}),
          BinSpec(EvenBinsSpec{.bin_count = 9, .lower_bound = {}, .upper_bound = {}})}) {
      for (const auto policy : {OutOfRangePolicy::kDrop, OutOfRangePolicy::kClamp}) {
        const auto run =
            ReduceByKey(engine(), keys, values,
                        {KeyBinsSpec{.bins = {bins}, .out_of_range_policy = policy}, spec});
        ASSERT_TRUE(run.ok()) << run.status();
        const std::vector<double> edges = EdgesOf(run->result.bins[0]);
        const bool clamp = policy == OutOfRangePolicy::kClamp;
        const BinnedAxes axes{.keys = {&keys}, .edges = {edges}};
        CheckKeyed(ElementsByBin(axes, clamp), values, spec, edges.size() - 1, 0, run->answer);
        ExpectOutside(CountOutside(axes), run->result);
      }
    }
  }
}

// Whether or not coordinates come in order, and whatever is asked of the values.
TEST_P(KeyedReductionTest, BinsOfCoordinatesInOrder) {
  const TestArray values = MakeVector(ElementType::kFloat64, 5000, DataKind::kSpecial, 31);
  for (const bool is_sorted : {false, true}) {
    std::vector<long double> drawn(5000);
    std::mt19937_64 random(32);
    for (long double& x : drawn) x = static_cast<double>(random() % 1000) / 50;
    if (is_sorted) std::sort(drawn.begin(), drawn.end());
    const TestArray keys = TestArray::Vector(ElementType::kFloat32, drawn);
    for (const BinSpec& bins : {BinSpec(Even(100, 0, 20)), BinSpec(Even(30, 2, 15)),
                                BinSpec(EdgeBinsSpec{{0, 1, 2, 4, 8}})}) {
      const ReductionSpec all = SpecOf({Statistic::kMax, Statistic::kVariance, Statistic::kSum});
      for (const ReductionSpec& spec : {all, SumsOf(all)}) {
        const auto run = ReduceByKey(engine(), keys, values, {KeyBinsSpec{.bins = {bins}}, spec});
        ASSERT_TRUE(run.ok()) << run.status();
        const std::vector<double> edges = EdgesOf(run->result.bins[0]);
        const BinnedAxes axes{.keys = {&keys}, .edges = {edges}};
        CheckKeyed(ElementsByBin(axes, false), values, spec, edges.size() - 1, 0, run->answer);
        ExpectOutside(CountOutside(axes), run->result);
      }
    }
  }
}

// Groups whose sums are zeros of either sign, infinite, or not a number.
TEST_P(KeyedReductionTest, SumsThatAreNoOrdinaryNumbers) {
  const long double infinity = std::numeric_limits<long double>::infinity();
  const long double nan = std::numeric_limits<long double>::quiet_NaN();
  for (const ElementType type : {ElementType::kFloat16, ElementType::kBfloat16,
                                 ElementType::kFloat32, ElementType::kFloat64}) {
    std::vector<long double> keys;
    std::vector<long double> values;
    for (int repeat = 0; repeat < 40; ++repeat) {
      for (const auto& [key, value] : std::vector<std::pair<int, long double>>{{0, -0.0L},
                                                                               {1, -0.0L},
                                                                               {1, 0.0L},
                                                                               {2, 1.0L},
                                                                               {2, -1.0L},
                                                                               {3, infinity},
                                                                               {3, 5.0L},
                                                                               {4, infinity},
                                                                               {4, -infinity},
                                                                               {5, nan},
                                                                               {6, 0.5L},
                                                                               {9, -infinity}}) {
        keys.push_back(key);
        values.push_back(value);
      }
    }
    const TestArray of_keys = TestArray::Vector(ElementType::kUint32, keys);
    const TestArray of_values = TestArray::Vector(type, values);
    CheckFound(of_keys, of_values, SpecOf({Statistic::kSum}));
    CheckRange(of_keys, of_values, SpecOf({Statistic::kSum}), Range(-2, 14));
  }
}

TEST_P(KeyedReductionTest, NoElementsAndNoneInABin) {
  const TestArray no_keys(ArrayDescription::Vector(ElementType::kInt32, 0));
  const TestArray nothing(ArrayDescription::Vector(ElementType::kInt16, 0));
  CheckFound(no_keys, nothing, AllOf(nothing));
  CheckRange(no_keys, nothing, AllOf(nothing), Range(5, 3));
  const TestArray keys = TestArray::Vector(ElementType::kFloat32, {9, 9, 9});
  const TestArray values = TestArray::Vector(ElementType::kUint8, {1, 2, 3});
  const auto run =
      ReduceByKey(engine(), keys, values, {KeyBinsSpec{.bins = {Even(2, 0, 1)}}, AllOf(values)});
  ASSERT_TRUE(run.ok()) << run.status();
  CheckKeyed({}, values, AllOf(values), 2, 0, run->answer);
  EXPECT_EQ(run->result.overflow_count, 3u);
}

TEST_P(KeyedReductionTest, BadKeysAreNamed) {
  const TestArray keys = TestArray::Vector(ElementType::kInt32, {0, 1, 300, -4});
  const TestArray values = TestArray::Vector(ElementType::kInt8, {1, 2, 3, 4});
  const ReductionSpec sum = SpecOf({Statistic::kSum});
  ExpectRefused(keys, values, {Range(0, 256), sum}, "keys", "key 300 of element 2");
  ExpectRefused(keys, values, {Range(0, 301), sum}, "keys", "key -4 of element 3");
  ExpectRefused(keys, values, {FoundKeysSpec{3}, sum}, "found.key_count_max", "more than 3");
  ExpectRefused(keys, values, {Range(0, 0), sum}, "range.key_count", "");
  ExpectRefused(keys, values, {Range(0, uint64_t{1} << 40), sum}, "range.key_count", "more than");
  ExpectRefused(keys, values, {KeyRangeSpec{0, 1, 1}, sum}, "range.first_unsigned_key", "int32");
  const TestArray reals = TestArray::Vector(ElementType::kFloat32, {0, 1, 2, 3});
  ExpectRefused(reals, values, {FoundKeysSpec{}, sum}, "keys", "float32");
  ExpectRefused(reals, values, {Range(0, 9), sum}, "keys", "float32");
  ExpectRefused(reals, values, {KeyBinsSpec{.bins = {Even(0, 0, 1)}}, sum},
                "bins.bins[0].even.bin_count", "");
  ExpectRefused(TestArray::Vector(ElementType::kInt32, {0}), values, {FoundKeysSpec{}, sum},
                "values", "4 elements");
  ExpectRefused(keys, values, {FoundKeysSpec{}, SpecOf({})}, "statistics", "at least one");
}

TEST_P(KeyedReductionTest, AnOverflowIsAnError) {
  const TestArray keys = TestArray::Vector(ElementType::kInt8, {3, 1, 3});
  const long double large = LargestElement(ElementType::kInt64);
  const TestArray values = TestArray::Vector(ElementType::kInt64, {large, 1, large});
  const auto run =
      ReduceByKey(engine(), keys, values, {FoundKeysSpec{}, SpecOf({Statistic::kSum})});
  EXPECT_EQ(run.status().code(), absl::StatusCode::kOutOfRange) << run.status();
}

// Unsigned keys near 2^64 are not the negative numbers with which a range begins.
TEST_P(KeyedReductionTest, RangesFromBelowZeroHoldNoLargeKeys) {
  const long double largest = LargestElement(ElementType::kUint64);
  const TestArray values = TestArray::Vector(ElementType::kInt8, {1, 2});
  const ReductionSpec sum = SpecOf({Statistic::kSum});
  CheckRange(TestArray::Vector(ElementType::kUint64, {3, 0}), values, sum, Range(-5, 10));
  ExpectRefused(TestArray::Vector(ElementType::kUint64, {3, largest}), values, {Range(-5, 10), sum},
                "keys", "of element 1");
}

TEST_P(KeyedReductionTest, ResidentArrays) {
  constexpr uint64_t kSize = 30'000;
  LaneOptions options = kRoomyLane;
  options.input_bytes_max = 4096;
  options.resident_input_bytes_max = kSize * 8;
  EngineUnderTest resident(GetParam(), options);
  const auto pool = resident.engine().CreateResidentPool(uint64_t{1} << 20).value();
  const TestArray keys = MakeKeys(ElementType::kUint16, kSize, "many", 41);
  const TestArray values = MakeVector(ElementType::kFloat64, kSize, DataKind::kWide, 42);
  const auto memory = pool->Allocate(kSize * 12).value();
  // Values of 8 bytes first, so that both are aligned.
  const MutableResidentSpan values_at{memory->span().data, kSize * 8};
  const MutableResidentSpan keys_at{memory->span().data + kSize * 8, kSize * 2};
  ASSERT_TRUE(resident.lane().Copy(values.span(), values_at, {}).ok());
  ASSERT_TRUE(resident.lane().Copy(keys.span(), keys_at, {}).ok());
  const ReductionSpec spec = SpecOf({Statistic::kSum, Statistic::kArgmin, Statistic::kMean});
  auto plan = OutlineKeyedReduction(keys.description(), values.description(),
                                    {FoundKeysSpec{}, spec}, kRoomyLane.group_count_max)
                  .value();
  RunStatistics statistics;
  const auto room = RoomFor(resident, plan);
  ASSERT_TRUE(room.ok()) << room.status();
  auto result = resident.lane().RunKeyedReduction(
      plan,
      {.keys = ResidentSpan(keys_at), .values = ResidentSpan(values_at), .room = room->span()}, {},
      statistics);
  ASSERT_TRUE(result.ok()) << result.status();
  CheckKeyed(ElementsByKey(keys), values, spec, std::nullopt, 0,
             SpreadGroups(plan, *std::move(result)));
}

TEST_P(KeyedReductionTest, AJobIsNoLargerThanTheLane) {
  LaneOptions small = kRoomyLane;
  small.group_count_max = 10;
  EngineUnderTest lane(GetParam(), small);
  const TestArray keys = MakeKeys(ElementType::kInt32, 1000, "many", 51);
  const TestArray values = MakeVector(ElementType::kInt32, 1000, DataKind::kSmall, 52);
  const auto run = ReduceByKey(lane, keys, values, {FoundKeysSpec{}, SpecOf({Statistic::kSum})});
  EXPECT_EQ(run.status().code(), absl::StatusCode::kResourceExhausted) << run.status();
}

// As folds allow it, whose batches bound the number of keys.
TEST_P(KeyedReductionTest, AnyNumberOfKeysMayOccur) {
  const TestArray keys = MakeKeys(ElementType::kUint64, 1000, "many", 71);
  const TestArray values = MakeVector(ElementType::kInt32, 1000, DataKind::kSmall, 72);
  const ReductionSpec spec = SpecOf({Statistic::kSum});
  auto plan = OutlineKeyedReduction(keys.description(), values.description(),
                                    {FoundKeysSpec{}, spec}, std::numeric_limits<uint64_t>::max())
                  .value();
  RunStatistics statistics;
  const auto room = RoomFor(engine(), plan);
  ASSERT_TRUE(room.ok()) << room.status();
  auto result = engine().lane().RunKeyedReduction(
      plan, {.keys = keys.span(), .values = values.span(), .room = room->span()}, {}, statistics);
  ASSERT_TRUE(result.ok()) << result.status();
  CheckKeyed(ElementsByKey(keys), values, spec, std::nullopt, 0,
             SpreadGroups(plan, *std::move(result)));
}

TEST_P(KeyedReductionTest, AStoppedJobIsCancelled) {
  const TestArray keys = MakeKeys(ElementType::kInt32, 1000, "many", 61);
  const TestArray values = MakeVector(ElementType::kInt32, 1000, DataKind::kSmall, 62);
  const auto plan = OutlineKeyedReduction(keys.description(), values.description(),
                                          {FoundKeysSpec{}, SpecOf({Statistic::kSum})}, 1000)
                        .value();
  std::stop_source source;
  source.request_stop();
  RunStatistics statistics;
  const auto room = RoomFor(engine(), plan);
  ASSERT_TRUE(room.ok()) << room.status();
  const auto result = engine().lane().RunKeyedReduction(
      plan, {.keys = keys.span(), .values = values.span(), .room = room->span()},
      source.get_token(), statistics);
  EXPECT_EQ(result.status().code(), absl::StatusCode::kCancelled);
}

INSTANTIATE_TEST_SUITE_P(Cpu, KeyedReductionTest, testing::Values(kCpuCase), NameOfCase);
INSTANTIATE_TEST_SUITE_P(Cuda, KeyedReductionTest, testing::Values(kCudaCase), NameOfCase);

}  // namespace
}  // namespace gridfold::kernels::conformance
