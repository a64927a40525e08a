// Reductions along sets of axes that neither rows nor columns are (contract/axes.h), of an array as
// it stands, or as a view of it does: its innermost axes are reduced first, and states of what
// comes of that are merged along the outer ones. The same bits as of the array in another order.
//
//   const InPlaceReduction reduction(plan, *axes.in_place);
//   if (const auto room_bytes = reduction.RoomBytes(input, lane)) {
//     result = reduction.Run(input, room of so many bytes, lane, stop, statistics);
//   }
#ifndef GRIDFOLD_KERNELS_FOLDS_IN_PLACE_REDUCTION_H_
#define GRIDFOLD_KERNELS_FOLDS_IN_PLACE_REDUCTION_H_

#include <cstdint>
#include <optional>
#include <stop_token>

#include "absl/status/statusor.h"
#include "kernels/contract/axes.h"
#include "kernels/contract/engine.h"
#include "kernels/contract/reduction.h"

namespace gridfold::kernels {

class InPlaceReduction {
 public:
  // `plan` is of the array in another order, whose groups are those of `groups`.
  InPlaceReduction(const ReductionPlan& plan, const GroupsInPlace& groups);

  // The bytes of room that Run needs on the lane's engine, which may be none. Nothing where the
  // engine cannot take the array as it stands, or states of parts would take so much that a copy is
  // sooner made.
  std::optional<uint64_t> RoomBytes(const ResidentSpan& input, const Lane& lane) const;

  // What the engine returns for the plan. Requires RoomBytes. Errors: those of Lane::RunReduction.
  absl::StatusOr<ReductionResult> Run(const ResidentSpan& input, MutableResidentSpan room,
                                      Lane& lane, const std::stop_token& stop,
                                      RunStatistics& statistics) const;

 private:
  bool has_parts() const { return states_.parts > 1; }

  const StateGrid states_;
  ReductionPlan inner_;  // Of the array as it stands.
  ReductionPlan whole_;  // Of the groups that parts are merged to.
};

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_FOLDS_IN_PLACE_REDUCTION_H_
