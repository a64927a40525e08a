// Reductions of groups whose elements are consecutive: the whole array, rows, also those of a
// matrix with pitches, and segments.
#ifndef GRIDFOLD_KERNELS_CPU_REDUCE_CONTIGUOUS_H_
#define GRIDFOLD_KERNELS_CPU_REDUCE_CONTIGUOUS_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "kernels/cpu/base/job_context.h"
#include "kernels/cpu/base/pieces.h"
#include "kernels/cpu/reduce/kernels.h"
#include "kernels/cpu/reduce/statistic_writer.h"

namespace gridfold::kernels::cpu {

template <class T>
class ContiguousReduction {
 public:
  ContiguousReduction(const ReductionPlan& plan, HostSpan input, StatisticWriter& writer)
      : array_(plan.array),
        grouping_(plan.grouping),
        data_(input.data),
        writer_(writer),
        request_(writer.Request()),
        pieces_(CutIntoPieces(plan.grouping, kReduceBlockElements<T>)) {}

  absl::Status Run(JobContext& job) {
    NumberParts();
    const absl::Status status = job.ForEach(pieces_.size(), [&](uint64_t i) {
      if (pieces_[i].is_part_of_group()) {
        ReducePart(pieces_[i], parts_[part_numbers_[i]]);
      } else {
        ReduceGroups(pieces_[i]);
      }
    });
    if (!status.ok()) return status;
    JoinParts();
    return absl::OkStatus();
  }

 private:
  // What one piece of a long group came to.
  struct Part {
    GroupStateOf<T> state;
    ScaledProduct product;
  };

  void NumberParts() {
    part_numbers_.resize(pieces_.size());
    uint64_t count = 0;
    for (size_t i = 0; i < pieces_.size(); ++i) {
      part_numbers_[i] = count;
      if (pieces_[i].is_part_of_group()) ++count;
    }
    parts_.resize(count);
  }

  void ReducePart(const Piece& piece, Part& part) {
    const uint64_t first_index = piece.begin - GroupBegin(grouping_, piece.first_group);
    Reduce(piece.begin, piece.end, first_index, part);
  }

  void ReduceGroups(const Piece& piece) {
    for (uint64_t g = piece.first_group; g < piece.end_group; ++g) {
      Part part;
      Reduce(GroupBegin(grouping_, g), GroupBegin(grouping_, g + 1), 0, part);
      writer_.Write(g, GroupSize(grouping_, g), part.state, part.product);
    }
  }

  void Reduce(uint64_t begin, uint64_t end, uint64_t first_index, Part& part) {
    ReduceStrip<T>(data_ + PlaceOf(begin) * sizeof(T), {sizeof(T), end - begin, 1, first_index},
                   request_, &part.state, &part.product);
  }

  // Where the element of this number stands in memory.
  uint64_t PlaceOf(uint64_t element) const {
    if (!array_.pitches) return element;
    const uint64_t row = element / array_.columns;
    return row / array_.rows * array_.pitches->matrix + row % array_.rows * array_.pitches->row +
           element % array_.columns;
  }

  // Joins the parts of each long group, in their order.
  void JoinParts() {
    for (size_t i = 0; i < pieces_.size();) {
      if (!pieces_[i].is_part_of_group()) {
        ++i;
        continue;
      }
      const uint64_t group = pieces_[i].first_group;
      GroupStateOf<T> state;
      PairwiseProduct product;
      for (; i < pieces_.size() && pieces_[i].is_part_of_group() && pieces_[i].first_group == group;
           ++i) {
        const Part& part = parts_[part_numbers_[i]];
        state.Merge(part.state);
        product.Push(part.product);
      }
      writer_.Write(group, GroupSize(grouping_, group), state, product.Result());
    }
  }

  const ArrayDescription& array_;
  const Grouping& grouping_;
  const std::byte* const data_;
  StatisticWriter& writer_;
  const ReduceRequest request_;
  const std::vector<Piece> pieces_;
  std::vector<uint64_t> part_numbers_;  // For each piece, the parts before it.
  std::vector<Part> parts_;
};

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_REDUCE_CONTIGUOUS_H_
