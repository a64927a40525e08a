#include "kernels/numerics/bins/axes.h"

#include <cstdint>

#include "gtest/gtest.h"

namespace gridfold::kernels {
namespace {

constexpr OutOfRangePolicy kDrop = OutOfRangePolicy::kDrop;
constexpr OutOfRangePolicy kClamp = OutOfRangePolicy::kClamp;

// In two dimensions what Place2d says, whatever is located.
TEST(AxesTest, TwoDimensionsAreThoseOfPlace2d) {
  for (const OutOfRangePolicy policy : {kDrop, kClamp}) {
    for (int64_t x = kNanBin; x < 4; ++x) {
      for (int64_t y = kNanBin; y < 3; ++y) {
        const Placement expected = Place2d(x, y, 4, 3, policy);
        const AxesPlace place = PlaceOnAxis(PlaceOnAxis(kFirstAxis, x, 4, policy), y, 3, policy);
        EXPECT_EQ(OutcomeOf(place), expected.outcome) << x << ", " << y;
        if (expected.bin < 0) {
          EXPECT_EQ(BinOf(place), kInNoBin) << x << ", " << y;
        } else {
          EXPECT_EQ(int64_t{BinOf(place)}, expected.bin) << x << ", " << y;
        }
      }
    }
  }
}

TEST(AxesTest, TheFirstAxisOutsideDecidesAndNanBeforeAll) {
  AxesPlace place = PlaceOnAxis(kFirstAxis, 1, 2, kDrop);
  place = PlaceOnAxis(place, kOverflowBin, 2, kDrop);
  place = PlaceOnAxis(place, kUnderflowBin, 2, kDrop);
  EXPECT_EQ(OutcomeOf(place), kOverflowBin);
  EXPECT_EQ(BinOf(place), kInNoBin);
  place = PlaceOnAxis(place, kNanBin, 2, kDrop);
  EXPECT_EQ(OutcomeOf(place), kNanBin);
  place = PlaceOnAxis(place, kUnderflowBin, 2, kClamp);
  EXPECT_EQ(OutcomeOf(place), kNanBin);
  EXPECT_EQ(BinOf(place), kInNoBin);
}

TEST(AxesTest, TheLastOfTheMostBinsIsABin) {
  AxesPlace place = kFirstAxis;
  for (int axis = 0; axis < 7; ++axis) place = PlaceOnAxis(place, kOverflowBin, 16, kClamp);
  EXPECT_EQ(uint64_t{BinOf(place)}, kAxesBinsMax - 1);
  EXPECT_EQ(OutcomeOf(place), kOverflowBin);
}

}  // namespace
}  // namespace gridfold::kernels
