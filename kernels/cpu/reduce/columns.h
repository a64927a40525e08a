// Reductions of a matrix down its rows: one group for each column.
//
// The matrix, or each of a stack, is cut into strips of columns, and strips into blocks of rows
// where there are too few of them to keep all threads busy. What comes out does not depend on the
// cuts: the states of a column's blocks can be merged in any order, and blocks are whole branches
// of the product tree.
#ifndef GRIDFOLD_KERNELS_CPU_REDUCE_COLUMNS_H_
#define GRIDFOLD_KERNELS_CPU_REDUCE_COLUMNS_H_

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "kernels/cpu/base/job_context.h"
#include "kernels/cpu/reduce/kernels.h"
#include "kernels/cpu/reduce/statistic_writer.h"

namespace gridfold::kernels::cpu {

template <class T>
class ColumnReduction {
 public:
  ColumnReduction(const ReductionPlan& plan, HostSpan input, int threads, StatisticWriter& writer)
      : rows_(plan.array.rows),
        columns_(plan.array.columns),
        row_pitch_(plan.array.row_pitch()),
        matrix_pitch_(plan.array.pitches ? plan.array.pitches->matrix : rows_ * columns_),
        groups_(plan.grouping.group_count),
        data_(input.data),
        writer_(writer),
        request_(writer.Request()),
        matrix_strips_((columns_ + kStripColumns - 1) / kStripColumns),
        strips_(plan.array.matrices * matrix_strips_),
        block_rows_(BlockRows(rows_, columns_, strips_, threads)),
        blocks_(std::max<uint64_t>((rows_ + block_rows_ - 1) / block_rows_, 1)) {}

  absl::Status Run(JobContext& job) {
    // With one block a strip is finished by who reduced it, and nothing is kept.
    const bool keep_parts = blocks_ > 1;
    if (keep_parts) {
      states_.resize(blocks_ * groups_);
      products_.resize(blocks_ * groups_);
    }
    absl::Status status = job.ForEach(strips_ * blocks_, [&](uint64_t i) {
      const uint64_t strip = i % strips_;
      const uint64_t block = i / strips_;
      if (keep_parts) {
        const uint64_t first_part = block * groups_ + FirstGroup(strip);
        Reduce(strip, block, &states_[first_part], &products_[first_part]);
      } else {
        ReduceWholeStrip(strip);
      }
    });
    if (!status.ok() || !keep_parts) return status;
    return job.ForEach(strips_, [&](uint64_t strip) { JoinParts(strip); });
  }

 private:
  static constexpr uint64_t kStripColumns = kReduceStripColumns<T>;

  // Enough blocks for all threads, few enough that what is kept of them stays small: the state of a
  // column of float64 takes more than a KiB.
  static uint64_t BlockRows(uint64_t rows, uint64_t columns, uint64_t strips, int threads) {
    const uint64_t pieces_wanted = std::min<uint64_t>(4 * static_cast<uint64_t>(threads), 128);
    const uint64_t blocks_wanted =
        std::max<uint64_t>(pieces_wanted / std::max<uint64_t>(strips, 1), 1);
    const uint64_t strip_columns = std::clamp<uint64_t>(columns, 1, kStripColumns);
    const uint64_t rows_worth_it = kReduceBlockElements<T> / strip_columns;
    // Blocks must be whole branches of the product tree.
    return std::bit_ceil(std::max({rows / blocks_wanted + 1, rows_worth_it, kProductTile}));
  }

  // Of a strip in its matrix.
  uint64_t FirstColumn(uint64_t strip) const { return strip % matrix_strips_ * kStripColumns; }
  uint32_t StripColumns(uint64_t strip) const {
    return static_cast<uint32_t>(std::min(kStripColumns, columns_ - FirstColumn(strip)));
  }
  uint64_t FirstGroup(uint64_t strip) const {
    return strip / matrix_strips_ * columns_ + FirstColumn(strip);
  }

  void Reduce(uint64_t strip, uint64_t block, GroupStateOf<T>* states, ScaledProduct* products) {
    const uint64_t first_row = block * block_rows_;
    const StripShape shape{row_pitch_ * sizeof(T), std::min(block_rows_, rows_ - first_row),
                           StripColumns(strip), first_row};
    const uint64_t first = strip / matrix_strips_ * matrix_pitch_ + first_row * row_pitch_;
    ReduceStrip<T>(data_ + (first + FirstColumn(strip)) * sizeof(T), shape, request_, states,
                   products);
  }

  void ReduceWholeStrip(uint64_t strip) {
    std::vector<GroupStateOf<T>> states(StripColumns(strip));
    std::vector<ScaledProduct> products(states.size());
    Reduce(strip, 0, states.data(), products.data());
    for (size_t c = 0; c < states.size(); ++c) {
      writer_.Write(FirstGroup(strip) + c, rows_, states[c], products[c]);
    }
  }

  // Joins the blocks of each column of the strip, in their order.
  void JoinParts(uint64_t strip) {
    const uint64_t first_group = FirstGroup(strip);
    for (uint64_t group = first_group; group < first_group + StripColumns(strip); ++group) {
      GroupStateOf<T> state;
      PairwiseProduct product;
      for (uint64_t block = 0; block < blocks_; ++block) {
        state.Merge(states_[block * groups_ + group]);
        product.Push(products_[block * groups_ + group]);
      }
      writer_.Write(group, rows_, state, product.Result());
    }
  }

  const uint64_t rows_;
  const uint64_t columns_;
  const uint64_t row_pitch_;
  const uint64_t matrix_pitch_;
  const uint64_t groups_;
  const std::byte* const data_;
  StatisticWriter& writer_;
  const ReduceRequest request_;
  const uint64_t matrix_strips_;
  const uint64_t strips_;
  const uint64_t block_rows_;
  const uint64_t blocks_;
  std::vector<GroupStateOf<T>> states_;  // Of block b and group g at b * groups + g.
  std::vector<ScaledProduct> products_;
};

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_REDUCE_COLUMNS_H_
