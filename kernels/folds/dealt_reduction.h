// Reductions whose array is dealt to several lanes, of one device or of several: what each of them
// runs, and how their results become the answer of one run over the whole array, bit for bit.
//
//   DealtReduction dealt(plan, cuts);
//   in any threads, for every part:
//     status = dealt.RunPart(part, its elements, lane, stop, statistics)
//   when all of them have returned OK, in any threads, for every slice of
//   dealt.BeginMerge(how many there may be):
//     status = dealt.MergeSlice(slice, lane, stop)
//   when all of those have:
//     result = dealt.Finish(lane)
//
// The elements of a part are those from one cut to the next. Groups that lie in a part whole are
// finished by its lane; of groups that a cut goes through, as the whole array, or columns, lanes
// hand out the states, which are then made one: on the host, or, of columns, where they are given
// room, by the engines that they stay with.
#ifndef GRIDFOLD_KERNELS_FOLDS_DEALT_REDUCTION_H_
#define GRIDFOLD_KERNELS_FOLDS_DEALT_REDUCTION_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/contract/engine.h"
#include "kernels/contract/reduction.h"
#include "kernels/folds/reduction_slices.h"

namespace gridfold::kernels {

// From 0 to the number of elements, not decreasing. Those of a two-dimensional array are between
// rows.
using Cuts = std::vector<uint64_t>;

// Bytes of states that each part of such a plan hands out and whoever merges them holds, at most.
uint64_t DealtStateBytes(const ReductionPlan& plan);

class DealtReduction {
 public:
  // INVALID_ARGUMENT that names "statistics" where the plan cannot be dealt at these cuts: a
  // floating-point product rounds at every step of a tree that no cut may go through.
  static absl::Status Check(const ReductionPlan& plan, const Cuts& cuts);

  // Requires Check. Takes time in proportion to the number of cuts.
  DealtReduction(ReductionPlan plan, Cuts cuts);

  size_t part_count() const { return parts_.size(); }

  // Runs a part, whose elements `input` holds. Thread-safe for different parts; once for each.
  // Errors: those of Lane::RunReduction, but for those of values, which Finish tells.
  absl::Status RunPart(size_t part, const InputSpan& input, Lane& lane, const std::stop_token& stop,
                       RunStatistics& statistics);

  // Whether states of parts may stay with engines: those of columns of which values are asked for.
  static bool CanHaveRoom(const ReductionPlan& plan) {
    return plan.grouping.kind == GroupingKind::kAxis0 && !plan.return_states;
  }
  // The bytes of room that a part's states take; 0 where the lane's engine keeps none.
  static uint64_t RoomBytes(const ReductionPlan& plan, const Lane& lane);
  // RunPart, with room of the lane's engine for the states, which must last until all slices are
  // merged. All parts have elements and room, or none has room.
  absl::Status RunPartInto(size_t part, const InputSpan& input, MutableResidentSpan room,
                           Lane& lane, const std::stop_token& stop, RunStatistics& statistics);

  // In how many slices the states are to be merged, each of so many groups that another thread is
  // worth it: at most `slices_max`, and none where Finish does all that there is to do. Of states
  // that stayed with engines, as many as there are parts, whatever the most. Once.
  size_t BeginMerge(size_t slices_max);

  // Thread-safe for different slices; once for each. Of states that stayed with engines, each by a
  // lane of the engine that has the part of the slice's number. Errors: CANCELLED, INTERNAL.
  absl::Status MergeSlice(size_t slice, Lane& lane, const std::stop_token& stop);

  // What an engine returns for the plan of the whole array: of values that do not fit, the first
  // group's error. The lane may be any. Once.
  absl::StatusOr<ReductionResult> Finish(Lane& lane);

 private:
  // What a lane runs at once: consecutive groups, or a part of one group (or of all columns).
  struct Piece {
    ReductionPlan plan;
    uint64_t first_element = 0;
    uint64_t first_group = 0;
    bool has_states = false;  // Of a group that goes on in another piece.
    ReductionResult result = {};
    absl::Status error = absl::OkStatus();  // Of its values; what follows it has not run.
  };

  std::vector<Piece> PiecesOf(size_t part) const;
  void AddRows(uint64_t begin, uint64_t end, std::vector<Piece>& pieces) const;
  void AddSegments(uint64_t begin, uint64_t end, bool is_last, std::vector<Piece>& pieces) const;
  Piece CommonPiece(uint64_t begin, uint64_t end) const;
  Piece Fragment(uint64_t group, uint64_t begin, uint64_t end) const;
  // What is added to indices of the piece's columns, or of the piece.
  uint64_t FirstIndexOf(const Piece& piece) const;
  void ShiftToWhole(Piece& piece) const;
  void BeginSlices(size_t count);
  absl::StatusOr<ReductionResult> FinishCommon(Lane& lane);
  absl::StatusOr<ReductionResult> FinishConsecutive();

  const ReductionPlan plan_;
  const Cuts cuts_;
  std::vector<std::vector<Piece>> parts_;
  std::vector<ResidentStates> rooms_;        // Of each part, where they have any.
  std::unique_ptr<ReductionSlices> slices_;  // Once the merge of common groups has begun.
};

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_FOLDS_DEALT_REDUCTION_H_
