// Where a sample falls: bins as plain data for kernels, and exact decisions by their edges.
//
// Bin i is [edge(i), edge(i + 1)), the last one closed. A sample is compared with the float64 edges
// as real numbers, without rounding either, so what counts as inside does not depend on the engine
// or the sample's type. Arithmetic only guesses the bin; comparison decides it.
#ifndef GRIDFOLD_KERNELS_NUMERICS_BINS_LAYOUT_H_
#define GRIDFOLD_KERNELS_NUMERICS_BINS_LAYOUT_H_

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "kernels/numerics/arithmetic/element.h"
#include "kernels/types/element_type.h"
#include "kernels/types/host_device.h"
#include "kernels/types/policies.h"

namespace gridfold::kernels {

// Accumulators hold these numbers.
enum class BinKind : uint8_t {
  kEven = 0,     // Equal widths: edges are computed.
  kTable = 1,    // Edges from a table.
  kInteger = 2,  // One bin for each integer.
};

struct BinLayout {
  BinKind kind = BinKind::kEven;
  uint64_t bin_count = 0;
  double lower = 0;          // kEven
  double upper = 0;          // kEven
  double step = 0;           // kEven: in units of `unit`.
  double unit = 1;           // kEven: 2 where upper - lower is no finite double, else 1.
  double per_unit = 1;       // kEven: 1 / unit.
  double bins_per_unit = 0;  // kEven: only for guessing.
  int64_t first_value = 0;   // kInteger
  // kInteger: the integer of bin 0 instead of first_value; 2^63 or more, or 0 where it is not used.
  uint64_t first_unsigned_value = 0;
  const double* edges = nullptr;  // kTable: bin_count + 1 values, in the engine's memory.

