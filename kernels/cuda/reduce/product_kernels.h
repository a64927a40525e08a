// The kernels of floating-point products as host code sees them. Plain C++.
//
// A group of n elements has nodes on levels: level 0 are its tiles, ceil(n / kProductTile) of them
// (at least one), and each level above has a node for each kProductRadix nodes below, which is as
// many steps of the pairwise tree as its logarithm. The last level has one node a group, its
// product.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_PRODUCT_KERNELS_H_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_PRODUCT_KERNELS_H_

#include <cstdint>

#include "kernels/cuda/device/grid.h"
#include "kernels/numerics/arithmetic/product_tree.h"
#include "kernels/numerics/arithmetic/scaled_product.h"
#include "kernels/types/element_type.h"
#include "kernels/types/host_device.h"

namespace gridfold::kernels::cuda {

inline constexpr uint64_t kProductRadix = 32;
inline constexpr uint32_t kProductBlockThreads = 256;

// Nodes of a level of all groups, and where they are kept.
//
// Groups of one size have the same number of nodes. Segments have room for the nodes they may need:
// segment g's start at floor(offsets[g] / elements_per_node) + g, which leaves ceil(size /
// elements_per_node) places or one before the next segment's, and needs no prefix sums.
struct ProductLevel {
  uint64_t group_count;
  uint64_t group_size;  // Not used for segments.
  uint64_t element_count;
  const uint64_t* offsets;     // Segments, in device memory; else null.
  uint64_t elements_per_node;  // kProductTile * kProductRadix ^ level
  bool columns;                // Axis 0: nodes of a column are group_count places apart.

  GRIDFOLD_HD uint64_t GroupBegin(uint64_t group) const {
    return offsets != nullptr ? offsets[group] : group * group_size;
  }
  GRIDFOLD_HD uint64_t GroupSize(uint64_t group) const {
    return offsets != nullptr ? offsets[group + 1] - offsets[group] : group_size;
  }
  GRIDFOLD_HD uint64_t NodeCount(uint64_t group) const {
    const uint64_t nodes = CeilDivide(GroupSize(group), elements_per_node);
    return nodes == 0 ? 1 : nodes;
  }
  // Places for the nodes of all groups.
  GRIDFOLD_HD uint64_t PlaceCount() const {
    if (offsets != nullptr) return element_count / elements_per_node + group_count;
    return group_count * NodeCount(0);
  }
  GRIDFOLD_HD uint64_t FirstPlace(uint64_t group) const {
    if (columns) return group;
    if (offsets != nullptr) return offsets[group] / elements_per_node + group;
    return group * NodeCount(0);
  }
  GRIDFOLD_HD uint64_t Place(uint64_t group, uint64_t node) const {
    return FirstPlace(group) + node * (columns ? group_count : 1);
  }
};

// A level's nodes are written to `nodes`, or, at the last level, to the groups' slots.
struct ProductOutput {
  ScaledProduct* nodes;
  double* slots;  // Null but for the last level.
};

struct ProductTileWork {
  const void* elements;
  bool ignore_nan;
  ProductLevel level;  // Level 0.
  ProductOutput output;
};

struct ProductJoinWork {
  const ScaledProduct* nodes;  // Of the level below.
  ProductLevel below;
  ProductLevel level;
  ProductOutput output;
};

struct ProductKernels {
  void (*tiles)(ProductTileWork);         // A warp for each place.
  void (*column_tiles)(ProductTileWork);  // Axis 0: a block for each tile of 32 columns.
  void (*join)(ProductJoinWork);          // A thread for each place.
};

// `type` is floating-point.
ProductKernels ProductKernelsFor(ElementType type);

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_PRODUCT_KERNELS_H_
