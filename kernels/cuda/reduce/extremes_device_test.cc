// Extremes of rows, segments and columns, where nothing else is asked for, against states that the
// host makes element by element.
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/cuda/reduce/plan/tuning.h"
#include "kernels/cuda/reduce/reduce_device_test.h"
#include "kernels/numerics/statistics/reduction_state.h"
#include "kernels/numerics/statistics/statistic_value.h"

namespace gridfold::kernels::cuda {
namespace {

enum class Data { kAnyBits, kFewValues, kMostExtreme, kMostlyNan };
constexpr Data kAllData[] = {Data::kAnyBits, Data::kFewValues, Data::kMostExtreme,
                             Data::kMostlyNan};

// The largest or the smallest of a type: infinities where it has them.
template <class T>
T MostExtreme(bool is_max) {
  if constexpr (FloatingElement<T>) {
    const double infinity = std::numeric_limits<double>::infinity();
    return FromDouble<T>(is_max ? infinity : -infinity);
  } else {
    return is_max ? std::numeric_limits<T>::max() : std::numeric_limits<T>::min();
  }
}

template <class T>
std::vector<T> Values(Data data, uint64_t count) {
  constexpr double kFewNumbers[] = {0.0, -0.0, 1.0, -1.0, 2.5};
  std::mt19937_64 random(count);
  std::vector<T> values(count);
  for (T& x : values) {
    const uint64_t bits = random();
    switch (data) {
      case Data::kAnyBits: std::memcpy(&x, &bits, sizeof(T)); break;
      case Data::kFewValues:
        x = FloatingElement<T> ? FromDouble<T>(kFewNumbers[bits % 5])
                               : FromDouble<T>(static_cast<double>(bits % 3));
        break;
      case Data::kMostExtreme: x = MostExtreme<T>(bits % 2 == 0 && count % 2 == 0); break;
      case Data::kMostlyNan:
        x = FromDouble<T>(static_cast<double>(bits % 7));
        if constexpr (FloatingElement<T>) {
          const double nan = std::numeric_limits<double>::quiet_NaN();
          if (bits % 16 != 0) x = FromDouble<T>(bits % 32 < 16 ? nan : -nan);
        }
        break;
    }
  }
  return values;
}

const std::vector<Statistic> kExtremes = {Statistic::kMin, Statistic::kArgmin, Statistic::kMax,
                                          Statistic::kArgmax};
const std::vector<Statistic> kWithSizes = {Statistic::kCount, Statistic::kMin};

template <class T>
class ReduceExtremesDeviceTest : public ReduceDeviceTest {
 protected:
  // Of each group.
  struct Expected {
    std::vector<ReductionState<T, kExtremesPart>> states;
    std::vector<uint64_t> sizes;
  };

  void ExpectGroups(const ArrayDescription& array, const GroupingSpec& grouping,
                    const std::vector<T>& values, const Expected& expected, bool ignore_nan) {
    const uint64_t groups = expected.states.size();
    constexpr struct {
      int multiprocessors;
      uint64_t misalignment;
    } kPlaces[] = {{1, 3}, {132, 0}, {132, 1}};
    for (const auto& statistics : {kExtremes, kWithSizes, {Statistic::kArgmax}}) {
      // Other kernels count where NaNs are ignored.
      if (ignore_nan && statistics == kWithSizes) continue;
      const auto plan = PlanReduction(
          array, {.statistics = statistics,
                  .grouping = grouping,
                  .nan_policy = ignore_nan ? NanPolicy::kIgnore : NanPolicy::kPropagate});
      ASSERT_TRUE(plan.ok()) << plan.status();
      for (const auto& [multiprocessors, misalignment] : kPlaces) {
        const DeviceArray<T> elements{std::span(values), misalignment};
        const std::vector<uint64_t> slots =
            Slots(*plan, elements.data(), WithMultiprocessors(multiprocessors));
        for (uint64_t i = 0; i < slots.size(); ++i) {
          const Statistic statistic = statistics[i / groups];
          uint64_t slot = 0;
          StatisticValue(statistic, expected.states[i % groups], expected.sizes[i % groups],
                         {.ignore_nan = ignore_nan}, &slot);
          ASSERT_EQ(slots[i], slot)
              << StatisticName(statistic) << " of group " << i % groups << ", misaligned by "
              << misalignment << ", " << multiprocessors << " multiprocessors";
        }
      }
    }
  }

