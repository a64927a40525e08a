// Selections (kernels/contract/selection.h) on the device. See device/launch.h for the manner of
// launchers. Tiles are counted, their starts added up, and then their elements are written, each
// block by itself: three passes over the mask, and one over the elements.
//
// Masks without a place are null. Scratch is `tile_starts`, plan.scratch_bytes() of it.
#ifndef GRIDFOLD_KERNELS_CUDA_SELECT_SELECT_H_
#define GRIDFOLD_KERNELS_CUDA_SELECT_SELECT_H_

#include <cuda_runtime_api.h>

#include <cstdint>

#include "absl/status/status.h"
#include "kernels/contract/selection.h"

namespace gridfold::kernels::cuda {

// The arrays of a selection in device memory, aligned to their elements.
struct SelectionArrays {
  const void* input = nullptr;
  const uint8_t* mask = nullptr;
  uint64_t* tile_starts = nullptr;
  const uint64_t* group_offsets = nullptr;  // Of segments, in the array.
  void* selected = nullptr;
  uint64_t* selected_offsets = nullptr;  // group_count + 1.
};

// Enqueues the selection. Errors: INTERNAL from CUDA.
absl::Status LaunchSelection(const SelectionPlan& plan, const SelectionArrays& arrays,
                             cudaStream_t stream);

// Enqueues the search for the `count` elements of which ranks[i] selected ones stand before, by the
// tile starts of a selection with this mask.
absl::Status LaunchFindSelected(const uint8_t* mask, uint64_t element_count,
                                const uint64_t* tile_starts, const uint64_t* ranks, uint64_t count,
                                uint64_t* places, cudaStream_t stream);

// Enqueues a copy of the elements in which `replacement` stands where the mask is 0.
absl::Status LaunchReplacement(uint64_t element_count, uint64_t element_bytes,
                               const ElementBytes& replacement, const void* input,
                               const uint8_t* mask, void* output, cudaStream_t stream);

inline constexpr uint32_t kSelectThreads = 256;
inline constexpr uint32_t kScanTilesThreads = 1024;

// How elements are grouped where an initial one stands before each group's.
struct SelectionGroups {
  const uint64_t* offsets = nullptr;  // Of segments; else groups are of one size.
  uint64_t group_count = 1;
  uint64_t group_size = 0;
  bool has_initial = false;
  uint64_t initial = 0;  // Its bytes.
};

// Kernels, for units of 1, 2, 4 or 8 bytes. A block takes a tile.
using CountTilesKernel = void (*)(const uint8_t* mask, uint64_t element_count,
                                  uint64_t* tile_starts);
CountTilesKernel FindCountTilesKernel();
// One block makes of counts what is before each of so many tiles.
using AddTilesKernel = void (*)(uint64_t* tile_starts, uint64_t tile_count);
AddTilesKernel FindAddTilesKernel();
using WriteSelectedKernel = void (*)(const void* input, const uint8_t* mask, uint64_t element_count,
                                     const uint64_t* tile_starts, SelectionGroups groups,
                                     void* selected);
WriteSelectedKernel FindWriteSelectedKernel(uint64_t element_bytes);
// A warp takes the beginning of a group, and writes the initial element there, if there is one.
using SelectedOffsetsKernel = void (*)(const uint8_t* mask, uint64_t element_count,
                                       const uint64_t* tile_starts, SelectionGroups groups,
                                       uint64_t* selected_offsets, void* selected);
SelectedOffsetsKernel FindSelectedOffsetsKernel(uint64_t element_bytes);
// A warp takes a rank.
using FindSelectedKernel = void (*)(const uint8_t* mask, uint64_t element_count,
                                    const uint64_t* tile_starts, uint64_t tile_count,
                                    const uint64_t* ranks, uint64_t count, uint64_t* places);
FindSelectedKernel FindFindSelectedKernel();
using ReplaceKernel = void (*)(uint64_t element_count, uint64_t replacement, const void* input,
                               const uint8_t* mask, void* output);
ReplaceKernel FindReplaceKernel(uint64_t element_bytes);

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_SELECT_SELECT_H_
