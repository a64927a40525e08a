// The kernels that order elements by group. For bykey/ only; plain C++.
//
// Elements become numbers, which are ordered as their groups are; a stable sort by one digit after
// the other brings the numbers, and a payload with each, in order; runs of equal numbers are
// groups.
#ifndef GRIDFOLD_KERNELS_CUDA_BYKEY_KERNELS_H_
#define GRIDFOLD_KERNELS_CUDA_BYKEY_KERNELS_H_

#include <cstdint>

#include "kernels/numerics/bins/layout.h"
#include "kernels/types/element_type.h"
#include "kernels/types/policies.h"

namespace gridfold::kernels::cuda {

inline constexpr uint32_t kKeyThreads = 256;

// What kernels find of all keys or numbers; all 0 to begin with.
struct KeyFacts {
  uint64_t least_inverted = 0;  // The inverse of the least number of a key.
  uint64_t largest = 0;
  uint64_t varying_bits = 0;  // In which keys differ.
  uint64_t has_descent = 0;   // Whether a key is smaller than the one before it.
  uint64_t run_count = 0;     // Runs of equal ones.
  uint64_t outcomes[3] = {};  // Underflow, overflow, NaN.
  uint64_t dropped_count = 0;
  uint64_t first_outside_inverted = 0;  // The inverse of the index of the first key in no bin.
  uint64_t largest_run = 0;             // Elements of the largest group.
};

// Elements of all, as blocks take them: consecutive chunks, one for each block.
struct KeyChunks {
  uint64_t count = 0;
  uint64_t chunk = 0;  // Whole tiles.
};

// Looks at all elements once: finds the facts above but for outcomes and the largest run, and
// counts the runs of equal elements that begin in each block's chunk. Of keys, or of numbers, whose
// types are kUint32 and kUint64.
using SurveyKernel = void (*)(KeyChunks chunks, const void* elements, KeyFacts* facts,
                              uint64_t* run_counts);
SurveyKernel FindSurveyKernel(ElementType type);

// Numbers keys: those of their order (numerics/arithmetic/ordered_key.h) less `first`. Of 32 or 64
// bits.
using NumberKeysKernel = void (*)(const void* keys, uint64_t count, uint64_t first, void* numbers);
NumberKeysKernel FindNumberKeysKernel(ElementType type, bool is_narrow);

struct KeyAxisArguments {
  const void* keys = nullptr;  // Coordinates on this axis.
  uint64_t count = 0;
  BinLayout bins;
  OutOfRangePolicy policy = OutOfRangePolicy::kDrop;
  bool is_first = true;
  bool is_last = true;
  uint32_t dropped = 0;  // The number of what is in no bin.
};
// Takes the elements' places (numerics/bins/axes.h) on to an axis; the last one makes them numbers,
// of 32 bits: those of bins.
using NumberAxisKernel = void (*)(KeyAxisArguments arguments, uint32_t* numbers, KeyFacts* facts);
NumberAxisKernel FindNumberAxisKernel(ElementType type);

// --- One pass of the sort.

inline constexpr uint32_t kDigitBits = 8;
inline constexpr uint32_t kDigits = 1 << kDigitBits;
inline constexpr uint32_t kSortItems = 16;  // Of a thread, in a tile.
inline constexpr uint32_t kSortTile = kKeyThreads * kSortItems;

struct SortPass {
  KeyChunks chunks;
  uint32_t first_bit = 0;
  uint32_t mask = 0;  // Of a digit.
};

// Counts each block's digits, [digit][block].
using CountDigitsKernel = void (*)(SortPass pass, const void* numbers, uint64_t* counts);
CountDigitsKernel FindCountDigitsKernel(bool is_narrow);

// Makes each digit's counts running sums before each block, and finds their `totals`; a block of
// kKeyThreads for each of so many lists.
using ScanCountsKernel = void (*)(uint64_t* counts, uint64_t list_length, uint64_t* totals);
ScanCountsKernel FindScanCountsKernel();

struct SortArrays {
  const void* numbers = nullptr;
  const void* payload = nullptr;  // Null: the elements' places, of 32 bits.
  void* sorted_numbers = nullptr;
  void* sorted_payload = nullptr;
};
using SortKernel = void (*)(SortPass pass, SortArrays arrays, const uint64_t* counts,
                            const uint64_t* totals);
SortKernel FindSortKernel(bool has_narrow_numbers, bool has_narrow_payload);

// --- Runs.

// Writes number (numerics/arithmetic/ordered_key.h) and beginning of each run of elements in order,
// after ScanCounts of one list, and behind the beginnings where the last run ends.
struct RunArrays {
  const void* elements = nullptr;
  const uint64_t* counts = nullptr;
  uint64_t run_count = 0;
  uint64_t* numbers = nullptr;
  uint64_t* begins = nullptr;
};
using WriteRunsKernel = void (*)(KeyChunks chunks, RunArrays runs);
WriteRunsKernel FindWriteRunsKernel(ElementType type);

// Finds the largest of so many runs.
using LargestRunKernel = void (*)(const uint64_t* begins, uint64_t run_count, KeyFacts* facts);
LargestRunKernel FindLargestRunKernel();

// --- Moving.

// moved[i] = elements[places[i]], of so many bytes each.
using GatherKernel = void (*)(const void* elements, const uint32_t* places, uint64_t count,
                              void* moved);
GatherKernel FindGatherKernel(uint64_t element_bytes);

// In place: positions[i] = places[positions[i]].
using MapPlacesKernel = void (*)(const uint32_t* places, uint64_t* positions, uint64_t count);
MapPlacesKernel FindMapPlacesKernel();

// --- Negative zeros: *found becomes 1 where one is among floating-point elements.

using FindNegativeZerosKernel = void (*)(const void* elements, uint64_t count, uint32_t* found);
FindNegativeZerosKernel NegativeZerosKernelOf(uint64_t element_bytes);

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_BYKEY_KERNELS_H_
