// How a large group is read once: bounds of the wanted keys come from a sample, and one pass over
// all elements counts what lies beside the bounds and keeps what lies between them. Plain C++.
//
// The keys are cut into regions at the bounds. A wanted key is found among the kept ones if its
// rank lies in a kept region and there was room for all of them; a region of a single key needs no
// room. Otherwise digits of all elements are counted, as of smaller groups.
#ifndef GRIDFOLD_KERNELS_CUDA_ORDER_NARROW_H_
#define GRIDFOLD_KERNELS_CUDA_ORDER_NARROW_H_

#include <cstdint>

#include "kernels/cuda/order/arguments.h"
#include "kernels/cuda/order/sample.h"

namespace gridfold::kernels::cuda {

// A power of two: two starts of either bound of a target, that of NaNs, and the first region.
inline constexpr uint32_t kRegionsMax = 128;
static_assert(4 * kSampledTargetsMax + 2 <= kRegionsMax);

// In device memory.
struct KeyRegions {
  SampleBounds bounds[kSampledTargetsMax];
  uint32_t start_count;          // Regions but for the first one, which begins at 0.
  uint64_t starts[kRegionsMax];  // Of region r at r - 1: increasing, none of them 0.
  uint8_t is_kept[kRegionsMax];
  uint64_t counts[kRegionsMax];  // Keys of all regions but the first.
};

struct SampleArguments {
  const void* elements = nullptr;
  uint64_t count = 0;
  KeyKind kind;
  uint32_t size_log2 = 0;
  DigitState* state = nullptr;
  void* kept = nullptr;  // Where the keys of the sample go.
};

// Bounds of targets, or of the last of so many selected elements.
struct BoundsArguments {
  DigitState* state = nullptr;
  KeyRegions* regions = nullptr;
  uint64_t count = 0;
  uint32_t size_log2 = 0;
  const QuantileTarget* targets = nullptr;  // Null: of the selected ones.
  uint32_t target_count = 1;
  uint64_t selected = 0;
  uint64_t key_max = 0;
  bool has_nan_keys = false;  // Whether the largest key is that of NaNs, which are counted.
};

struct KeepArguments {
  const void* elements = nullptr;
  uint64_t count = 0;
  KeyKind kind;
  uint64_t key_max = 0;
  bool has_nan_keys = false;
  DigitState* state = nullptr;
  KeyRegions* regions = nullptr;
  void* kept = nullptr;
  uint64_t* kept_indices = nullptr;  // Of the elements of kept keys; null where nobody asks.
  uint64_t kept_room = 0;
};

// What a pass over all elements counts and keeps.
enum class KeepForm : uint8_t {
  kOneTarget,
  kTargets,
  kTop,  // With indices.
};

// Elements that are collected from kept ones, of which equal ones come in the order of indices.
inline constexpr uint32_t kKeptTiesMax = 2048;

struct KeptTies {
  uint64_t count;            // Equal elements that were found,
  uint64_t larger;           // and others.
  uint32_t finished_blocks;  // Of the kernel.
  uint64_t indices[kKeptTiesMax];
};

struct CollectKeptArguments {
  CollectArguments collect;
  const void* kept = nullptr;
  const uint64_t* kept_indices = nullptr;
  KeptTies* ties = nullptr;  // Zero at first.
};

// Of elements of 4 and 8 bytes.
void (*FindGatherSampleKernel(ElementType type))(SampleArguments);
void (*FindWantBoundsKernel())(BoundsArguments);
void (*FindMakeRegionsKernel())(BoundsArguments);
void (*FindKeepKernel(ElementType type, KeepForm form))(KeepArguments);
// Moves wanted ranks to the kept keys where all of them lie there.
void (*FindPlaceWantedKernel())(KeepArguments);
void (*FindCollectKeptKernel(ElementType type))(CollectKeptArguments);

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_ORDER_NARROW_H_
