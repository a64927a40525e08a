// The kernels of moving sums and means.
//
// A thread takes a chunk of a line, as numerics/scans/moving_chunk.h says; its neighbour takes the
// same chunk of the next line, or the next chunk where there is one line. Where a window is longer
// than a chunk, three steps come before the results:
//   totals    the words of each chunk's elements
//   links     the sum of each word over the chunks of a link
//   prefixes  from the words of each chunk to those of all chunks before it in its line
#ifndef GRIDFOLD_KERNELS_CUDA_SCAN_MOVING_KERNELS_H_
#define GRIDFOLD_KERNELS_CUDA_SCAN_MOVING_KERNELS_H_

#include <cstdint>

#include "kernels/numerics/scans/moving_chunk.h"
#include "kernels/types/element_type.h"

namespace gridfold::kernels::cuda {

inline constexpr int kMovingThreads = 128;

// Plain data, passed by value.
struct MovingArguments {
  const void* input = nullptr;
  void* output = nullptr;
  uint32_t* overflow_flag = nullptr;  // Set to 1 where a result does not fit.
  MovingShape shape;
  MovingRules rules;
  int64_t* words = nullptr;  // Of each chunk; null: no window is longer than one.
};

// Rows of words, of each of which the prefixes are found by themselves: a row has `width` of them.
struct MovingWords {
  int64_t* words = nullptr;
  uint64_t width = 0;
  uint64_t rows = 0;
  uint64_t link_rows = 0;    // A link has so many rows.
  int64_t* links = nullptr;  // A row for each link; null: there is one, which nothing precedes.

  GRIDFOLD_HD uint64_t link_count() const { return (rows + link_rows - 1) / link_rows; }
};

using MovingKernel = void (*)(MovingArguments);
using MovingWordsKernel = void (*)(MovingWords);

struct MovingKernels {
  MovingKernel totals = nullptr;
  MovingKernel results = nullptr;
};

// The kernels for an element type and a type of results.
template <class T>
MovingKernels FindMovingKernels(ElementType output_type);

// From words to the sums of links, and from words to prefixes, starting from those of links.
MovingWordsKernel MovingLinksKernel();
MovingWordsKernel MovingPrefixesKernel();

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_SCAN_MOVING_KERNELS_H_
