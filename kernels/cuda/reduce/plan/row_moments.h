// Several statistics of rows: what reduce/groups/row_moments.cuh and
// reduce/groups/float_row_moments.cuh are told, and their launch. Plain C++.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_PLAN_ROW_MOMENTS_H_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_PLAN_ROW_MOMENTS_H_

#include <cuda_runtime_api.h>

#include <cstdint>

#include "absl/status/status.h"
#include "kernels/cuda/device/properties.h"
#include "kernels/cuda/reduce/plan/kernels.h"
#include "kernels/numerics/arithmetic/rounded_divisor.h"
#include "kernels/numerics/statistics/bounded_moments.h"
#include "kernels/types/element_type.h"

namespace gridfold::kernels::cuda {

// Where values go, a slot a row; null where they are not asked for.
struct RowMomentSlots {
  uint64_t* count = nullptr;
  uint64_t* sum = nullptr;
  uint64_t* mean = nullptr;
  uint64_t* min = nullptr;
  uint64_t* max = nullptr;
  uint64_t* variance = nullptr;
  uint64_t* standard_deviation = nullptr;
  // These are of floating-point elements alone, and seldom asked for.
  uint64_t* standard_error = nullptr;
  uint64_t* l2_norm = nullptr;
  uint64_t* root_mean_square = nullptr;
  uint64_t* range = nullptr;
  uint64_t* sum_failure = nullptr;  // ReductionParameters; null where no sum can fail.

  bool HaveOthers() const {
    return standard_error != nullptr || l2_norm != nullptr || root_mean_square != nullptr ||
           range != nullptr;
  }
};

// Rows of one size. A warp takes `unit_rows` of them that follow one another, in turns: rows that
// are together no longer than a turn, or a part of one that is longer.
struct RowMomentWork {
  const void* elements;
  uint64_t row_count;
  uint32_t row_size;
  uint32_t row_bytes;

  uint32_t vector_rows;  // So many are a vector long or longer.

  uint32_t width_log2 = 0;    // Of the lanes that take a row.
  uint32_t parts = 0;         // Of a row.
  uint32_t turn_rows = 0;     // A multiple of those that a warp's lanes take at a time.
  uint32_t unit_rows = 0;     // A multiple of turn_rows.
  uint32_t batch_passes = 0;  // So many times the lanes take rows until they finish these.
  // Lanes of neighbouring rows begin at different vectors, the row's number among its warp's
  // shifted down by this: else they would meet in banks of shared memory.
  uint32_t rotation_shift = 0;

  RowMomentSlots slots;
  ValueRules rules;

  // These are for floating-point elements.
  MomentDivisors divisors;
  uint32_t* left_rows;     // A bit for each, of words of kLeftWordRows.
  uint32_t* left_batches;  // How many batches had none but such.

  // These are for integers.
  bool is_signed;
  uint32_t sign_word;  // What makes elements unsigned, as many to a word as it has.
  uint64_t bias;       // And what that adds to each.
  Int128 sum_bias;     // And to a row's sum.
  RoundedDivisor mean_divisor;
  RoundedDivisor variance_divisor;
};

inline constexpr uint32_t kLeftWordRows = 32;

// What the rows are that are left.
struct LeftRowWork {
  const uint32_t* left_rows;
  uint64_t word_count;
  uint32_t words_together = 1;  // Of a warp, at most as many as it has lanes.
  uint32_t width_log2 = 0;      // Of the lanes that take a row, where some do.
};

struct LeftRowTuning {
  static constexpr uint32_t kThreads = 128;
  static constexpr uint32_t kResidentBlocks = 4;
  // That a warp has where there are so many words, for an even end where all rows are left.
  static constexpr uint64_t kTurnsPerWarp = 8;
};

struct RowMomentTuning {
  static constexpr uint32_t kThreads = 128;
  // Resident blocks of a multiprocessor. Sums of 64-bit elements take more registers.
  static constexpr uint32_t ResidentBlocks(uint64_t element_bytes) {
    return element_bytes == 8 ? 5 : 6;
  }
  static constexpr uint32_t FloatResidentBlocks(uint64_t element_bytes) {
    return element_bytes == 8 ? 5 : 6;
  }
  // Fewer or shorter rows of floating-point elements are not worth a second kernel, or the bits.
  static constexpr uint64_t kFloatRowsMin = 256;
  static constexpr uint64_t kFloatRowBytesMin = 8;
  // Once so many batches of float64 are left, the blocks that begin leave all of theirs untried:
  // the kernel that follows takes little longer for all of them than for those.
  static constexpr uint32_t kLeftBatchesMax = 256;
  // Of float64; of other elements those that lanes of a warp take, 64 KiB.
  static constexpr uint64_t kDoubleRowBytesMax = 256 << 10;
  // Longer ones of float16 may have sums that are not exact.
  static constexpr uint64_t kFloat16RowSizeMax = 30'000;
  // Where a turn has a single row, or one and a part of little else, of elements that fixed point
  // takes, that takes less time: rows of 1,000 floats 0.61 of the read ceiling instead of 0.56.
  static constexpr uint64_t kFixedPointRowBytesMin = 2049;
  static constexpr uint64_t kFixedPointRowBytesMax = 6144;
  // Blocks of the grid for each resident one, for the hardware's scheduler to even out.
  static constexpr uint64_t kBlocksPerResident = 32;
  // Units that a warp has, for an even end, unless one is no more than its lanes take at a time;
  // and where a unit is a turn.
  static constexpr uint64_t kUnitsPerWarpMin = 8;
  static constexpr uint64_t kTurnsPerWarpMin = 2;
  // Variances alone of rows of more elements take no less time than as differences of sums
  // (reduce/groups/integer_strips.cuh), but for 64-bit elements.
  static constexpr uint64_t kShortRowSizeMax = 128;
  // A lane is to read about so much of its row.
  static constexpr uint64_t kBytesPerLane = 128;
};

// Whether rows are LaunchRowMoments' to take: nothing else is asked for than RowMomentSlots has,
// and neither their states; and not what other kernels take in less time, sums or extremes alone,
// variances of longer rows of integers, and what RowMomentTuning says of floating-point elements.
bool AreMomentsOfRows(const ReductionParameters& parameters, ElementType type);

// Words that LaunchRowMoments needs for so many rows of floating-point elements: RowMomentWork's
// left_rows and left_batches. 0 where they are not AreMomentsOfRows.
uint64_t LeftRowWords(uint64_t row_count, uint64_t row_bytes);

// Requires AreMomentsOfRows, and rows of 64 KiB at most, of float64 kDoubleRowBytesMax; of
// floating-point elements, LeftRowWords of zeros.
absl::Status LaunchRowMoments(const ReductionParameters& parameters, ElementType type,
                              uint32_t* left_words, const DeviceProperties& properties,
                              cudaStream_t stream);

// The kernel for elements of an unsigned type.
template <class U>
auto GetRowMomentsKernel() -> void (*)(RowMomentWork);

// The kernels for floating-point elements: one takes rows, and the other takes rows that the first
// leaves.
struct FloatRowKernels {
  void (*rows)(RowMomentWork);
  void (*rows_with_others)(RowMomentWork);  // Where RowMomentSlots::HaveOthers.
  void (*left_rows)(ReductionParameters, LeftRowWork);
};
template <class T>
FloatRowKernels GetFloatRowKernels();

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_PLAN_ROW_MOMENTS_H_
