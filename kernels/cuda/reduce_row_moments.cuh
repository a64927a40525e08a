// Several statistics of rows of integers, each by lanes of a warp, which have its vectors in shared
// memory (RowWindow) and those of the next rows on their way there. What lanes have of a row is
// joined, and goes to one of them, so that all finish rows together, one each.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_ROW_MOMENTS_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_ROW_MOMENTS_CUH_

#include <cuda_pipeline.h>

#include <cstdint>
#include <type_traits>

#include "kernels/cuda/reduce_merge.cuh"
#include "kernels/cuda/reduce_row_extremes.cuh"
#include "kernels/cuda/reduce_row_moment_sums.cuh"
#include "kernels/cuda/reduce_row_moments.h"
#include "kernels/cuda/reduce_tuning.h"
#include "kernels/numerics/statistic_value.h"

namespace gridfold::kernels::cuda {

// Bytes of a window.
struct RowBytes {
  uint32_t begin;
  uint32_t end;
};

// What a warp takes together, one after the other: rows that follow one another, or parts of one.
template <class U>
class RowMomentTurns {
 public:
  using Window = RowWindow<U>;

  // From the first of the warp with the number on.
  __device__ RowMomentTurns(const RowMomentWork& work, uint64_t warp, uint64_t warps)
      : work_(&work),
        unit_turns_(work.unit_rows / work.turn_rows * work.parts),
        skipped_rows_((warps - 1) * work.unit_rows),
        left_(unit_turns_),
        row_(warp * work.unit_rows) {}

  __device__ uint64_t row() const { return row_; }
  __device__ bool IsFirstPart() const { return part_ == 0; }
  __device__ bool IsLastPart() const { return part_ + 1 == work_->parts; }
  // Of a unit, all turns are taken, whether there are rows for them or not.
  __device__ bool IsEnd() const { return left_ == unit_turns_ && row_ >= work_->row_count; }

  __device__ void Next() {
    if (++part_ == work_->parts) {
      part_ = 0;
      row_ += work_->turn_rows;
    }
    if (--left_ == 0) {
      left_ = unit_turns_;
      row_ += skipped_rows_;
    }
  }

  // Where rows, or the part of one, stand in a window.
  __device__ RowBytes Bytes() const {
    if (row_ >= work_->row_count) return {0, 0};
    const uint32_t rows =
        static_cast<uint32_t>(min(work_->row_count - row_, uint64_t{work_->turn_rows}));
    const uint32_t shift = Window::ShiftOf(Begin());
    const uint32_t end = shift + rows * work_->row_bytes;
    if (work_->parts == 1) return {shift, end};
    const uint32_t skipped = part_ * ExtremeTuning::kTurnBytes;
    return {part_ == 0 ? shift : 0,
            min(end > skipped ? end - skipped : 0, ExtremeTuning::kTurnBytes)};
  }
  // Begins to bring them there. Called by all lanes.
  __device__ void Load(const Warp& warp, typename Window::Memory& memory) const {
    const uint32_t limit = Bytes().end;
    // The last vector may have elements of the next rows, but nothing behind the last is read.
    const uint32_t rest = row_ + work_->turn_rows + work_->vector_rows <= work_->row_count
                              ? 0
                              : limit % ReduceTuning::kVectorBytes;
    const char* const source = reinterpret_cast<const char*>(Begin()) - Window::ShiftOf(Begin()) +
                               part_ * ExtremeTuning::kTurnBytes;
    Window::LoadBytes(warp, memory, source, limit, rest);
    __pipeline_commit();
  }

 private:
  __device__ const U* Begin() const {
    return static_cast<const U*>(work_->elements) + row_ * work_->row_size;
  }

  const RowMomentWork* work_;
  uint32_t unit_turns_;
  uint64_t skipped_rows_;  // Behind a unit, other warps'.
  uint32_t left_;          // Turns of the unit.
  uint32_t part_ = 0;
  uint64_t row_;
};

// The slot of a standard deviation. Not inlined: it is long.
__device__ __noinline__ uint64_t DeviationSlot(Uint128 sum, const Uint192& squares, uint64_t size,
                                               const ValueRules& rules) {
  ReductionState<uint64_t, kCorePartSet> state;
  state.Part<kSumPart>().sum = static_cast<Int128>(sum);
  state.Part<kSquaresPart>().sum = squares;
  uint64_t slot = 0;
  StatisticValue(Statistic::kStandardDeviation, state, size, rules, &slot);
  return slot;
}

// Rows by lanes of a warp, of elements that RowMomentWork makes unsigned ones, U.
template <class U>
class RowMomentLanes {
 public:
  using Window = RowWindow<U>;

  __device__ RowMomentLanes(const Warp& warp, const RowMomentWork& work)
      : warp_(warp),
        work_(work),
        width_(1u << work.width_log2),
        rank_(warp.thread_rank() & (width_ - 1)),
        place_(warp.thread_rank() >> work.width_log2) {}

