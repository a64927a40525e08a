// Keys of elements (numerics/order/order_key.h) as edges of bins: where keys are cut, elements are.
#ifndef GRIDFOLD_KERNELS_FOLDS_KEY_EDGES_H_
#define GRIDFOLD_KERNELS_FOLDS_KEY_EDGES_H_

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/contract/histogram.h"
#include "kernels/types/element_type.h"

namespace gridfold::kernels {

// Binary places of a type's keys.
int KeyBits(ElementType type);

// Whether some integers of the type are not float64, which edges are. Those whose lowest places, so
// many of them, are 0 are.
bool HasInexactEdges(ElementType type);
inline constexpr int kInexactEdgeBits = 11;

// Edges of bins, and the first key of each bin that counts. One more bin may follow, which keeps
// the last of those half-open.
struct KeyEdges {
  std::vector<double> edges;
  std::vector<uint64_t> first_keys;
  // Whether the last bin has, beside the keys of its own, the elements that are infinite.
  bool has_infinity_beside = false;
};

// Cuts the intervals of 2^width keys that begin with these, which increase, into bins of
// 2^narrower. Keys between the intervals are in bins too. Keys that no element has may be in any
// bin.
KeyEdges CutKeys(ElementType type, std::span<const uint64_t> first_keys, int width, int narrower);

// Bins of so many single integers, the keys from this one on.
IntegerBinsSpec IntegersFrom(ElementType type, uint64_t first_key, uint64_t count);

// Of a floating-point type.
uint64_t InfinityKey(ElementType type);
double LargestFinite(ElementType type);

// The element of a key, as 8 bytes.
uint64_t SlotOfKey(ElementType type, uint64_t key);

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_FOLDS_KEY_EDGES_H_
