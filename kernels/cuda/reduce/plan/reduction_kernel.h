// The kernels that reductions may take first, by the names that strategies give them.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_PLAN_REDUCTION_KERNEL_H_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_PLAN_REDUCTION_KERNEL_H_

#include <cstdint>
#include <optional>

namespace gridfold::kernels::cuda {

// Kernels of a family take the same groups, and what they are given as arguments is alike.
enum class ReductionFamily : uint8_t {
  kNothing,  // There are no groups.
  kProduct,  // Nothing but products of floating-point elements, which have passes of their own.
  kLong,     // Groups of neighbours, of which blocks take chunks.
  kGroups,   // Groups of neighbours, of which lanes of a warp take each.
  kColumns,  // Groups whose elements lie a row apart.
};

enum class ReductionKernel : uint8_t {
  kNothing,
  kProduct,
  // kLong
  kBlocks,     // Whatever is asked for: reduce/long/blocks.cuh.
  kBlockSums,  // Sums of floats and halves: reduce/columns/sums.cuh.
  // kGroups
  kTiles,          // Whatever is asked for: reduce/groups/tiles.cuh.
  kGroupSums,      // Sums of floating-point elements: reduce/groups/sums.cuh.
  kVectorSums,     // Of floats and halves, groups of a vector or half of one.
  kRowSums,        // Rows of a power of two of vectors: reduce/groups/row_sums.cuh.
  kStripSums,      // Many short segments of floats and halves: reduce/groups/strip_sums.cuh.
  kIntegerStrips,  // Sums and several statistics of integers: reduce/groups/integer_strips.cuh.
  kRowMoments,     // Several of rows: reduce/groups/row_moments.cuh, float_row_moments.cuh.
  kFixedPoint,     // Several of floats and halves: reduce/groups/fixed_point_tiles.cuh.
  kPairTiles,      // Several of float64: reduce/groups/pair_tiles.cuh.
  kRowExtremes,    // Nothing but extremes: reduce/groups/row_extremes.cuh.
  kBriefExtremes,  // Of rows of a few elements: reduce/groups/brief_extremes.cu.
  kWarpExtremes,   // Of rows of a KiB or more: reduce/groups/warp_extremes.cu.
  kSingles,        // Rows of one element: reduce/groups/singles.cu.
  // kColumns
  kColumns,             // Whatever is asked for: reduce/columns/columns.cuh.
  kColumnSums,          // Sums of floats and halves: reduce/columns/sums.cuh,
  kWholeColumnSums,     // a thread for all rows: whole_columns.cuh,
  kShallowColumnSums,   // of which there are few.
  kColumnVectors,       // Integers, and extremes: reduce/columns/kernels.cuh,
  kWholeColumnVectors,  // a thread for all rows.
  kDoubleColumns,       // Sums of float64: reduce/columns/double_columns.cuh,
  kWholeDoubleColumns,  // a thread for all rows.
  kMomentColumns,       // Several of floating-point elements: reduce/columns/moment_columns.cuh,
  kWholeMomentColumns,  // a thread for all rows.
};

// Who takes what a kernel does not hold.
enum class ReductionLeftovers : uint8_t {
  kNone,          // It holds everything, or does so by itself.
  kLongSegments,  // kBlocks takes the segments that are queued for it.
  kTiles,         // kColumns takes the tiles of columns that are marked.
  kRows,          // A kernel beside it (FloatRowKernels) takes the rows that are marked.
};

struct ReductionKernelTraits {
  ReductionKernel kernel;
  ReductionFamily family;
  const char* name;       // Of a strategy, behind its family.
  bool has_pitch = true;  // Whether it takes rows, or columns, of views: array.h, Pitches.
};
inline constexpr ReductionKernelTraits kReductionKernels[] = {
    {ReductionKernel::kNothing, ReductionFamily::kNothing, "nothing"},
    {ReductionKernel::kProduct, ReductionFamily::kProduct, "product"},
    {ReductionKernel::kBlocks, ReductionFamily::kLong, "blocks"},
    {ReductionKernel::kBlockSums, ReductionFamily::kLong, "block-sums"},
    {ReductionKernel::kTiles, ReductionFamily::kGroups, "tiles"},
    {ReductionKernel::kGroupSums, ReductionFamily::kGroups, "sums"},
    {ReductionKernel::kVectorSums, ReductionFamily::kGroups, "vector-sums", false},
    {ReductionKernel::kRowSums, ReductionFamily::kGroups, "row-sums", false},
    {ReductionKernel::kStripSums, ReductionFamily::kGroups, "strip-sums", false},
    {ReductionKernel::kIntegerStrips, ReductionFamily::kGroups, "integer-strips", false},
    {ReductionKernel::kRowMoments, ReductionFamily::kGroups, "row-moments", false},
    {ReductionKernel::kFixedPoint, ReductionFamily::kGroups, "fixed-point"},
    {ReductionKernel::kPairTiles, ReductionFamily::kGroups, "pair-tiles"},
    {ReductionKernel::kRowExtremes, ReductionFamily::kGroups, "row-extremes", false},
    {ReductionKernel::kBriefExtremes, ReductionFamily::kGroups, "brief-extremes", false},
    {ReductionKernel::kWarpExtremes, ReductionFamily::kGroups, "warp-extremes", false},
    {ReductionKernel::kSingles, ReductionFamily::kGroups, "singles"},
    {ReductionKernel::kColumns, ReductionFamily::kColumns, "states"},
    {ReductionKernel::kColumnSums, ReductionFamily::kColumns, "sums"},
    {ReductionKernel::kWholeColumnSums, ReductionFamily::kColumns, "whole-sums"},
    {ReductionKernel::kShallowColumnSums, ReductionFamily::kColumns, "shallow-sums"},
    {ReductionKernel::kColumnVectors, ReductionFamily::kColumns, "vectors"},
    {ReductionKernel::kWholeColumnVectors, ReductionFamily::kColumns, "whole-vectors"},
    {ReductionKernel::kDoubleColumns, ReductionFamily::kColumns, "doubles"},
    {ReductionKernel::kWholeDoubleColumns, ReductionFamily::kColumns, "whole-doubles"},
    {ReductionKernel::kMomentColumns, ReductionFamily::kColumns, "moments"},
    {ReductionKernel::kWholeMomentColumns, ReductionFamily::kColumns, "whole-moments"},
};

constexpr ReductionKernelTraits TraitsOf(ReductionKernel kernel) {
  return kReductionKernels[static_cast<int>(kernel)];
}
static_assert([] {
  for (int i = 0; const ReductionKernelTraits& traits : kReductionKernels) {
    if (static_cast<int>(traits.kernel) != i++) return false;
  }
  return true;
}());

// The kernel that is asked for, where one is: a layout then is that kernel's, if it can take the
// groups, and any other if it cannot.
using WantedKernel = std::optional<ReductionKernel>;

constexpr bool IsFamilyWanted(WantedKernel wanted, ReductionFamily family) {
  return wanted.has_value() && TraitsOf(*wanted).family == family;
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_PLAN_REDUCTION_KERNEL_H_
