#include "kernels/cpu/reduce/slice_window.h"

#include <gtest/gtest.h>

#include <cmath>

#include "kernels/cpu/reduce/addend.h"

namespace gridfold::kernels::cpu {
namespace {

SliceWindow WindowFor(const AddendRange& range, int unit_min = SliceWindow::kUnitMin) {
  SliceWindow window;
  window.Reset(unit_min);
  window.Place(range);
  return window;
}

TEST(SliceWindowTest, TakesNothingBeforeItIsPlaced) {
  SliceWindow window;
  window.Reset(SliceWindow::kUnitMin);
  EXPECT_FALSE(window.Takes({0, -24}, 1));
}

TEST(SliceWindowTest, AnchorsAreInTheMiddleOfABinade) {
  for (const int unit : {SliceWindow::kUnitMin, -500, 0, 900}) {
    const double anchor = SliceWindow::Anchor(unit);
    EXPECT_EQ(anchor, std::ldexp(1.5, 52 + unit));
    EXPECT_EQ(std::nextafter(anchor, 0.0), anchor - std::ldexp(1.0, unit));
    EXPECT_TRUE(std::isfinite(anchor + std::ldexp(1.0, 51 + unit) - std::ldexp(1.0, unit)));
  }
}

// One slice holds 51 bits: 46 of the addends, and 5 for 32 of them.
TEST(SliceWindowTest, OneSliceWhereOneWillDo) {
  for (int bits = 1; bits <= 60; ++bits) {
    const AddendRange range{10, 10 - bits};
    const SliceWindow window = WindowFor(range);
    EXPECT_TRUE(window.Takes(range, SliceWindow::kBatchMax)) << bits;
    EXPECT_EQ(window.FirstSliceFor(range), 0) << bits;
    EXPECT_EQ(window.LastSliceFor(range), bits <= 46 ? 0 : 1) << bits;
  }
}

// The last slice reaches the smallest addend, or there is none left.
TEST(SliceWindowTest, TakesSlicesUntilNothingIsLeft) {
  for (int bits = 1; bits <= 400; ++bits) {
    const AddendRange range{0, -bits};
    const SliceWindow window = WindowFor(range);
    const int last = window.LastSliceFor(range);
    if (window.UnitOf(last) > range.unit) {
      EXPECT_EQ(last, SliceWindow::kSlices - 1) << bits;
    }
    if (last > 0) {
      EXPECT_GT(window.UnitOf(last - 1), range.unit) << bits;
    }
    for (int slice = 1; slice < SliceWindow::kSlices; ++slice) {
      EXPECT_EQ(window.UnitOf(slice), window.UnitOf(slice - 1) - SliceWindow::kSliceBits);
    }
  }
}

// What the first slice's sum can come to, added up by hand.
TEST(SliceWindowTest, IsUsedUpBeforeASumLeavesItsBinade) {
  for (int bits = 24; bits <= 100; ++bits) {
    const AddendRange range{5, 5 - bits};
    SliceWindow window = WindowFor(range);
    const double addend = std::ldexp(1.0, range.top - window.UnitOf(0));
    double sum = 0;
    int batches = 0;
    while (window.Takes(range, SliceWindow::kBatchMax)) {
      window.Count(range, SliceWindow::kBatchMax);
      sum += addend * SliceWindow::kBatchMax;
      ++batches;
    }
    EXPECT_GE(batches, 1) << bits;
    EXPECT_LE(batches * SliceWindow::kBatchMax, SliceWindow::kAddendsMax) << bits;
    EXPECT_LE(sum, std::ldexp(1.0, 51)) << bits;
  }
}

TEST(SliceWindowTest, SmallNumbersLeaveTheFirstSlicesAlone) {
  const SliceWindow window = WindowFor({0, -200});
  for (int slice = 0; slice + 1 < SliceWindow::kSlices; ++slice) {
    const int unit = window.UnitOf(slice);
    EXPECT_EQ(window.FirstSliceFor({unit - 1, unit - 30}), slice + 1);
    EXPECT_EQ(window.FirstSliceFor({unit, unit - 30}), slice);
  }
}

TEST(SliceWindowTest, MovesForLargerNumbersAndForSmallerOnesThatFitElsewhere) {
  const SliceWindow window = WindowFor({0, -24});
  EXPECT_TRUE(window.Takes({0, -24}, 1));
  EXPECT_FALSE(window.Takes({100, 76}, 1));
  EXPECT_TRUE(window.Takes({-100, -124}, 1));
  EXPECT_FALSE(window.Takes({-500, -524}, 1));
  // Too wide for any place: a place that is not better is not taken.
  EXPECT_TRUE(window.Takes({0, -1000}, 1));
}

TEST(SliceWindowTest, KeepsAboveTheSmallestUnit) {
  const SliceWindow window = WindowFor({-125, -149}, -149);
  EXPECT_EQ(window.UnitOf(0), -149);
  EXPECT_EQ(window.UnitOf(SliceWindow::kSlices - 1), -149);
  EXPECT_EQ(window.LastSliceFor({-125, -149}), 0);
}

// SmallestWithUnit against RangeOf: nothing smaller has that unit.
template <std::floating_point S, Moment kMoment>
void ExpectSmallestWithUnit() {
  using A = Addend<S, kMoment>;
  using Bits = MagnitudeBits<S>;
  for (const int trailing_zeros : {0, 13, 16}) {
    for (int unit = A::kUnitMin; unit < 100; ++unit) {
      const Bits smallest = A::SmallestWithUnit(unit, trailing_zeros);
      EXPECT_GE(A::RangeOf(smallest, smallest, trailing_zeros).unit, unit);
      if (smallest > 1) {
        EXPECT_LT(A::RangeOf(smallest - 1, smallest, trailing_zeros).unit, unit);
      }
    }
  }
}

TEST(AddendTest, SmallestNumberWithAUnit) {
  ExpectSmallestWithUnit<float, Moment::kSum>();
  ExpectSmallestWithUnit<float, Moment::kSquares>();
  ExpectSmallestWithUnit<double, Moment::kSum>();
  ExpectSmallestWithUnit<double, Moment::kSquares>();
}

TEST(AddendTest, RangesHoldTheNumber) {
  for (const float x : {1.0F, 1.9999999F, 0x1p-149F, 0x1.8p-130F, 0x1p-126F, 3e38F}) {
    const auto bits = MagnitudeBitsOf(x);
    const AddendRange range = Addend<float, Moment::kSum>::RangeOf(bits, bits, 0);
    EXPECT_LT(x, std::ldexp(1.0, range.top));
    EXPECT_EQ(std::remainder(static_cast<double>(x), std::ldexp(1.0, range.unit)), 0);
    const double square = static_cast<double>(x) * x;
    const AddendRange squared = Addend<float, Moment::kSquares>::RangeOf(bits, bits, 0);
    EXPECT_LT(square, std::ldexp(1.0, squared.top));
    EXPECT_EQ(std::remainder(square, std::ldexp(1.0, squared.unit)), 0);
  }
}

}  // namespace
}  // namespace gridfold::kernels::cpu