  // Called by all lanes, as are others that are not const.
  __device__ void TakeTurn(const RowMomentTurns<U>& turn, const typename Window::Memory& memory) {
    const RowBytes bytes = turn.Bytes();
    const uint32_t together = ReduceTuning::kWarpThreads >> work_.width_log2;
#pragma unroll 1
    for (uint32_t k = 0; k < work_.turn_rows; k += together) {
      RowBytes of_row = bytes;
      if (work_.parts == 1) {
        of_row.begin += (k + place_) * work_.row_bytes;
        of_row.end = min(of_row.begin + work_.row_bytes, bytes.end);
      }
      if (turn.IsFirstPart()) moments_ = RowMoments<U>();
      Take(memory, of_row);
      if (turn.IsLastPart()) EndRows(turn.row() + k);
    }
  }

 private:
  static constexpr uint32_t kBytes = ReduceTuning::kVectorBytes;

  // Of rows from `row` on.
  __device__ void EndRows(uint64_t row) {
    RowTotals<U> totals = moments_.Totals();
    totals.JoinLanes(warp_, width_);
    if (rank_ == passes_) kept_ = totals;
    if (++passes_ < work_.batch_passes) return;
    const uint32_t passes = passes_;
    passes_ = 0;
    if (rank_ >= passes) return;
    row += place_ - uint64_t{passes - 1 - rank_} * (ReduceTuning::kWarpThreads >> work_.width_log2);
    if (row < work_.row_count) Finish(row, kept_);
  }

  // A row, or a part of it.
  __device__ void Take(const typename Window::Memory& memory, const RowBytes& bytes) {
    if (bytes.begin >= bytes.end) return;
    if (work_.row_bytes < kBytes) {
      TakeBrief(memory, bytes);
    } else {
      if ((bytes.begin | bytes.end) % kBytes != 0) TakeEnds(memory, bytes);
      TakeVectors(memory, bytes);
    }
    moments_.Close();
  }

  // Writes what is asked for of a row.
  __device__ void Finish(uint64_t row, const RowTotals<U>& totals) const {
    const RowMomentSlots& slots = work_.slots;
    using Sum = std::conditional_t<sizeof(U) == sizeof(uint64_t), Int128, int64_t>;
    const Sum sum = static_cast<Sum>(totals.Sum()) - static_cast<Sum>(work_.sum_bias);
    if (slots.count != nullptr) slots.count[row] = work_.row_size;
    if (slots.sum != nullptr) slots.sum[row] = static_cast<uint64_t>(sum);
    if (slots.min != nullptr) slots.min[row] = totals.Least() - work_.bias;
    if (slots.max != nullptr) slots.max[row] = totals.Greatest() - work_.bias;
    if (slots.mean != nullptr) slots.mean[row] = Bits(Mean(sum));
    if (slots.variance != nullptr) {
      slots.variance[row] = Bits(totals.Variance(work_.row_size, work_.variance_divisor));
    }
    if (slots.standard_deviation != nullptr) {
      slots.standard_deviation[row] =
          DeviationSlot(totals.Sum(), totals.Squares(), work_.row_size, work_.rules);
    }
    if constexpr (sizeof(U) == sizeof(uint64_t)) {
      if (slots.sum_failure == nullptr) return;
      if (work_.is_signed ? Fits<int64_t>(sum) : Fits<uint64_t>(sum)) return;
      auto* const failure = reinterpret_cast<unsigned long long*>(slots.sum_failure);
      if (row < __ldcg(failure)) atomicMin(failure, static_cast<unsigned long long>(row));
    }
  }

  __device__ static uint64_t Bits(double number) {
    return static_cast<uint64_t>(__double_as_longlong(number));
  }
  __device__ double Mean(int64_t sum) const {
    return work_.mean_divisor.QuotientOfDouble(static_cast<double>(sum));
  }
  __device__ double Mean(const Int128& sum) const { return work_.mean_divisor.Quotient(sum); }

  __device__ uint4 Unsigned(const uint4& raw) const {
    const uint32_t sign = work_.sign_word;
    const uint32_t lower_sign = sizeof(U) == 8 ? 0 : sign;
    return {raw.x ^ lower_sign, raw.y ^ sign, raw.z ^ lower_sign, raw.w ^ sign};
  }
  // Takes bytes [begin, end) of a vector, of which `other` is an element.
  __device__ void TakePart(const uint4& vector, int begin, int end, U other) {
    moments_.AddSums(Between(vector, begin, end, uint4{}));
    moments_.AddExtremes(Between(vector, begin, end, VectorOf<U>(other)));
  }

