// These structs say what is compacted, and to where (compact.h). Plain C++, for device code too.
#ifndef GRIDFOLD_KERNELS_CUDA_HISTOGRAM_COMPACT_VALUES_H_
#define GRIDFOLD_KERNELS_CUDA_HISTOGRAM_COMPACT_VALUES_H_

#include <cstdint>

namespace gridfold::kernels::cuda {

// How the 8 bytes of a value are compared with zero; as float64, -0.0 is zero and NaN is not.
enum class WordKind : uint8_t { kInteger, kFloat64 };

// All pointers are to device memory; `values` and `indices` have room for every word.
struct CompactOutput {
  uint64_t* values;
  uint64_t* indices;
  uint64_t* count;  // How many there are of both.
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_HISTOGRAM_COMPACT_VALUES_H_
