// Lanes of a warp make several statistics of rows. A warp has the vectors of some rows in shared
// memory (RowWindow), and those of its next rows on their way there. What the lanes of a row have
// is joined and goes to one lane, so that 32 rows are finished together, by a lane each.
//
// Example: rows of four vectors, two lanes a row:
//
//   lanes 0 and 1 take row 0, lanes 2 and 3 row 1, and so on: sixteen rows a turn
//   lanes 0 and 1 join row 0; lane k keeps the k-th row that the warp has joined
//   after two turns every lane has a row, and all divide, round and write at once
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_ROW_MOMENT_LANES_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_ROW_MOMENT_LANES_CUH_

#include <cuda_pipeline.h>

#include <cstdint>

#include "kernels/cuda/reduce/core/merge.cuh"
#include "kernels/cuda/reduce/groups/row_window.cuh"
#include "kernels/cuda/reduce/groups/vector_bytes.cuh"
#include "kernels/cuda/reduce/plan/row_moments.h"
#include "kernels/cuda/reduce/plan/tuning.h"
#include "kernels/numerics/arithmetic/element.h"

namespace gridfold::kernels::cuda {

// The totals of a row, or of what one lane has of it. JoinLanes adds those of `width` neighbouring
// lanes, which all get the result; they are of `row_size` elements together.
template <class T>
struct RowTotals;

// What a lane keeps of a row. AddSums and AddExtremes take elements as vectors, and sums alone
// zeros in place of some; Close is called before more than kTurnBytes are, and in the end. Where
// kSurveys, extremes of all of these are taken before any sums, and BeginSums is called between.
template <class T>
struct RowMoments;

// Bytes of a window.
struct RowBytes {
  uint32_t begin;
  uint32_t end;
};

// What a warp takes together, one after the other: rows that follow one another, or parts of one.
template <class T>
class RowMomentTurns {
 public:
  using Window = RowWindow<T>;

  // Begins with the first turn of the warp with the number `warp`, of `warps`.
  __device__ RowMomentTurns(const RowMomentWork& work, uint64_t warp, uint64_t warps)
      : work_(&work),
        unit_turns_(work.unit_rows / work.turn_rows * work.parts),
        skipped_rows_((warps - 1) * work.unit_rows),
        left_(unit_turns_),
        row_(warp * work.unit_rows) {}

  __device__ uint64_t row() const { return row_; }
  __device__ bool IsFirstPart() const { return part_ == 0; }
  __device__ bool IsLastPart() const { return part_ + 1 == work_->parts; }
  // All turns of a unit are taken, whether there are rows for them or not.
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
  __device__ const T* Begin() const {
    return static_cast<const T*>(work_->elements) + row_ * work_->row_size;
  }

  const RowMomentWork* work_;
  uint32_t unit_turns_;
  uint64_t skipped_rows_;  // Behind a unit, other warps'.
  uint32_t left_;          // Turns of the unit.
  uint32_t part_ = 0;
  uint64_t row_;
};

// Rows by lanes of a warp: each by 1 to 32 neighbouring ones, whose numbers of vectors differ by
// two at most. RowMoments<T> is what a lane keeps of its row, and RowTotals<T> what the lanes of a
// row come to, which values.Finish is given, a row by each lane.
template <class T, class Values>
class RowMomentLanes {
 public:
  using Window = RowWindow<T>;

  __device__ RowMomentLanes(const Warp& warp, const RowMomentWork& work, const Values& values)
      : warp_(warp),
        work_(work),
        values_(values),
        width_(1u << work.width_log2),
        rank_(warp.thread_rank() & (width_ - 1)),
        place_(warp.thread_rank() >> work.width_log2) {}

  // Called by all lanes, as are others that are not const.
  __device__ void TakeTurn(const RowMomentTurns<T>& turn, const typename Window::Memory& memory) {
    const RowBytes bytes = turn.Bytes();
    const uint32_t together = ReduceTuning::kWarpThreads >> work_.width_log2;
#pragma unroll 1
    for (uint32_t k = 0; k < work_.turn_rows; k += together) {
      RowBytes of_row = bytes;
      if (work_.parts == 1) {
        of_row.begin += (k + place_) * work_.row_bytes;
        of_row.end = min(of_row.begin + work_.row_bytes, bytes.end);
      }
      if (turn.IsFirstPart()) moments_ = RowMoments<T>();
      Take(memory, of_row);
      if (turn.IsLastPart()) EndRows(turn.row() + k);
    }
  }

 private:
  static constexpr uint32_t kBytes = ReduceTuning::kVectorBytes;

  // Ends the rows from `row` on.
  __device__ void EndRows(uint64_t row) {
    RowTotals<T> totals = moments_.Totals();
    totals.JoinLanes(warp_, width_, work_.row_size);
    if (rank_ == passes_) kept_ = totals;
    if (++passes_ < work_.batch_passes) return;
    const uint32_t passes = passes_;
    passes_ = 0;
    const uint32_t together = ReduceTuning::kWarpThreads >> work_.width_log2;
    const uint64_t first = row - (passes - 1) * together;
    const uint32_t place = rank_ * together + place_;
    values_.Finish(first, place, rank_ < passes && first + place < work_.row_count, kept_);
  }

  // A row, or a part of it.
  __device__ void Take(const typename Window::Memory& memory, const RowBytes& bytes) {
    if (bytes.begin >= bytes.end) return;
    if constexpr (RowMoments<T>::kSurveys) {
      ForEachVector(memory, bytes,
                    [&](const uint4&, const uint4& elements) { moments_.AddExtremes(elements); });
      moments_.BeginSums();
      ForEachVector(memory, bytes,
                    [&](const uint4& addends, const uint4&) { moments_.AddSums(addends); });
    } else {
      ForEachVector(memory, bytes, [&](const uint4& addends, const uint4& elements) {
        moments_.AddSums(addends);
        moments_.AddExtremes(elements);
      });
    }
    moments_.Close();
  }