  GRIDFOLD_HD static BinLayout Even(double lower, double upper, uint64_t bin_count) {
    BinLayout b;
    b.kind = BinKind::kEven;
    b.bin_count = bin_count;
    b.lower = lower;
    b.upper = upper;
    // Bounds so far apart are large, and their halves exact.
    b.unit = IsFinite(upper - lower) ? 1 : 2;
    b.per_unit = 1 / b.unit;
    const double range = upper * b.per_unit - lower * b.per_unit;
    b.step = range / static_cast<double>(bin_count);
    b.bins_per_unit = static_cast<double>(bin_count) / range;
    return b;
  }
  GRIDFOLD_HD static BinLayout Table(const double* edges, uint64_t bin_count) {
    BinLayout b;
    b.kind = BinKind::kTable;
    b.bin_count = bin_count;
    b.edges = edges;
    return b;
  }
  static BinLayout Integer(int64_t first_value, uint64_t bin_count,
                           uint64_t first_unsigned_value = 0) {
    BinLayout b;
    b.kind = BinKind::kInteger;
    b.bin_count = bin_count;
    b.first_value = first_value;
    b.first_unsigned_value = first_unsigned_value;
    return b;
  }
};

// Edge i of even bins: NumPy's linspace, product and sum rounded separately, the last edge exact.
// Multiplying by a unit, a power of two, rounds nothing: it only keeps what is on the way finite.
GRIDFOLD_HD inline double EvenEdge(const BinLayout& bins, uint64_t i) {
  if (i >= bins.bin_count) return bins.upper;
#ifdef __CUDA_ARCH__
  const double lower = __dmul_rn(bins.lower, bins.per_unit);
  return __dmul_rn(__dadd_rn(__dmul_rn(static_cast<double>(i), bins.step), lower), bins.unit);
#else
  const double lower = bins.lower * bins.per_unit;
  const double offset = static_cast<double>(i) * bins.step;
  return (offset + lower) * bins.unit;
#endif
}

// Whether x >= edge, for real numbers x and edge. Not for NaN.
template <class T>
GRIDFOLD_HD inline bool IsAtLeast(T x, double edge) {
  if constexpr (FloatingElement<T> || sizeof(T) < 8) {
    return static_cast<double>(x) >= edge;
  } else {
    // x is an integer: x >= edge exactly if x >= ceil(edge).
    const double least = ceil(edge);
    if constexpr (std::is_signed_v<T>) {
      if (least < -0x1p63) return true;
      return least < 0x1p63 && x >= static_cast<T>(least);
    } else {
      if (least <= 0) return true;
      return least < 0x1p64 && x >= static_cast<T>(least);
    }
  }
}

// Whether x > edge, for real numbers x and edge. Not for NaN.
template <class T>
GRIDFOLD_HD inline bool IsGreater(T x, double edge) {
  if constexpr (FloatingElement<T> || sizeof(T) < 8) {
    return static_cast<double>(x) > edge;
  } else {
    const double most = floor(edge);
    if constexpr (std::is_signed_v<T>) {
      if (most < -0x1p63) return true;
      return most < 0x1p63 && x > static_cast<T>(most);
    } else {
      if (most < 0) return true;
      return most < 0x1p64 && x > static_cast<T>(most);
    }
  }
}

// The bounds of an automatic range: the nearest doubles around a sample that a double may not hold.
// A 64-bit integer rounded to the nearest could leave the very sample that set the bound outside.
template <class T>
GRIDFOLD_HD inline double LowerBoundFor(T smallest) {
  const double nearest = static_cast<double>(smallest);
  return IsAtLeast(smallest, nearest) ? nearest : nextafter(nearest, -HUGE_VAL);
}
template <class T>
GRIDFOLD_HD inline double UpperBoundFor(T largest) {
  const double nearest = static_cast<double>(largest);
  return IsGreater(largest, nearest) ? nextafter(nearest, HUGE_VAL) : nearest;
}

// What LocateBin gives instead of a bin.
inline constexpr int64_t kUnderflowBin = -1;
inline constexpr int64_t kOverflowBin = -2;
inline constexpr int64_t kNanBin = -3;

namespace bin_internal {

template <class T>
GRIDFOLD_HD inline int64_t LocateEven(const BinLayout& bins, T x) {
  if (!IsAtLeast(x, bins.lower)) return kUnderflowBin;
  if (IsGreater(x, bins.upper)) return kOverflowBin;
  const int64_t last = static_cast<int64_t>(bins.bin_count) - 1;
  const double distance = static_cast<double>(x) * bins.per_unit - bins.lower * bins.per_unit;
  const double guess = distance * bins.bins_per_unit;
  int64_t bin = guess < static_cast<double>(last) ? static_cast<int64_t>(guess) : last;
  while (bin > 0 && !IsAtLeast(x, EvenEdge(bins, bin))) --bin;
  while (bin < last && IsAtLeast(x, EvenEdge(bins, bin + 1))) ++bin;
  return bin;
}

template <class T>
GRIDFOLD_HD inline int64_t LocateInTable(const BinLayout& bins, T x) {
  if (!IsAtLeast(x, bins.edges[0])) return kUnderflowBin;
  if (IsGreater(x, bins.edges[bins.bin_count])) return kOverflowBin;
  // The last edge, of those before the closing one, that x reaches.
  uint64_t low = 0;
  uint64_t length = bins.bin_count;
  while (length > 1) {
    const uint64_t half = length / 2;
    if (IsAtLeast(x, bins.edges[low + half])) low += half;
    length -= half;
  }
  return static_cast<int64_t>(low);
}

template <IntegerElement T>
GRIDFOLD_HD inline int64_t LocateInteger(const BinLayout& bins, T x) {
  uint64_t offset;
  if constexpr (std::is_signed_v<T>) {
    if (x < bins.first_value) return kUnderflowBin;
    offset =
        static_cast<uint64_t>(static_cast<int64_t>(x)) - static_cast<uint64_t>(bins.first_value);
  } else {
    const uint64_t first = bins.first_unsigned_value != 0 ? bins.first_unsigned_value
                                                          : static_cast<uint64_t>(bins.first_value);
    if (bins.first_value >= 0 && x < first) return kUnderflowBin;
    offset = uint64_t{x} - first;
    // With a negative first value the distance may pass 2^64.
    if (bins.first_value < 0 && offset < x) return kOverflowBin;
  }
  return offset < bins.bin_count ? static_cast<int64_t>(offset) : kOverflowBin;
}

}  // namespace bin_internal

// The bin of x, or kUnderflowBin, kOverflowBin or kNanBin.
template <class T>
GRIDFOLD_HD inline int64_t LocateBin(const BinLayout& bins, T x) {
  if (IsNan(x)) return kNanBin;
  switch (bins.kind) {
    case BinKind::kEven: return bin_internal::LocateEven(bins, x);
    case BinKind::kTable: return bin_internal::LocateInTable(bins, x);
    case BinKind::kInteger:
      if constexpr (IntegerElement<T>) return bin_internal::LocateInteger(bins, x);
      break;  // Plans have no integer bins for floating-point samples.
  }
  return kNanBin;
}

// What a sample adds to: `bin` (none where negative), and the counter of `outcome`, which is 0 for
// a sample inside the bins or else kUnderflowBin, kOverflowBin or kNanBin.
struct Placement {
  int64_t bin;
  int64_t outcome;
};

// `located` is what LocateBin gave for bins of bin_count.
GRIDFOLD_HD inline Placement Place(int64_t located, uint64_t bin_count, OutOfRangePolicy policy) {
  if (located >= 0) return {located, 0};
  if (policy == OutOfRangePolicy::kClamp && located != kNanBin) {
    return {located == kUnderflowBin ? 0 : static_cast<int64_t>(bin_count) - 1, located};
  }
  return {-1, located};
}

// The placement in two dimensions; bins are numbered row by row. A sample with a NaN is in no bin;
// one outside in both coordinates counts as outside by x.
GRIDFOLD_HD inline Placement Place2d(int64_t located_x, int64_t located_y, uint64_t x_bin_count,
                                     uint64_t y_bin_count, OutOfRangePolicy policy) {
  if (located_x == kNanBin || located_y == kNanBin) return {-1, kNanBin};
  const Placement x = Place(located_x, x_bin_count, policy);
  const Placement y = Place(located_y, y_bin_count, policy);
  const int64_t outcome = x.outcome != 0 ? x.outcome : y.outcome;
  if (x.bin < 0 || y.bin < 0) return {-1, outcome};
  return {x.bin * static_cast<int64_t>(y_bin_count) + y.bin, outcome};
}

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_NUMERICS_BINS_LAYOUT_H_