  // A row of less than a vector, by one lane.
  __device__ void TakeBrief(const typename Window::Memory& memory, const RowBytes& bytes) {
    constexpr uint32_t kWord = sizeof(uint32_t);
    const uint32_t* const words = reinterpret_cast<const uint32_t*>(memory) + bytes.begin / kWord;
    const uint32_t limit = (bytes.end + kWord - 1) / kWord - bytes.begin / kWord;
    uint32_t found[kBytes / kWord + 1] = {};
#pragma unroll
    for (uint32_t i = 0; i <= kBytes / kWord; ++i) {
      if (i < limit) found[i] = words[i];
    }
    if constexpr (sizeof(U) < kWord) {
      const uint32_t bits = bytes.begin % kWord * 8;
#pragma unroll
      for (uint32_t i = 0; i < kBytes / kWord; ++i) {
        found[i] = __funnelshift_r(found[i], found[i + 1], bits);
      }
    }
    const uint4 vector = Unsigned({found[0], found[1], found[2], found[3]});
    U first = static_cast<U>(vector.x);
    if constexpr (sizeof(U) == 8) first |= U{vector.y} << 32;
    TakePart(vector, 0, static_cast<int>(work_.row_bytes), first);
  }

  // Vectors that are not the row's alone: the first by a lane, the last by the next.
  __device__ void TakeEnds(const typename Window::Memory& memory, const RowBytes& bytes) {
    const uint32_t first = bytes.begin / kBytes;
    const uint32_t last = bytes.end / kBytes;
#pragma unroll 1
    for (uint32_t which = rank_; which < 2; which += width_) {
      const bool exists =
          which == 0 ? bytes.begin % kBytes != 0
                     : bytes.end % kBytes != 0 && (last != first || bytes.begin % kBytes == 0);
      if (!exists) continue;
      const uint32_t v = which == 0 ? first : last;
      const uint32_t begin = max(bytes.begin, v * kBytes);
      const uint4 vector = Unsigned(memory[v]);
      const U element = *reinterpret_cast<const U*>(reinterpret_cast<const char*>(memory) + begin);
      TakePart(vector, static_cast<int>(begin - v * kBytes),
               static_cast<int>(bytes.end - v * kBytes),
               static_cast<U>(element ^ static_cast<U>(work_.bias)));
    }
  }

  // The others, the lane's first somewhere among its own.
  __device__ void TakeVectors(const typename Window::Memory& memory, const RowBytes& bytes) {
    const uint32_t first = (bytes.begin + kBytes - 1) / kBytes + rank_;
    const uint32_t last = bytes.end / kBytes;
    if (first >= last) return;
    const uint32_t count = (last - first + width_ - 1) >> work_.width_log2;
    const uint32_t rotation = (place_ >> work_.rotation_shift) % kRotations;
    const uint4* const begin = memory + first;
    const uint4* const end = begin + count * width_;
    const uint4* at = begin + (rotation < count ? rotation : 0) * width_;
#pragma unroll 2
    for (uint32_t i = 0; i < count; ++i) {
      const uint4 vector = Unsigned(*at);
      at += width_;
      if (at == end) at = begin;
      moments_.AddSums(vector);
      moments_.AddExtremes(vector);
    }
  }

  static constexpr uint32_t kRotations = 8;  // Lanes whose vectors are read at a time.

  const Warp& warp_;
  const RowMomentWork& work_;
  uint32_t width_;
  uint32_t rank_;   // Among the lanes of a row.
  uint32_t place_;  // Of the row among those that are taken together.
  RowMoments<U> moments_;
  RowTotals<U> kept_;    // Of a row of the batch.
  uint32_t passes_ = 0;  // Of the batch, that are done.
};

// Lanes take a row each, or `width` of them one, several times in a turn. What they have of a row
// is kept by the lane whose rank among them is the number of that time, until the batch is done.
template <class U>
__global__ void __launch_bounds__(RowMomentTuning::kThreads,
                                  RowMomentTuning::ResidentBlocks(sizeof(U)))
    ReduceRowMoments(const __grid_constant__ RowMomentWork work) {
  using Turns = RowMomentTurns<U>;
  constexpr uint32_t kWarps = RowMomentTuning::kThreads / ReduceTuning::kWarpThreads;
  __shared__ typename Turns::Window::Memory windows[kWarps][2];
  const Warp warp = cg::tiled_partition<ReduceTuning::kWarpThreads>(cg::this_thread_block());
  auto& memory = windows[warp.meta_group_rank()];
  RowMomentLanes<U> lanes(warp, work);
  Turns turn(work, uint64_t{blockIdx.x} * kWarps + warp.meta_group_rank(),
             uint64_t{gridDim.x} * kWarps);
  turn.Load(warp, memory[0]);
#pragma unroll 1
  for (uint32_t which = 0; !turn.IsEnd(); which ^= 1) {
    Turns next = turn;
    next.Next();
    next.Load(warp, memory[which ^ 1]);
    __pipeline_wait_prior(1);
    warp.sync();
    lanes.TakeTurn(turn, memory[which]);
    warp.sync();
    turn = next;
  }
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_ROW_MOMENTS_CUH_
