// Exact sums in float64 arithmetic: an addend is cut into slices of its bits, and each slice is
// added to a float64 of its own, where it fits without rounding.
//
// The sum of the slice with unit 2^u starts at the anchor 1.5 * 2^(52 + u) and stays in that
// binade, so adding a number to it rounds the number to a multiple of 2^u; the difference of the
// sum before and after says to which one, and what is left of the number, at most 2^(u - 1), goes
// to the next slice. That is exact as long as the rounded numbers add up to no more than 2^(51 +
// u). (Rump, Ogita, Oishi 2008, "Accurate floating-point summation"; Demmel, Nguyen 2015, "Parallel
// reproducible summation".) The bits of a sum less those of its anchor are the sum as an integer in
// units of 2^u.
//
// A SliceWindow says where the slices lie; it knows neither the sums nor the addends.
#ifndef GRIDFOLD_KERNELS_CPU_REDUCE_SLICE_WINDOW_H_
#define GRIDFOLD_KERNELS_CPU_REDUCE_SLICE_WINDOW_H_

#include <algorithm>
#include <bit>
#include <cstdint>

namespace gridfold::kernels::cpu {

// Addends that are multiples of 2^unit and below 2^top in size.
struct AddendRange {
  int top;
  int unit;
};

class SliceWindow {
 public:
  // Slices that there are. More of them would only help where a few thousand addends have exponents
  // that are more than 250 apart.
  static constexpr int kSlices = 7;
  // Addends between two calls of Place. Each slice but the first takes that many.
  static constexpr uint64_t kAddendsMax = 1024;
  // Addends that come at once, at most.
  static constexpr uint64_t kBatchMax = 32;
  // Between the units of neighbouring slices.
  static constexpr int kSliceBits = 52 - std::countr_zero(kAddendsMax);
  // Largest addends, so that no anchor overflows.
  static constexpr int kTopMax = 992;
  // Units of float64's smallest numbers.
  static constexpr int kUnitMin = -1074;

  // What starts the sum of a slice with this unit.
  static double Anchor(int unit) {
    // Made from its bits, since ldexp would not be inlined.
    constexpr int kBias = 1023;
    return std::bit_cast<double>((static_cast<uint64_t>(52 + unit + kBias) << 52) |
                                 (uint64_t{1} << 51));
  }

  // No unit is chosen below `unit_min`, which is at least kUnitMin. Nothing is taken before Place.
  void Reset(int unit_min) {
    unit_min_ = unit_min;
    count_ = kAddendsMax;
  }

  // Whether `count` more addends, at most kBatchMax, can be added, except for what is left of them
  // below the last slice where another place would not be better for them.
  bool Takes(const AddendRange& range, uint64_t count) const {
    if (count_ + count > kAddendsMax) return false;
    if (range.top >= first_unit_) {
      const int shift = range.top - first_unit_;
      if (shift > kSumBits || used_ + (count << shift) > kSumMax) return false;
    }
    return range.unit >= UnitOf(kSlices - 1) || FirstUnitFor(range) + kSliceBits > first_unit_;
  }

  // Starts anew, with slices that suit these addends; the sums must start anew as well. Requires
  // range.top <= kTopMax and range.unit >= the `unit_min` of Reset.
  void Place(const AddendRange& range) {
    first_unit_ = FirstUnitFor(range);
    count_ = 0;
    used_ = 0;
  }

  // Says that `count` addends are added, which Takes allowed.
  void Count(const AddendRange& range, uint64_t count) {
    count_ += count;
    if (range.top >= first_unit_) used_ += count << (range.top - first_unit_);
  }

  // Exponent of the unit of slice i.
  int UnitOf(int slice) const { return std::max(first_unit_ - slice * kSliceBits, unit_min_); }

  // Numbers below 2^top leave nothing in the slices before this one.
  int FirstSliceFor(const AddendRange& range) const {
    int slice = 0;
    while (slice + 1 < kSlices && range.top < UnitOf(slice)) ++slice;
    return slice;
  }

  // Multiples of 2^unit leave nothing for the slices after this one, unless it is the last.
  int LastSliceFor(const AddendRange& range) const {
    int slice = FirstSliceFor(range);
    while (slice + 1 < kSlices && range.unit < UnitOf(slice)) ++slice;
    return slice;
  }

 private:
  static constexpr int kSumBits = 51;
  static constexpr uint64_t kSumMax = uint64_t{1} << kSumBits;

  // One slice where one will do, with what room there is left at both ends of it; else the first
  // slice has room for kAddendsMax addends.
  int FirstUnitFor(const AddendRange& range) const {
    const int room = kSumBits - std::countr_zero(kBatchMax) - (range.top - range.unit);
    const int unit = room >= 0 ? range.unit - room / 2 : range.top - (kSliceBits - 1);
    return std::max(unit, unit_min_);
  }

  int unit_min_;
  int first_unit_;
  uint64_t count_;  // Addends since Place.
  uint64_t used_;   // What the first slice's sum may have come to, in its units.
};

// The first slice's unit is at least 23 bits below the top.
static_assert(SliceWindow::kTopMax - 23 + 53 <= 1023);
static_assert(SliceWindow::kUnitMin + 52 >= -1022);

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_REDUCE_SLICE_WINDOW_H_