  void ExpectSegments(const std::vector<T>& values, const std::vector<uint64_t>& offsets,
                      const ArrayDescription& array, const GroupingSpec& grouping,
                      bool ignore_nan) {
    Expected expected;
    for (size_t g = 0; g + 1 < offsets.size(); ++g) {
      ReductionState<T, kExtremesPart> state;
      for (uint64_t i = offsets[g]; i < offsets[g + 1]; ++i) {
        state.Add(values[i], i - offsets[g], ignore_nan);
      }
      expected.states.push_back(state);
      expected.sizes.push_back(offsets[g + 1] - offsets[g]);
    }
    ExpectGroups(array, grouping, values, expected, ignore_nan);
  }

  void ExpectRows(const std::vector<T>& values, uint64_t columns, bool ignore_nan) {
    const uint64_t rows = values.size() / columns;
    std::vector<uint64_t> offsets = {0};
    for (uint64_t r = 1; r <= rows; ++r) offsets.push_back(r * columns);
    ExpectSegments(values, offsets, ArrayDescription::Matrix(kElementTypeOf<T>, rows, columns),
                   {GroupingKind::kAxis1, {}}, ignore_nan);
  }

  void ExpectColumns(const std::vector<T>& values, uint64_t columns, bool ignore_nan) {
    const uint64_t rows = values.size() / columns;
    Expected expected{std::vector<ReductionState<T, kExtremesPart>>(columns),
                      std::vector<uint64_t>(columns, rows)};
    for (uint64_t i = 0; i < values.size(); ++i) {
      expected.states[i % columns].Add(values[i], i / columns, ignore_nan);
    }
    ExpectGroups(ArrayDescription::Matrix(kElementTypeOf<T>, rows, columns),
                 {GroupingKind::kAxis0, {}}, values, expected, ignore_nan);
  }

