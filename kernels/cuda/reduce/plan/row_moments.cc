#include "kernels/cuda/reduce/plan/row_moments.h"

#include <algorithm>
#include <bit>
#include <type_traits>

#include "kernels/cuda/device/grid.h"
#include "kernels/cuda/device/launch.h"
#include "kernels/cuda/reduce/plan/row_moment_shape.h"
#include "kernels/cuda/reduce/plan/tuning.h"
#include "kernels/numerics/statistics/statistic_value.h"

namespace gridfold::kernels::cuda {

namespace {

using Tuning = RowMomentTuning;
constexpr uint64_t kLanes = ReduceTuning::kWarpThreads;
constexpr uint64_t kWarps = Tuning::kThreads / kLanes;
constexpr uint64_t kTurnBytes = ExtremeTuning::kTurnBytes;

// All that the kernels answer, and where its values go. Rows of which anything else is asked for
// are left to kernels that write the values of StatisticValue.
struct RowMomentAnswer {
  Statistic statistic;
  uint64_t* RowMomentSlots::*slots;
  bool is_of_integers = true;
};
constexpr RowMomentAnswer kAnswers[] = {
    {Statistic::kCount, &RowMomentSlots::count},
    {Statistic::kSum, &RowMomentSlots::sum},
    {Statistic::kMean, &RowMomentSlots::mean},
    {Statistic::kMin, &RowMomentSlots::min},
    {Statistic::kMax, &RowMomentSlots::max},
    {Statistic::kVariance, &RowMomentSlots::variance},
    {Statistic::kStandardDeviation, &RowMomentSlots::standard_deviation},
    {Statistic::kStandardError, &RowMomentSlots::standard_error, false},
    {Statistic::kL2Norm, &RowMomentSlots::l2_norm, false},
    {Statistic::kRootMeanSquare, &RowMomentSlots::root_mean_square, false},
    {Statistic::kRange, &RowMomentSlots::range, false},
};

// Where a statistic's values go; null where the kernels do not answer it.
uint64_t** PlaceOf(Statistic statistic, bool are_floats, RowMomentSlots& slots) {
  for (const RowMomentAnswer& answer : kAnswers) {
    if (answer.statistic != statistic) continue;
    return are_floats || answer.is_of_integers ? &(slots.*answer.slots) : nullptr;
  }
  return nullptr;
}

RowMomentSlots SlotsOf(const ReductionParameters& parameters, ElementType type) {
  const bool are_floats = IsFloatingPoint(type);
  RowMomentSlots slots;
  for (uint32_t i = 0; i < parameters.statistic_count; ++i) {
    const Statistic statistic = parameters.statistics[i];
    const uint32_t row = parameters.rows[i];
    *PlaceOf(statistic, are_floats, slots) = parameters.slots + row * parameters.group_count;
    if (statistic == Statistic::kSum && ElementSize(type) == 8 && !parameters.rules.wrap) {
      slots.sum_failure = parameters.failures + row;
    }
  }
  return slots;
}

// How rows are shared out: each lane's part of a row, rows of a turn and of a unit.
void ShareOut(uint64_t row_count, uint64_t row_bytes, uint64_t warps, RowMomentShape& shape) {
  const uint64_t lanes =
      std::bit_ceil(std::clamp<uint64_t>(CeilDivide(row_bytes, Tuning::kBytesPerLane), 1, kLanes));
  const uint64_t together = kLanes / lanes;
  const uint64_t fitting = std::max<uint64_t>(1, kTurnBytes / row_bytes);
  const bool are_turns = lanes == 1;  // Units.
  const uint64_t units = warps * (are_turns ? Tuning::kTurnsPerWarpMin : Tuning::kUnitsPerWarpMin);
  const uint64_t rows_max = std::max(together, row_count / units);
  if (are_turns) {
    shape.turn_rows = static_cast<uint32_t>(std::min(fitting, rows_max) / kLanes * kLanes);
    shape.unit_rows = shape.turn_rows;
  } else {
    shape.unit_rows = static_cast<uint32_t>(std::min(std::bit_floor(rows_max), kLanes));
    shape.turn_rows =
        static_cast<uint32_t>(std::min<uint64_t>(std::bit_floor(fitting), shape.unit_rows));
  }
  shape.batch_passes = static_cast<uint32_t>(are_turns ? 1 : shape.unit_rows / together);
  shape.width_log2 = static_cast<uint32_t>(std::bit_width(lanes) - 1);
  // A part begins at a vector, and so may the row a little before.
  shape.parts = row_bytes <= kTurnBytes
                    ? 1
                    : static_cast<uint32_t>(
                          CeilDivide(row_bytes + ReduceTuning::kVectorBytes - 1, kTurnBytes));
  const uint32_t vectors = static_cast<uint32_t>(row_bytes / ReduceTuning::kVectorBytes);
  const bool meet = row_bytes % ReduceTuning::kVectorBytes == 0 && std::has_single_bit(vectors);
  constexpr uint32_t kBankVectorsLog2 = 3;  // Of all banks.
  shape.rotation_shift =
      meet && vectors > 1 && lanes < kLanes
          ? kBankVectorsLog2 + shape.width_log2 - static_cast<uint32_t>(std::bit_width(vectors) - 1)
          : ReduceTuning::kWarpThreadsLog2;
}

FloatRowKernels FloatKernelsFor(ElementType type) {
  return VisitFloatingType(
      type, [](auto tag) { return GetFloatRowKernels<typename decltype(tag)::type>(); });
}

auto IntegerKernelFor(ElementType type) {
  return VisitIntegerType(type, [](auto tag) {
    return GetRowMomentsKernel<std::make_unsigned_t<typename decltype(tag)::type>>();
  });
}

bool AreFloatRows(ElementType type, uint64_t row_count, uint64_t row_size) {
  const uint64_t row_bytes = row_size * ElementSize(type);
  const bool has_fixed_point = type == ElementType::kFloat32 || type == ElementType::kBfloat16;
  const bool are_of_fixed_point = has_fixed_point && row_bytes >= Tuning::kFixedPointRowBytesMin &&
                                  row_bytes <= Tuning::kFixedPointRowBytesMax;
  return LeftRowWords(row_count, row_bytes) > 0 && !are_of_fixed_point &&
         (type != ElementType::kFloat16 || row_size <= Tuning::kFloat16RowSizeMax);
}

absl::Status LaunchFloatRows(const ReductionParameters& parameters, ElementType type,
                             const LaunchShape& shape, const RowMomentWork& work,
                             const DeviceProperties& properties, cudaStream_t stream) {
  constexpr uint64_t kLeftWarps = LeftRowTuning::kThreads / kLanes;
  const FloatRowKernels kernels = FloatKernelsFor(type);
  const auto rows = work.slots.HaveOthers() ? kernels.rows_with_others : kernels.rows;
  if (absl::Status status = Launch(rows, shape, stream, work); !status.ok()) return status;
  const uint64_t resident = uint64_t{LeftRowTuning::kResidentBlocks} *
                            static_cast<uint64_t>(properties.multiprocessor_count);
  LeftRowWork left{.left_rows = work.left_rows,
                   .word_count = CeilDivide(work.row_count, uint64_t{kLeftWordRows}),
                   .width_log2 = work.width_log2};
  left.words_together = static_cast<uint32_t>(std::clamp<uint64_t>(
      left.word_count / (resident * kLeftWarps * LeftRowTuning::kTurnsPerWarp), 1, kLanes));
  const uint64_t turns = CeilDivide(left.word_count, uint64_t{left.words_together});
  const LaunchShape left_shape{.grid = dim3(GridStrideBlocks(turns, kLeftWarps, resident)),
                               .block = dim3(LeftRowTuning::kThreads)};
  return Launch(kernels.left_rows, left_shape, stream, parameters, left);
}

}  // namespace

bool AreMomentsOfRows(const ReductionParameters& parameters, ElementType type) {
  if (parameters.offsets != nullptr || parameters.states != nullptr || parameters.group_size == 0) {
    return false;
  }
  RowMomentSlots slots;
  const bool are_floats = IsFloatingPoint(type);
  uint32_t parts = 0;
  for (uint32_t i = 0; i < parameters.statistic_count; ++i) {
    const Statistic statistic = parameters.statistics[i];
    if (PlaceOf(statistic, are_floats, slots) == nullptr) return false;
    parts |= PartsOf(statistic, are_floats, /*ignore_nan=*/false);
  }
  const bool has_squares = (parts & kSquaresPart) != 0;
  const bool has_extremes = (parts & kExtremesPart) != 0;
  if (are_floats) {
    return AreFloatRows(type, parameters.group_count, parameters.group_size) &&
           (has_squares || (has_extremes && (parts & kSumPart) != 0));
  }
  const bool are_short =
      ElementSize(type) == 8 || parameters.group_size <= Tuning::kShortRowSizeMax;
  return has_extremes || (has_squares && are_short);
}

uint64_t LeftRowWords(uint64_t row_count, uint64_t row_bytes) {
  return row_count < Tuning::kFloatRowsMin || row_bytes < Tuning::kFloatRowBytesMin
             ? 0
             : CeilDivide(row_count, uint64_t{kLeftWordRows}) + 1;
}

RowMomentShape PlanRowMoments(ElementType type, uint64_t row_count, uint64_t row_size,
                              const DeviceProperties& properties) {
  const uint64_t element_bytes = ElementSize(type);
  const uint64_t resident =
      uint64_t{IsFloatingPoint(type) ? Tuning::FloatResidentBlocks(element_bytes)
                                     : Tuning::ResidentBlocks(element_bytes)} *
      static_cast<uint64_t>(properties.multiprocessor_count);
  RowMomentShape shape;
  ShareOut(row_count, row_size * element_bytes, resident * kWarps, shape);
  const uint64_t units = CeilDivide(row_count, uint64_t{shape.unit_rows});
  shape.grid_blocks = GridStrideBlocks(units, kWarps, resident * Tuning::kBlocksPerResident);
  return shape;
}

absl::Status LaunchRowMoments(const ReductionParameters& parameters, ElementType type,
                              uint32_t* left_words, const DeviceProperties& properties,
                              cudaStream_t stream) {
  const uint64_t element_bytes = ElementSize(type);
  const uint64_t size = parameters.group_size;
  const uint64_t ddof = parameters.rules.delta_degrees_of_freedom;
  // No variance is asked for of fewer elements.
  const uint64_t variance_divisor = size > ddof ? size * (size - ddof) : 1;
  const bool is_signed = !IsFloatingPoint(type) && IsSigned(type);
  const uint32_t repeat = element_bytes == 1 ? 0x0101'0101u : element_bytes == 2 ? 0x0001'0001u : 1;
  const uint32_t sign = uint32_t{1} << (8 * std::min<uint64_t>(element_bytes, 4) - 1);
  const RowMomentShape planned = PlanRowMoments(type, parameters.group_count, size, properties);
  RowMomentWork work{.elements = parameters.elements,
                     .row_count = parameters.group_count,
                     .row_size = static_cast<uint32_t>(size),
                     .row_bytes = static_cast<uint32_t>(size * element_bytes),
                     .vector_rows = static_cast<uint32_t>(
                         CeilDivide(ReduceTuning::kVectorBytes, size * element_bytes)),
                     .width_log2 = planned.width_log2,
                     .parts = planned.parts,
                     .turn_rows = planned.turn_rows,
                     .unit_rows = planned.unit_rows,
                     .batch_passes = planned.batch_passes,
                     .rotation_shift = planned.rotation_shift,
                     .slots = SlotsOf(parameters, type),
                     .rules = parameters.rules,
                     .divisors = parameters.divisors,
                     .left_rows = left_words + 1,
                     .left_batches = left_words,
                     .is_signed = is_signed,
                     .sign_word = is_signed ? sign * repeat : 0,
                     .bias = is_signed ? uint64_t{1} << (8 * element_bytes - 1) : 0,
                     .sum_bias = is_signed ? Int128{1} << (8 * element_bytes - 1) : 0,
                     .mean_divisor = RoundedDivisor(size),
                     .variance_divisor = RoundedDivisor(variance_divisor)};
  work.sum_bias *= work.row_size;
  const LaunchShape shape{.grid = dim3(planned.grid_blocks), .block = dim3(Tuning::kThreads)};
  if (IsFloatingPoint(type)) {
    return LaunchFloatRows(parameters, type, shape, work, properties, stream);
  }
  return Launch(IntegerKernelFor(type), shape, stream, work);
}

}  // namespace gridfold::kernels::cuda
