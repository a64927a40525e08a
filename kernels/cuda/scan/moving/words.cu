// The kernels that add up the words of chunks. A thread takes one word of the rows of a link, its
// neighbour the next word: words have no carries between them, so each is a prefix sum of its own.
#include <cstdint>

#include "kernels/cuda/scan/moving/kernels.h"

namespace gridfold::kernels::cuda {

namespace {

// Rows whose loads are in flight together.
constexpr int kRowsTogether = 8;

// Calls visit(place, word) for the word of each row of this thread's links, in order, between
// begin(place in a row of links) and end(the same).
template <class Begin, class Visit, class End>
__device__ void ForEachWord(const MovingWords& rows, Begin begin, Visit visit, End end) {
  const uint64_t count = rows.link_count() * rows.width;
  const uint64_t stride = uint64_t{gridDim.x} * blockDim.x;
  for (uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride) {
    const uint64_t first = i / rows.width * rows.link_rows;
    const uint64_t behind = min(first + rows.link_rows, rows.rows);
    begin(i);
    for (uint64_t row = first; row < behind; row += kRowsTogether) {
      int64_t words[kRowsTogether];
#pragma unroll
      for (int k = 0; k < kRowsTogether; ++k) {
        words[k] = row + k < behind ? rows.words[(row + k) * rows.width + i % rows.width] : 0;
      }
#pragma unroll
      for (int k = 0; k < kRowsTogether; ++k) {
        if (row + k < behind) visit((row + k) * rows.width + i % rows.width, words[k]);
      }
    }
    end(i);
  }
}

__global__ void __launch_bounds__(kMovingThreads) TotalMovingLinks(const MovingWords rows) {
  int64_t total = 0;
  ForEachWord(
      rows, [&](uint64_t) { total = 0; }, [&](uint64_t, int64_t word) { total += word; },
      [&](uint64_t i) { rows.links[i] = total; });
}

__global__ void __launch_bounds__(kMovingThreads) FindMovingPrefixes(const MovingWords rows) {
  int64_t before = 0;
  ForEachWord(
      rows, [&](uint64_t i) { before = rows.links != nullptr ? rows.links[i] : 0; },
      [&](uint64_t place, int64_t word) {
        rows.words[place] = before;
        before += word;
      },
      [](uint64_t) {});
}

}  // namespace

MovingWordsKernel MovingLinksKernel() { return TotalMovingLinks; }
MovingWordsKernel MovingPrefixesKernel() { return FindMovingPrefixes; }

}  // namespace gridfold::kernels::cuda