  // Calls expect(values, ignore_nan) for all sorts of data.
  template <class F>
  void ForAllData(uint64_t count, F expect) {
    for (const Data data : kAllData) {
      const std::vector<T> values = Values<T>(data, count);
      for (const bool ignore_nan : {false, true}) {
        if (ignore_nan && !FloatingElement<T>) continue;
        SCOPED_TRACE(testing::Message()
                     << "data " << static_cast<int>(data) << (ignore_nan ? ", NaN ignored" : ""));
        expect(values, ignore_nan);
        if (this->HasFatalFailure()) return;
      }
    }
  }
};

using Types = testing::Types<int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t,
                             uint64_t, Float16, Bfloat16, float, double>;
TYPED_TEST_SUITE(ReduceExtremesDeviceTest, Types);

// Around what a vector, a lane and a turn of a warp have.
TYPED_TEST(ReduceExtremesDeviceTest, OfRows) {
  constexpr uint64_t kTurn = ExtremeTuning::kTurnBytes / sizeof(TypeParam);
  constexpr uint64_t kLane = ExtremeTuning::kBytesPerLane / sizeof(TypeParam);
  constexpr uint64_t kBrief = ExtremeTuning::kBriefElementsMax;
  for (const uint64_t columns :
       {uint64_t{1}, uint64_t{2}, uint64_t{5}, kBrief, kBrief + 1, uint64_t{13}, kLane - 1, kLane,
        kLane + 1, uint64_t{100}, 3 * kLane, kTurn / 2 + 1, kTurn - 1, kTurn, kTurn + 1,
        2 * kTurn + 3, 7 * kTurn}) {
    SCOPED_TRACE(testing::Message() << "rows of " << columns);
    this->ForAllData((1 + 3 * kTurn / columns) * columns, [&](const auto& values, bool ignore_nan) {
      this->ExpectRows(values, columns, ignore_nan);
    });
    if (this->HasFatalFailure()) return;
  }
}

// So many that a warp takes BriefExtremeTuning::kTurnRowsMax together, of which the last are fewer.
TYPED_TEST(ReduceExtremesDeviceTest, OfVeryManyBriefRows) {
  constexpr uint64_t kRows = 30'011;
  for (const uint64_t columns : {1, 3, 4}) {
    this->ForAllData(kRows * columns, [&](const auto& values, bool ignore_nan) {
      this->ExpectRows(values, columns, ignore_nan);
    });
    if (this->HasFatalFailure()) return;
  }
}

// So many that warps take them, not blocks.
TYPED_TEST(ReduceExtremesDeviceTest, OfManyRowsOfWarps) {
  constexpr uint64_t kRows = 301;
  constexpr uint64_t kTurn = ExtremeTuning::kTurnBytes / sizeof(TypeParam);
  for (const uint64_t columns :
       {kTurn / 2 + 1, kTurn - 3, kTurn + 1, 2 * kTurn - 1, 2 * kTurn, 2 * kTurn + 1}) {
    SCOPED_TRACE(testing::Message() << "rows of " << columns);
    this->ForAllData(kRows * columns, [&](const auto& values, bool ignore_nan) {
      this->ExpectRows(values, columns, ignore_nan);
    });
    if (this->HasFatalFailure()) return;
  }
}

// Of almost as many bytes as blocks take, and of as many: by warps where multiprocessors are few.
TYPED_TEST(ReduceExtremesDeviceTest, OfLongRowsOfWarps) {
  constexpr uint64_t kRows = 101;
  constexpr uint64_t kElementsMax = ReduceTuning::kTileGroupBytesMaxMany / sizeof(TypeParam);
  for (const uint64_t columns : {kElementsMax / 4 + 1, kElementsMax - 3, kElementsMax}) {
    SCOPED_TRACE(testing::Message() << "rows of " << columns);
    this->ForAllData(kRows * columns, [&](const auto& values, bool ignore_nan) {
      this->ExpectRows(values, columns, ignore_nan);
    });
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(ReduceExtremesDeviceTest, OfSegments) {
  constexpr uint64_t kTurn = ExtremeTuning::kTurnBytes / sizeof(TypeParam);
  for (const uint64_t mean : {3, 20, 200}) {
    std::mt19937_64 random(mean);
    std::vector<uint64_t> offsets = {0};
    while (offsets.back() < 20 * kTurn) {
      const uint64_t size = random() % 100 == 0 ? random() % (5 * kTurn) : random() % (2 * mean);
      offsets.push_back(offsets.back() + 1 + size);
    }
    offsets.push_back(offsets.back() + 40 * kTurn);
    const auto array = ArrayDescription::Vector(kElementTypeOf<TypeParam>, offsets.back());
    this->ForAllData(offsets.back(), [&](const auto& values, bool ignore_nan) {
      this->ExpectSegments(values, offsets, array, {GroupingKind::kSegments, offsets}, ignore_nan);
    });
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(ReduceExtremesDeviceTest, OfColumns) {
  constexpr struct {
    uint64_t rows;
    uint64_t columns;
  } kExtents[] = {{1, 5},    {2, 4},    {3, 1000}, {15, 64},   {17, 64},   {9001, 2},   {9001, 3},
                  {9000, 4}, {2001, 8}, {600, 65}, {60, 1001}, {50, 1024}, {5, 13'001}, {33, 6500}};
  for (const auto& [rows, columns] : kExtents) {
    SCOPED_TRACE(testing::Message() << rows << " rows of " << columns);
    this->ForAllData(rows * columns, [&](const auto& values, bool ignore_nan) {
      this->ExpectColumns(values, columns, ignore_nan);
    });
    if (this->HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace gridfold::kernels::cuda
