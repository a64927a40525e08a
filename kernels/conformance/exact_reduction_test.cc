// Floating-point moments are exact on data that fast paths have to give up on, and states of parts
// merge to the state of the whole, bit for bit.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <variant>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/conformance/engine_test.h"
#include "kernels/conformance/groupings.h"
#include "kernels/conformance/reduction_oracle.h"
#include "kernels/conformance/reduction_specs.h"
#include "kernels/numerics/statistics/statistic_value.h"

namespace gridfold::kernels::conformance {
namespace {

constexpr ElementType kFloatTypes[] = {ElementType::kFloat16, ElementType::kBfloat16,
                                       ElementType::kFloat32, ElementType::kFloat64};

// What an array of floating-point elements is made of.
enum class Shape {
  kUniform,
  kSorted,        // From small to large: exponents drift.
  kSteps,         // Levels many powers of two apart, changing in the middle of tiles.
  kSpread,        // Exponents all over a wide range.
  kAnyBits,       // Any finite bits.
  kCancelling,    // Pairs +-x of any bits, shuffled, and one smallest number.
  kNearOverflow,  // Sums past the largest number that come back.
  kSubnormal,
  kTies,  // 1, and addends of half a unit in the last place of the sum.
  kNegativeZeros,
  kOneNan,
  kBothInfinities,
  kWindow,         // Exponents that just fit a window, and some that do not.
  kSomeSmall,      // Of every 300 elements one that fits no window of the others.
  kSomeLarge,      // And one that is larger than all others by far.
  kLargeSquares,   // Around the square root of the largest number.
  kSmallSquares,   // Around that of the smallest.
  kSameUpperBits,  // Extremes differ in their last bits.
};
constexpr Shape kShapes[] = {Shape::kUniform,       Shape::kSorted,       Shape::kSteps,
                             Shape::kSpread,        Shape::kAnyBits,      Shape::kCancelling,
                             Shape::kNearOverflow,  Shape::kSubnormal,    Shape::kTies,
                             Shape::kNegativeZeros, Shape::kOneNan,       Shape::kBothInfinities,
                             Shape::kWindow,        Shape::kSomeSmall,    Shape::kSomeLarge,
                             Shape::kLargeSquares,  Shape::kSmallSquares, Shape::kSameUpperBits};

struct Format {
  int exponent_min;  // Of the smallest subnormal number.
  int exponent_max;  // Of what is past the largest.
  uint64_t exponent_mask;
  int bytes;
};

Format FormatOf(ElementType type) {
  if (type == ElementType::kFloat16) return {-24, 16, 0x7C00, 2};
  if (type == ElementType::kBfloat16) return {-133, 128, 0x7F80, 2};
  if (type == ElementType::kFloat32) return {-149, 128, 0x7F80'0000, 4};
  return {-1074, 1024, 0x7FF0'0000'0000'0000, 8};
}

class Maker {
 public:
  Maker(ElementType type, uint64_t seed) : format_(FormatOf(type)), random_(seed) {}

  void Fill(Shape shape, TestArray& array) {
    const uint64_t count = array.size();
    for (uint64_t i = 0; i < count; ++i) Set(shape, array, i);
    if (shape == Shape::kCancelling || shape == Shape::kNearOverflow) Shuffle(array);
    if (count == 0) return;
    if (shape == Shape::kOneNan) array.Set(random_() % count, std::nanl(""));
    if (shape == Shape::kBothInfinities) {
      array.Set(count / 3, HUGE_VALL);
      array.Set(count - 1, -HUGE_VALL);
    }
  }

 private:
  void Set(Shape shape, TestArray& array, uint64_t i) {
    const long double unit = std::ldexp(1.0L, -10);
    const int middle = (format_.exponent_min + format_.exponent_max) / 2;
    switch (shape) {
      case Shape::kSorted:
        return array.Set(i, std::ldexp(1.0L + static_cast<long double>(i), middle / 2 - 8));
      case Shape::kSteps:
        return array.Set(i, std::ldexp(1 + Uniform(), Level(static_cast<int>(i / 777))));
      case Shape::kSpread: return array.Set(i, std::ldexp(2 * Uniform() - 1, AnyExponent() / 2));
      case Shape::kAnyBits: return SetBits(array, i, FiniteBits());
      case Shape::kCancelling:
        if (i % 2 == 0 && i + 1 == array.size()) {
          return array.Set(i, std::ldexp(1.0L, format_.exponent_min));
        }
        return i % 2 == 0 ? SetBits(array, i, FiniteBits()) : array.Set(i, -array[i - 1]);
      case Shape::kNearOverflow: {
        const long double large = std::ldexp(1.0L, format_.exponent_max - 1);
        return array.Set(i, i % 2 == 0 ? large : -large + (i == 1 ? large * unit : 0));
      }
      case Shape::kSubnormal:
        return array.Set(
            i, std::ldexp(static_cast<long double>(random_() % 15) - 7, format_.exponent_min));
      case Shape::kTies: return array.Set(i, i == 0 ? 1 : (random_() % 2 == 0 ? unit : -unit));
      case Shape::kNegativeZeros: return array.Set(i, -0.0L);
      case Shape::kWindow: return array.Set(i, Signed(static_cast<int>(random_() % 18) - 9));
      case Shape::kSomeSmall:
        return array.Set(i, Signed(random_() % 300 == 0 ? format_.exponent_min / 2 : 0));
      case Shape::kSomeLarge:
        return array.Set(i, Signed(random_() % 300 == 0 ? format_.exponent_max / 2 : -3));
      case Shape::kLargeSquares:
        return array.Set(i, Signed(format_.exponent_max / 2 - AnyOffset()));
      case Shape::kSmallSquares:
        return array.Set(i, Signed(format_.exponent_min / 2 + AnyOffset()));
      case Shape::kSameUpperBits:
        return array.Set(i, 1 + std::ldexp(static_cast<long double>(random_() % 512), -50));
      default: return array.Set(i, Uniform());
    }
  }

  // With all bits that there are.
  long double Signed(int exponent) {
    return std::ldexp(random_() % 2 == 0 ? 1 + Uniform() : -1 - Uniform(), exponent);
  }
  long double Uniform() { return static_cast<long double>(random_() >> 11) * 0x1p-53L; }
  int AnyExponent() {
    const int range = format_.exponent_max - 1 - format_.exponent_min;
    return format_.exponent_min + static_cast<int>(random_() % static_cast<uint64_t>(range));
  }
  // Below an eighth of the format's exponents.
  int AnyOffset() {
    const int range = (format_.exponent_max - format_.exponent_min) / 8;
    return static_cast<int>(random_() % static_cast<uint64_t>(range));
  }
  int Level(int step) const {
    const int range = format_.exponent_max - 2 - format_.exponent_min;
    return format_.exponent_min + step * 37 % range;
  }
  uint64_t FiniteBits() {
    for (;;) {
      const uint64_t bits = random_();
      if ((bits & format_.exponent_mask) != format_.exponent_mask) return bits;
    }
  }
  void SetBits(TestArray& array, uint64_t i, uint64_t bits) const {
    std::memcpy(array.mutable_data() + i * format_.bytes, &bits, format_.bytes);
  }
  void Shuffle(TestArray& array) {
    for (uint64_t i = array.size(); i > 1; --i) {
      const uint64_t j = random_() % i;
      const long double x = array[i - 1];
      array.Set(i - 1, array[j]);
      array.Set(j, x);
    }
  }

  Format format_;
  std::mt19937_64 random_;
};

ReductionSpec Moments() {
  return SpecOf({Statistic::kSum, Statistic::kMean, Statistic::kVariance,
                 Statistic::kStandardDeviation, Statistic::kL1Norm, Statistic::kL2Norm,
                 Statistic::kArgmax, Statistic::kNonzeroCount});
}
// Those for which engines have sums of their own, without the other moments.
ReductionSpec SumOnly() { return SpecOf({Statistic::kSum}); }
ReductionSpec SumAndSquares() { return SpecOf({Statistic::kVariance, Statistic::kMin}); }

class ExactReductionTest : public EngineTest {
 protected:
  void Check(const TestArray& array, ReductionSpec spec, const GroupingSpec& grouping = {}) {
    spec.grouping = grouping;
    CheckReduction(array, spec, engine().Reduce(array, spec));
  }
};

TEST_P(ExactReductionTest, WholeArraysOfEveryShape) {
  for (const ElementType type : kFloatTypes) {
    for (const Shape shape : kShapes) {
      SCOPED_TRACE(testing::Message() << "shape " << static_cast<int>(shape));
      // Within a warp, a block, and many blocks; the last one not on a whole vector.
      for (const uint64_t count : {37, 5003, 150'001}) {
        TestArray array(ArrayDescription::Vector(type, count), ElementSize(type));
        Maker(type, count).Fill(shape, array);
        for (const ReductionSpec& spec : {SumOnly(), SumAndSquares(), Moments()}) {
          Check(array, spec);
        }
      }
    }
  }
}

// So many elements that threads take several loads each, and windows are full more than once.
TEST_P(ExactReductionTest, LongArraysOfFloat64) {
  for (const Shape shape : kShapes) {
    SCOPED_TRACE(testing::Message() << "shape " << static_cast<int>(shape));
    constexpr uint64_t kCount = 1'500'001;
    TestArray array(ArrayDescription::Vector(ElementType::kFloat64, kCount));
    Maker(ElementType::kFloat64, kCount).Fill(shape, array);
    Check(array, SpecOf({Statistic::kSum, Statistic::kVariance, Statistic::kL2Norm,
                         Statistic::kArgmin, Statistic::kArgmax, Statistic::kNonzeroCount}));
  }
}

TEST_P(ExactReductionTest, GroupsOfEveryShape) {
  for (const ElementType type : kFloatTypes) {
    for (const Shape shape : kShapes) {
      SCOPED_TRACE(testing::Message() << "shape " << static_cast<int>(shape));
      TestArray matrix(ArrayDescription::Matrix(type, 700, 45));
      Maker(type, 2).Fill(shape, matrix);
      TestArray narrow(ArrayDescription::Matrix(type, 9000, 3));
      Maker(type, 3).Fill(shape, narrow);
      std::vector<uint64_t> offsets = OffsetsOf({1, 3, 17, 40, 9000, 2, 300});
      TestArray ragged(ArrayDescription::Vector(type, offsets.back()));
      Maker(type, 4).Fill(shape, ragged);
      for (const ReductionSpec& spec : {SumOnly(), Moments()}) {
        Check(matrix, spec, Axis(0));
        Check(matrix, spec, Axis(1));
        Check(narrow, spec, Axis(0));
        Check(ragged, spec, Segments(offsets));
      }
    }
  }
}

TEST_P(ExactReductionTest, NansThatAreIgnored) {
  for (const ElementType type : kFloatTypes) {
    TestArray array(ArrayDescription::Vector(type, 20'001));
    Maker(type, 5).Fill(Shape::kSpread, array);
    for (uint64_t i = 0; i < array.size(); i += 3) array.Set(i, std::nanl(""));
    for (ReductionSpec spec : {SumOnly(), Moments()}) {
      spec.nan_policy = NanPolicy::kIgnore;
      Check(array, spec);
    }
  }
}

// Bits of all moments of a group's state.
template <class S>
void ExpectSameMoments(const FullState<S>& a, const FullState<S>& b) {
  EXPECT_TRUE(a.template Part<kSumPart>().sum == b.template Part<kSumPart>().sum);
  EXPECT_TRUE(a.template Part<kSquaresPart>().sum == b.template Part<kSquaresPart>().sum);
  EXPECT_TRUE(a.template Part<kMagnitudesPart>().sum == b.template Part<kMagnitudesPart>().sum);
}

// The state of a piece of the array.
template <class S>
FullState<S> StateOf(EngineUnderTest& engine, const TestArray& array, uint64_t begin,
                     uint64_t end) {
  TestArray piece(ArrayDescription::Vector(array.type(), end - begin));
  const size_t size = ElementSize(array.type());
  std::memcpy(piece.mutable_data(), array.data() + begin * size, (end - begin) * size);
  ReductionSpec spec = Moments();
  spec.return_states = true;
  const auto result = engine.Reduce(piece, spec);
  EXPECT_TRUE(result.ok()) << result.status();
  if (!result.ok()) return {};
  const auto* states = std::get_if<GroupStates<S>>(&result->states);
  EXPECT_TRUE(states != nullptr && states->size() == 1);
  return states == nullptr ? FullState<S>{} : states->front();
}

template <class S>
void ExpectMergedStates(EngineUnderTest& engine, const TestArray& array, std::mt19937_64& random) {
  const FullState<S> whole = StateOf<S>(engine, array, 0, array.size());
  std::vector<FullState<S>> parts;
  for (uint64_t begin = 0; begin < array.size();) {
    const uint64_t end = std::min(array.size(), begin + 1 + random() % 3000);
    parts.push_back(StateOf<S>(engine, array, begin, end));
    begin = end;
  }
  std::shuffle(parts.begin(), parts.end(), random);
  FullState<S> merged;
  for (const FullState<S>& part : parts) merged.Merge(part);
  ExpectSameMoments<S>(merged, whole);
}

TEST_P(ExactReductionTest, StatesOfPartsMergeToTheStateOfTheWhole) {
  std::mt19937_64 random(6);
  for (const ElementType type : kFloatTypes) {
    for (const Shape shape : kShapes) {
      SCOPED_TRACE(testing::Message() << "shape " << static_cast<int>(shape));
      TestArray array(ArrayDescription::Vector(type, 30'011));
      Maker(type, 7).Fill(shape, array);
      if (type == ElementType::kFloat64) {
        ExpectMergedStates<double>(engine(), array, random);
      } else {
        ExpectMergedStates<float>(engine(), array, random);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cpu, ExactReductionTest, testing::Values(kCpuCase), NameOfCase);
INSTANTIATE_TEST_SUITE_P(Cuda, ExactReductionTest, testing::Values(kCudaCase), NameOfCase);

}  // namespace
}  // namespace gridfold::kernels::conformance
