// Finds bins in a table of edges, many samples at a time: each step of the search is made for all
// of them, so that none waits for the comparison before it, and no branch is guessed wrongly.
#ifndef GRIDFOLD_KERNELS_CPU_HISTOGRAM_TABLE_SEARCH_H_
#define GRIDFOLD_KERNELS_CPU_HISTOGRAM_TABLE_SEARCH_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/cpu/base/independent_iterations.h"
#include "kernels/numerics/arithmetic/element.h"
#include "kernels/numerics/bins/layout.h"

namespace gridfold::kernels::cpu {

// Sets bins[i] to LocateBin of sample i, for every step-th of `count` samples at any byte address.
// The layout is a table.
template <class T>
struct SearchKernel {
  static void Run(const std::byte* samples, uint64_t count, uint64_t step, const BinLayout& layout,
                  int64_t* bins) {
    if constexpr (FloatingElement<T> || sizeof(T) < 8) {
      for (uint64_t first = 0; first < count; first += kAtOnce * step) {
        const uint64_t searched = std::min(kAtOnce, (count - first + step - 1) / step);
        Search(samples + first * sizeof(T), searched, step, layout, bins + first);
      }
    } else {
      for (uint64_t i = 0; i < count; i += step) {
        bins[i] = LocateBin(layout, LoadUnaligned<T>(samples, i));
      }
    }
  }

 private:
  static constexpr uint64_t kAtOnce = 256;

  static void Search(const std::byte* samples, uint64_t count, uint64_t step,
                     const BinLayout& layout, int64_t* bins) {
    const double* const edges = layout.edges;
    double x[kAtOnce];
    uint64_t low[kAtOnce];
    for (uint64_t i = 0; i < count; ++i) {
      x[i] = static_cast<double>(ToCompute(LoadUnaligned<T>(samples, i * step)));
      low[i] = 0;
    }
    // As LocateInTable: the last edge, of those before the closing one, that x reaches.
    for (uint64_t length = layout.bin_count; length > 1; length -= length / 2) {
      const uint64_t half = length / 2;
      GRIDFOLD_INDEPENDENT_ITERATIONS
      for (uint64_t i = 0; i < count; ++i) low[i] += x[i] >= edges[low[i] + half] ? half : 0;
    }
    const double first_edge = edges[0];
    const double last_edge = edges[layout.bin_count];
    for (uint64_t i = 0; i < count; ++i) {
      int64_t bin = static_cast<int64_t>(low[i]);
      bin = x[i] >= first_edge ? bin : kUnderflowBin;
      bin = x[i] > last_edge ? kOverflowBin : bin;
      bins[i * step] = IsNan(x[i]) ? kNanBin : bin;
    }
  }
};

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_HISTOGRAM_TABLE_SEARCH_H_
