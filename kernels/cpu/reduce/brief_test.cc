// Groups of few elements: every statistic has the bits that exact states give. Those are asked for
// by the same reduction with its states, which no group is too brief for.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "kernels/contract/reduction.h"
#include "kernels/cpu/lane/engine.h"
#include "kernels/cpu/reduce/brief_line.h"
#include "kernels/numerics/arithmetic/element.h"

namespace gridfold::kernels::cpu {
namespace {

constexpr uint64_t kMany = uint64_t{1} << 30;
constexpr uint64_t kElements = 2100;

// Kinds of data, each of which some arithmetic finds hard.
enum class Data {
  kUniform,
  kSmallIntegers,
  kConstant,
  kZeros,
  kWide,
  kScaled,
  kSparse,
  kNonnegative,
  kCancelling,
  kTiny,
  kHuge,
  kSpecial
};
constexpr Data kAllData[] = {Data::kUniform, Data::kSmallIntegers, Data::kConstant,
                             Data::kZeros,   Data::kWide,          Data::kScaled,
                             Data::kSparse,  Data::kNonnegative,   Data::kCancelling,
                             Data::kTiny,    Data::kHuge,          Data::kSpecial};

double FloatingNumber(Data data, std::mt19937_64& random) {
  const double uniform = std::uniform_real_distribution(-1.0, 1.0)(random);
  const uint64_t bits = random();
  switch (data) {
    case Data::kUniform: return uniform;
    case Data::kSmallIntegers: return static_cast<double>(static_cast<int>(bits % 7) - 3);
    case Data::kConstant: return 0.1;
    case Data::kZeros: return bits % 2 == 0 ? 0.0 : -0.0;
    case Data::kWide: return std::ldexp(uniform, static_cast<int>(bits % 2000) - 1000);
    // Around the binades that sums without pairs have: 19 of float32, 34 of float64.
    case Data::kScaled:
      return std::ldexp(uniform, bits % 4 == 0 ? 0 : static_cast<int>(17 + bits / 4 % 20));
    case Data::kSparse: return bits % 40 == 0 ? uniform : (bits % 3 == 0 ? 0.0 : -0.0);
    // Zeros of either sign are the least.
    case Data::kNonnegative:
      return bits % 4 == 0 ? (bits % 8 == 0 ? 0.0 : -0.0) : std::fabs(uniform);
    case Data::kCancelling: return bits % 3 == 0 ? uniform * 0x1p-60 : (bits % 2 ? 1e6 : -1e6);
    case Data::kTiny: return uniform * 0x1p-1040;
    case Data::kHuge: return uniform * std::numeric_limits<double>::max();
    case Data::kSpecial: break;
  }
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double specials[] = {kInfinity, -kInfinity, std::nan(""), -0.0};
  return bits % 10 == 0 ? specials[bits / 10 % 4] : uniform;
}

template <class T>
std::vector<T> MakeElements(Data data) {
  std::mt19937_64 random(static_cast<uint64_t>(data) + 1);
  std::vector<T> elements(kElements);
  for (T& x : elements) {
    if constexpr (HalfElement<T>) {
      x = T::FromDouble(FloatingNumber(data, random));
    } else if constexpr (FloatingElement<T>) {
      x = static_cast<T>(FloatingNumber(data, random));
    } else if (data == Data::kUniform || data == Data::kHuge) {
      x = static_cast<T>(random());
    } else if (data == Data::kConstant || data == Data::kZeros) {
      x = data == Data::kConstant ? T{42} : T{0};
    } else {
      x = static_cast<T>(random() % 7);
    }
  }
  return elements;
}

std::unique_ptr<Lane> MakeLane() {
  static const std::unique_ptr<Engine> engine = CreateCpuEngine(2).value();
  return engine->CreateLane({kMany, kMany, kMany, kMany}).value();
}

const std::vector<std::vector<Statistic>>& StatisticSets() {
  static const std::vector<std::vector<Statistic>> sets = {
      {Statistic::kSum, Statistic::kL1Norm},
      {Statistic::kMean},
      {Statistic::kVariance},
      {Statistic::kStandardDeviation},
      {Statistic::kL2Norm},
      {Statistic::kMin, Statistic::kMax, Statistic::kArgmin, Statistic::kArgmax},
      {Statistic::kMin, Statistic::kMax},
      {Statistic::kArgmin},
      {Statistic::kCount, Statistic::kNonzeroCount, Statistic::kNanCount, Statistic::kInfinityCount,
       Statistic::kAll, Statistic::kAny},
      {Statistic::kArgmax, Statistic::kVariance, Statistic::kNonzeroCount, Statistic::kMean},
  };
  return sets;
}

// The groupings of kElements elements that are tried, with the arrays they take.
struct Shape {
  ArrayDescription array;
  GroupingSpec grouping;
};

std::vector<Shape> Shapes(ElementType type) {
  std::vector<Shape> shapes;
  for (const uint64_t rows : {1, 2, 3, 4, 5, 31, 60, 100, 250}) {
    const ArrayDescription down = ArrayDescription::Matrix(type, rows, kElements / rows);
    shapes.push_back({down, {GroupingKind::kAxis0, {}}});
    const ArrayDescription across = ArrayDescription::Matrix(type, kElements / rows, rows);
    shapes.push_back({across, {GroupingKind::kAxis1, {}}});
  }
  for (const uint64_t size : {15, 16, 17, 63, 64, 65, 127, 300, 700, 1024, 1025, 2100}) {
    const ArrayDescription across = ArrayDescription::Matrix(type, kElements / size, size);
    shapes.push_back({across, {GroupingKind::kAxis1, {}}});
  }
  shapes.push_back({ArrayDescription::Vector(type, kElements), {GroupingKind::kWhole, {}}});
  for (const uint64_t longest : {4, 40, 400, 2000}) {
    std::mt19937_64 random(longest);
    GroupingSpec segments{GroupingKind::kSegments, {0}};
    while (segments.offsets.back() < kElements) {
      const uint64_t end = segments.offsets.back() + 1 + random() % longest;
      segments.offsets.push_back(std::min(end, kElements));
    }
    shapes.push_back({ArrayDescription::Vector(type, kElements), std::move(segments)});
  }
  return shapes;
}

class BriefReductionTest : public testing::TestWithParam<ElementType> {};

// Of every length around the parts that are looked at together.
TEST(LineTest, TheFirstOfEqualElementsIsFoundAndNothingBehindTheLine) {
  std::vector<float> elements(200, 1);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (uint32_t count = 1; count < elements.size(); ++count) {
    const Line<float> line{reinterpret_cast<const std::byte*>(elements.data()), count};
    EXPECT_EQ(FirstOf(line, 1.0f), 0u);
    EXPECT_EQ(FirstOf(line, 2.0f), count - 1) << "which is none of the line's";
    EXPECT_EQ(FirstOf(line, nan), count - 1) << "which equals none";
    elements[count - 1] = 3;
    EXPECT_EQ(FirstOf(line, 3.0f), count - 1);
    elements[count - 1] = 1;
  }
}

TEST_P(BriefReductionTest, HasTheBitsOfExactStates) {
  const std::unique_ptr<Lane> lane = MakeLane();
  bool was_brief = false;
  VisitElementType(GetParam(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (const Data data : kAllData) {
      const std::vector<T> elements = MakeElements<T>(data);
      for (const Shape& shape : Shapes(GetParam())) {
        const HostSpan input{reinterpret_cast<const std::byte*>(elements.data()),
                             shape.array.size_bytes()};
        for (const std::vector<Statistic>& statistics : StatisticSets()) {
          for (const NanPolicy policy : {NanPolicy::kPropagate, NanPolicy::kIgnore}) {
            if (policy == NanPolicy::kIgnore && data != Data::kSpecial) continue;
            ReductionSpec spec{.statistics = statistics, .grouping = shape.grouping};
            spec.nan_policy = policy;
            spec.overflow_policy = OverflowPolicy::kWrap;
            const auto plan = PlanReduction(shape.array, spec);
            spec.return_states = true;
            const auto with_states = PlanReduction(shape.array, spec);
            ASSERT_TRUE(plan.ok() && with_states.ok());
            RunStatistics run;
            const auto expected = lane->RunReduction(*with_states, input, {}, run);
            EXPECT_FALSE(run.strategy.ends_with("side-by-side"));
            const auto result = lane->RunReduction(*plan, input, {}, run);
            was_brief |= run.strategy.ends_with("side-by-side");
            ASSERT_EQ(result.status(), expected.status());
            if (!result.ok()) continue;
            for (size_t s = 0; s < statistics.size(); ++s) {
              ASSERT_EQ(result->columns[s].slots, expected->columns[s].slots)
                  << StatisticName(statistics[s]) << ", data " << static_cast<int>(data) << ", "
                  << shape.array.rows << " rows of " << shape.array.columns << ", "
                  << result->columns[s].slots.size() << " groups";
            }
          }
        }
      }
    }
  });
  EXPECT_TRUE(was_brief);
}

INSTANTIATE_TEST_SUITE_P(EveryType, BriefReductionTest,
                         testing::Values(ElementType::kInt8, ElementType::kInt16,
                                         ElementType::kInt32, ElementType::kInt64,
                                         ElementType::kUint8, ElementType::kUint16,
                                         ElementType::kUint32, ElementType::kUint64,
                                         ElementType::kFloat16, ElementType::kBfloat16,
                                         ElementType::kFloat32, ElementType::kFloat64),
                         [](const testing::TestParamInfo<ElementType>& type) {
                           return std::string(ElementTypeName(type.param));
                         });

}  // namespace
}  // namespace gridfold::kernels::cpu
