// The inner loops of reductions: one thread, one piece of the array.
//
// Defined in kernels.inc.h, which is compiled once for each group of element types. The
// results of a kernel depend on its arguments only, not on the processor's instruction set.
#ifndef GRIDFOLD_KERNELS_CPU_REDUCE_KERNELS_H_
#define GRIDFOLD_KERNELS_CPU_REDUCE_KERNELS_H_

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/reduce/lanes.h"
#include "kernels/numerics/arithmetic/product_tree.h"
#include "kernels/numerics/arithmetic/scaled_product.h"

namespace gridfold::kernels::cpu {

// What is kept of the elements.
struct ReduceRequest {
  uint32_t parts = 0;  // Bits of numerics/statistics/reduction_state.h.
  bool ignore_nan = false;
  bool float_product = false;  // Products along numerics/arithmetic/product_tree.h.
};

// Piece sizes: fixed by the element's type, so that results do not depend on the number of threads.
// A power of two of tiles of the product tree each, so that pieces are whole branches of it.
template <class T>
inline constexpr uint64_t kReduceBlockElements = (uint64_t{512} << 10) / sizeof(T);
static_assert(kReduceBlockElements<double> % kProductTile == 0);

// Columns of a matrix that are reduced together; one KiB of each row.
template <class T>
inline constexpr uint64_t kReduceStripColumns = kLanesMax<ComputeType<T>>;

template <class T>
using GroupStateOf = GroupState<ComputeType<T>>;

// Some consecutive elements of some groups that are interleaved: each group is a column. One column
// with a stride of one element is a piece of a contiguous group.
struct StripShape {
  size_t stride_bytes;  // From row to row.
  uint64_t rows;        // At most 2^29.
  uint32_t columns;     // At most kReduceStripColumns<T>.
  uint64_t first_row;   // Index of the first row's elements in their groups.
};

// Merges the elements of a strip into `states`, one for each column. Where the request has
// float_product, products[column] becomes the column's node of the product tree; `first_row` is
// then where such a node begins.
template <class T>
void ReduceStrip(const std::byte* data, const StripShape& shape, const ReduceRequest& request,
                 GroupStateOf<T>* states, ScaledProduct* products);

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_REDUCE_KERNELS_H_
