#include <cooperative_groups.h>

#include <cstdint>
#include <cstdlib>

#include "kernels/cuda/reduce/product_kernels.h"
#include "kernels/numerics/arithmetic/element.h"
#include "kernels/numerics/arithmetic/product_tree.h"
#include "kernels/numerics/arithmetic/scaled_product.h"

namespace gridfold::kernels::cuda {

namespace {

namespace cg = cooperative_groups;

struct Node {
  uint64_t group;
  uint64_t index;  // In its group.
  bool exists;     // False for a place that no node needed.
};

// The node that a place holds.
__device__ Node NodeAt(const ProductLevel& level, uint64_t place) {
  if (level.columns) return {place % level.group_count, place / level.group_count, true};
  if (level.offsets == nullptr) {
    const uint64_t nodes = level.NodeCount(0);
    return {place / nodes, place % nodes, true};
  }
  // The last segment that does not start behind the place.
  uint64_t low = 0;
  uint64_t high = level.group_count;
  while (high - low > 1) {
    const uint64_t middle = low + (high - low) / 2;
    (level.FirstPlace(middle) <= place ? low : high) = middle;
  }
  const uint64_t index = place - level.FirstPlace(low);
  return {low, index, index < level.NodeCount(low)};
}

__device__ void WriteNode(const ProductLevel& level, const ProductOutput& output, uint64_t group,
                          uint64_t index, const ScaledProduct& product) {
  if (output.slots != nullptr) {
    output.slots[group] = product.Rounded();
  } else {
    output.nodes[level.Place(group, index)] = product;
  }
}

// Neighbours multiplied, and their products again, five times. 32 normalised fractions do not leave
// the range of float64.
__device__ double PairwiseProductOf32(double (&fractions)[32]) {
#pragma unroll
  for (uint32_t count = 16; count > 0; count /= 2) {
#pragma unroll
    for (uint32_t i = 0; i < 16; ++i) {
      if (i < count) fractions[i] = fractions[2 * i] * fractions[2 * i + 1];
    }
  }
  return fractions[0];
}

template <class T>
__global__ void __launch_bounds__(kProductBlockThreads)
    ProductTiles(const __grid_constant__ ProductTileWork work) {
  const auto warp = cg::tiled_partition<kProductLanes>(cg::this_thread_block());
  const T* const elements = static_cast<const T*>(work.elements);
  const uint64_t step = static_cast<uint64_t>(gridDim.x) * warp.meta_group_size();
  const uint64_t place_count = work.level.PlaceCount();
  uint64_t place =
      static_cast<uint64_t>(blockIdx.x) * warp.meta_group_size() + warp.meta_group_rank();
  for (; place < place_count; place += step) {
    const Node node = NodeAt(work.level, place);
    if (!node.exists) continue;  // All lanes of the warp alike.
    const T* const group = elements + work.level.GroupBegin(node.group);
    const ScaledProduct lane = ProductOfLane(
        node.index * kProductTile, work.level.GroupSize(node.group), warp.thread_rank(),
        [&](uint64_t i) { return ProductFactor(group[i], work.ignore_nan); });
    ScaledProduct product = lane.Normalised();  // As in PairwiseProductOf32.
    for (uint32_t distance = 1; distance < kProductLanes; distance *= 2) {
      product.fraction *= warp.shfl_xor(product.fraction, distance);
      product.exponent += warp.shfl_xor(product.exponent, distance);
    }
    if (warp.thread_rank() == 0) {
      WriteNode(work.level, work.output, node.group, node.index, product);
    }
  }
}

// A block takes a tile of rows of 32 neighbouring columns: a thread the rows of some of the tile's
// lanes in one column, so that reads are coalesced; then one thread a column joins the lanes.
template <class T>
__global__ void __launch_bounds__(kProductBlockThreads)
    ProductColumnTiles(const __grid_constant__ ProductTileWork work) {
  constexpr uint32_t kColumns = 32;
  constexpr uint32_t kThreadRows = kProductBlockThreads / kColumns;
  __shared__ double fractions[kProductLanes][kColumns];
  __shared__ int64_t exponents[kThreadRows][kColumns];  // Sums of those that a thread has.
  const cg::thread_block block = cg::this_thread_block();
  const T* const elements = static_cast<const T*>(work.elements);
  const uint32_t x = block.thread_rank() % kColumns;
  const uint32_t y = block.thread_rank() / kColumns;
  const uint64_t columns = work.level.group_count;
  const uint64_t column_tiles = CeilDivide(columns, kColumns);
  const uint64_t item_count = column_tiles * work.level.NodeCount(0);
  for (uint64_t item = blockIdx.x; item < item_count; item += gridDim.x) {
    const uint64_t column = item % column_tiles * kColumns + x;
    const uint64_t node = item / column_tiles;
    if (column < columns) {
      int64_t exponent = 0;
      for (uint32_t lane = y; lane < kProductLanes; lane += kThreadRows) {
        const ScaledProduct product =
            ProductOfLane(node * kProductTile, work.level.group_size, lane, [&](uint64_t row) {
              return ProductFactor(elements[row * columns + column], work.ignore_nan);
            });
        const ScaledProduct normalised = product.Normalised();
        fractions[lane][x] = normalised.fraction;
        exponent += normalised.exponent;
      }
      exponents[y][x] = exponent;
    }
    block.sync();
    if (column < columns && y == 0) {
      double factors[32];
#pragma unroll
      for (uint32_t lane = 0; lane < kProductLanes; ++lane) factors[lane] = fractions[lane][x];
      int64_t exponent = 0;
      for (uint32_t row = 0; row < kThreadRows; ++row) exponent += exponents[row][x];
      WriteNode(work.level, work.output, column, node, {PairwiseProductOf32(factors), exponent});
    }
    block.sync();
  }
}

__global__ void __launch_bounds__(kProductBlockThreads)
    ProductJoin(const __grid_constant__ ProductJoinWork work) {
  const uint64_t step = static_cast<uint64_t>(gridDim.x) * blockDim.x;
  const uint64_t place_count = work.level.PlaceCount();
  uint64_t place = static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (; place < place_count; place += step) {
    const Node node = NodeAt(work.level, place);
    if (!node.exists) continue;
    const uint64_t below_count = work.below.NodeCount(node.group);
    const uint64_t first = node.index * kProductRadix;
    double factors[32];
    int64_t exponent = 0;
#pragma unroll
    for (uint32_t i = 0; i < kProductRadix; ++i) {
      ScaledProduct factor;
      if (first + i < below_count) {
        factor = work.nodes[work.below.Place(node.group, first + i)].Normalised();
      }
      factors[i] = factor.fraction;
      exponent += factor.exponent;
    }
    WriteNode(work.level, work.output, node.group, node.index,
              {PairwiseProductOf32(factors), exponent});
  }
}

static_assert(kProductLanes == 32 && kProductRadix == 32, "trees of 32 leaves");

}  // namespace

ProductKernels ProductKernelsFor(ElementType type) {
  return VisitElementType(type, [](auto tag) -> ProductKernels {
    using T = typename decltype(tag)::type;
    if constexpr (FloatingElement<T>) {
      return {ProductTiles<T>, ProductColumnTiles<T>, ProductJoin};
    } else {
      std::abort();  // Products of integers are parts of a ReductionState: a bug of the caller.
    }
  });
}

}  // namespace gridfold::kernels::cuda
