// Finds the bin of a table of edges by cells: a function of the sample that never decreases gives
// its cell, and the cell has a note of the bin that its samples begin in. Only an edge that falls
// into the cell itself is left to compare with; there is hardly ever more than one.
//
// Cells are of equal widths, or of equal numbers of floating-point values, which suits edges that
// grow by a factor: the bits of a positive number grow with its logarithm. Whatever the function
// rounds, edges and samples go through the same one, so a cell before that of an edge has only
// samples below the edge, and a cell behind it only samples that reach it.
//
// Samples and edges are compared as W: float where every sample is one, so that a sample takes
// fewer instructions, else double.
#ifndef GRIDFOLD_KERNELS_NUMERICS_BINS_CELLS_H_
#define GRIDFOLD_KERNELS_NUMERICS_BINS_CELLS_H_

#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>

#include "kernels/numerics/arithmetic/element.h"
#include "kernels/numerics/arithmetic/min_max.h"
#include "kernels/types/host_device.h"

namespace gridfold::kernels {

// What samples of a type are compared as.
template <class T>
using CellWide = std::conditional_t<HalfElement<T> || std::same_as<T, float> ||
                                        (IntegerElement<T> && sizeof(T) < 4),
                                    float, double>;
// Whether its samples are exact as that.
template <class T>
inline constexpr bool kHasBinCells = FloatingElement<T> || sizeof(T) < 8;

// The function from samples to the cells 0 ... last.
template <class W>
struct BinCells {
  W scale = 1;
  W offset = 0;
  int32_t first = 0;   // What is taken off the high word of scale * x + offset; not negative.
  uint32_t shift = 0;  // How many bits of the difference do not count.
  uint32_t last = 0;
};

// The sign, the exponent and as much of the fraction as fits.
GRIDFOLD_HD inline int32_t HighWord(float x) { return std::bit_cast<int32_t>(x); }
GRIDFOLD_HD inline int32_t HighWord(double x) {
#ifdef __CUDA_ARCH__
  return __double2hiint(x);
#else
  return static_cast<int32_t>(std::bit_cast<uint64_t>(x) >> 32);
#endif
}

// By name: on the host, fma() without std:: is that of double.
GRIDFOLD_HD inline float MultiplyAdd(float a, float b, float c) { return fmaf(a, b, c); }
GRIDFOLD_HD inline double MultiplyAdd(double a, double b, double c) { return fma(a, b, c); }

template <class W>
GRIDFOLD_HD inline uint32_t CellOf(const BinCells<W>& cells, W x) {
  const int32_t high = HighWord(MultiplyAdd(x, cells.scale, cells.offset));
  // The greater one first: of a choice between the difference and 0 the compiler makes the greater
  // of both, which it is not where the difference overflows.
  const int32_t reached = high > cells.first ? high : cells.first;
  const uint32_t cell = static_cast<uint32_t>(reached - cells.first) >> cells.shift;
  return cell < cells.last ? cell : cells.last;
}

// The least W that is not less than the edge: samples reach both or none.
template <class W>
GRIDFOLD_HD inline W EdgeAs(double edge) {
  if constexpr (std::same_as<W, double>) {
    return edge;
  } else {
#ifdef __CUDA_ARCH__
    return __double2float_ru(edge);
#else
    const float nearest = static_cast<float>(edge);
    return nearest < edge ? std::nextafter(nearest, HUGE_VALF) : nearest;
#endif
  }
}

// What stands in the place of the last edge, which is in the last bin: the next double.
inline double LastEdgeForCells(double last_edge) { return std::nextafter(last_edge, HUGE_VAL); }

// What is noted of a cell, in few bytes: the more cells, the fewer have several edges.
using BinCellNote = int16_t;
// Bins of a table that notes can tell apart.
inline constexpr uint32_t kBinsOfCellsMax = std::numeric_limits<BinCellNote>::max() / 2;

// The note of a cell whose samples have to be located by comparison.
inline constexpr BinCellNote kUnsureCell = -4;

// The note of a cell: the bin that its finite samples begin in, -1 below all bins, times 2, and 1
// where the cell has an edge. Cells with several have kUnsureCell. Edges are those that cells are
// compared with, made by EdgeAs, the last by LastEdgeForCells before: so many of them are in the
// cells before this one, and in it. Requires at most kBinsOfCellsMax bins.
GRIDFOLD_HD inline BinCellNote CellNote(uint32_t edges_before, uint32_t edges_inside) {
  if (edges_inside > 1) return kUnsureCell;
  return static_cast<BinCellNote>((static_cast<int32_t>(edges_before) - 1) * 2 +
                                  static_cast<int32_t>(edges_inside));
}

// The bin of a finite x, whose cell has this note: bin_count above all bins, kBelowBins below them,
// or kUnsureBin.
inline constexpr uint32_t kBelowBins = ~uint32_t{0};
inline constexpr uint32_t kUnsureBin = kBelowBins - 1;
template <class W>
GRIDFOLD_HD inline uint32_t LocateInCell(int32_t note, const W* edges, W x) {
  const int32_t bin = note >> 1;
  const bool has_edge = (note & 1) != 0;
  W edge = 0;
  if (has_edge) edge = edges[bin + 1];
  return static_cast<uint32_t>(bin + ((has_edge & (x >= edge)) ? 1 : 0));
}

namespace bin_cells_internal {

// Equal widths between two finite edges.
template <class W>
BinCells<W> EvenCells(double lower, double upper, uint32_t cell_count) {
  // High words count cells from here to its double.
  constexpr W kBase = std::same_as<W, float> ? W{0x1p23} : W{0x1p20};
  const double inner_cells = static_cast<double>(cell_count - 3);
  // Halves, which do not overflow.
  const W scale = static_cast<W>(inner_cells / 2 / (upper / 2 - lower / 2));
  const W offset = static_cast<W>(static_cast<double>(kBase) + 1 - lower * scale);
  // Else one cell for all: times 0 infinity would be no number.
  if (!(scale > 0 && std::isfinite(scale) && std::isfinite(offset))) return {};
  return {.scale = scale, .offset = offset, .first = HighWord(kBase), .last = cell_count - 1};
}

// Equal numbers of values between two positive finite edges; all that is less is in the first cell.
template <class W>
BinCells<W> LogarithmicCells(double lower, double upper, uint32_t cell_count) {
  constexpr double kMax = std::numeric_limits<W>::max();
  const uint32_t low = static_cast<uint32_t>(HighWord(static_cast<W>(Min(lower, kMax))));
  const uint32_t high = static_cast<uint32_t>(HighWord(static_cast<W>(Min(upper, kMax))));
  BinCells<W> cells{.last = cell_count - 1};
  while (((high - low + 1) >> cells.shift) + 3 > cell_count) ++cells.shift;
  const uint32_t width = uint32_t{1} << cells.shift;
  cells.first = static_cast<int32_t>(low > width ? low - width : 0);
  return cells;
}

// Of so many edges at most, evenly among all: how many are in the cell of the edge before them. An
// estimate, which takes a launch's time for each thousand.
template <class W>
uint32_t CrowdedEdges(const BinCells<W>& cells, std::span<const double> edges) {
  constexpr size_t kEdgesMax = 256;
  const size_t stride = (edges.size() + kEdgesMax - 1) / kEdgesMax;
  uint32_t crowded = 0;
  for (size_t i = 1; i < edges.size(); i += stride) {
    // Rounded to the nearest, which few edges' cells depend on.
    const auto cell_of = [&](size_t e) { return CellOf(cells, static_cast<W>(edges[e])); };
    if (cell_of(i) == cell_of(i - 1)) ++crowded;
  }
  return crowded;
}

}  // namespace bin_cells_internal

// The better ones of both kinds of cells for increasing `edges`, at least two of them. Requires
// cell_count >= 4.
template <class W>
BinCells<W> MakeBinCells(std::span<const double> edges, uint32_t cell_count) {
  using namespace bin_cells_internal;
  constexpr double kMax = std::numeric_limits<double>::max();
  const double lower = Max(edges.front(), -kMax);
  const double upper = Min(edges.back(), kMax);
  const BinCells<W> even = EvenCells<W>(lower, upper, cell_count);
  // Below the second edge there is but one bin, however far down the first one is.
  const double second = Min(edges[1], kMax);
  if (second <= 0) return even;
  const BinCells<W> logarithmic = LogarithmicCells<W>(second, upper, cell_count);
  return CrowdedEdges(logarithmic, edges) < CrowdedEdges(even, edges) ? logarithmic : even;
}

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_NUMERICS_BINS_CELLS_H_