  // Calls take(addends, elements) for the lane's vectors: both are the same but for those that are
  // not the row's alone, where zeros stand in place of the others' elements, and one of the row's.
  template <class F>
  __device__ void ForEachVector(const typename Window::Memory& memory, const RowBytes& bytes,
                                F take) const {
    if (work_.row_bytes < kBytes) {
      TakeBrief(memory, bytes, take);
    } else {
      if ((bytes.begin | bytes.end) % kBytes != 0) TakeEnds(memory, bytes, take);
      TakeVectors(memory, bytes, take);
    }
  }

  // A vector as RowMoments takes it.
  __device__ uint4 Prepared(const uint4& raw) const {
    if constexpr (FloatingElement<T>) {
      return raw;
    } else {
      const uint32_t sign = work_.sign_word;
      const uint32_t lower_sign = sizeof(T) == 8 ? 0 : sign;
      return {raw.x ^ lower_sign, raw.y ^ sign, raw.z ^ lower_sign, raw.w ^ sign};
    }
  }
  // A vector of nothing but the first element of one.
  __device__ static uint4 FirstEverywhere(const uint4& vector) {
    if constexpr (sizeof(T) == 8) return {vector.x, vector.y, vector.x, vector.y};
    constexpr uint32_t kSelector = sizeof(T) == 1 ? 0x0000 : sizeof(T) == 2 ? 0x1010 : 0x3210;
    const uint32_t word = __byte_perm(vector.x, 0, kSelector);
    return {word, word, word, word};
  }

  // A row of less than a vector, by one lane.
  template <class F>
  __device__ void TakeBrief(const typename Window::Memory& memory, const RowBytes& bytes,
                            F take) const {
    constexpr uint32_t kWord = sizeof(uint32_t);
    const uint32_t* const words = reinterpret_cast<const uint32_t*>(memory) + bytes.begin / kWord;
    const uint32_t limit = (bytes.end + kWord - 1) / kWord - bytes.begin / kWord;
    uint32_t found[kBytes / kWord + 1] = {};
#pragma unroll
    for (uint32_t i = 0; i <= kBytes / kWord; ++i) {
      if (i < limit) found[i] = words[i];
    }
    if constexpr (sizeof(T) < kWord) {
      const uint32_t bits = bytes.begin % kWord * 8;
#pragma unroll
      for (uint32_t i = 0; i < kBytes / kWord; ++i) {
        found[i] = __funnelshift_r(found[i], found[i + 1], bits);
      }
    }
    const uint4 vector = Prepared({found[0], found[1], found[2], found[3]});
    const int end = static_cast<int>(work_.row_bytes);
    take(Between(vector, 0, end, uint4{}), Between(vector, 0, end, FirstEverywhere(vector)));
  }

  // Vectors that are not the row's alone: the first by a lane, the last by the next.
  template <class F>
  __device__ void TakeEnds(const typename Window::Memory& memory, const RowBytes& bytes,
                           F take) const {
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
      const T element = *reinterpret_cast<const T*>(reinterpret_cast<const char*>(memory) + begin);
      const uint4 other = Prepared(VectorOf<T>(element));
      const uint4 vector = Prepared(memory[v]);
      const int begin_byte = static_cast<int>(begin - v * kBytes);
      const int end_byte = static_cast<int>(bytes.end - v * kBytes);
      take(Between(vector, begin_byte, end_byte, uint4{}),
           Between(vector, begin_byte, end_byte, other));
    }
  }

  // The others, the lane's first somewhere among its own.
  template <class F>
  __device__ void TakeVectors(const typename Window::Memory& memory, const RowBytes& bytes,
                              F take) const {
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
      const uint4 vector = Prepared(*at);
      at += width_;
      if (at == end) at = begin;
      take(vector, vector);
    }
  }

  static constexpr uint32_t kRotations = 8;  // Lanes whose vectors are read at a time.

  const Warp& warp_;
  const RowMomentWork& work_;
  const Values& values_;
  uint32_t width_;
  uint32_t rank_;   // Among the lanes of a row.
  uint32_t place_;  // Of the row among those that are taken together.
  RowMoments<T> moments_;
  RowTotals<T> kept_;    // Of a row of the batch.
  uint32_t passes_ = 0;  // Of the batch, that are done.
};

// Takes the rows of a warp. Lanes take a row each, or `width` of them one, several times in a turn.
// What they have of a row is kept by the lane whose rank among them is the number of that time,
// until the batch is done. Called by all lanes.
template <class T, class Values>
__device__ inline void TakeRowMoments(const Warp& warp, const RowMomentWork& work,
                                      const Values& values,
                                      typename RowWindow<T>::Memory (&memory)[2]) {
  constexpr uint32_t kWarps = RowMomentTuning::kThreads / ReduceTuning::kWarpThreads;
  RowMomentLanes<T, Values> lanes(warp, work, values);
  RowMomentTurns<T> turn(work, uint64_t{blockIdx.x} * kWarps + warp.meta_group_rank(),
                         uint64_t{gridDim.x} * kWarps);
  turn.Load(warp, memory[0]);
#pragma unroll 1
  for (uint32_t which = 0; !turn.IsEnd(); which ^= 1) {
    RowMomentTurns<T> next = turn;
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

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_ROW_MOMENT_LANES_CUH_
