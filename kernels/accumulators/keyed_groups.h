// The groups of a reduction by key, in order, and the accumulator that is written of one after the
// other. For accumulators and folds only.
#ifndef GRIDFOLD_KERNELS_ACCUMULATORS_KEYED_GROUPS_H_
#define GRIDFOLD_KERNELS_ACCUMULATORS_KEYED_GROUPS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "kernels/accumulators/keyed_accumulator.h"
#include "kernels/accumulators/reduction_finish.h"
#include "kernels/numerics/arithmetic/ordered_key.h"

namespace gridfold::kernels {

class KeyedGroupWriter {
 public:
  // `groups` are those that will be added, as KeyedReductionResult has them. `plan` must outlive
  // the writer.
  KeyedGroupWriter(const KeyedReductionPlan& plan, uint64_t key_count_max,
                   const std::vector<uint64_t>& groups)
      : plan_(plan),
        parts_(PartsOf(plan.reduction)),
        writer_(OpenKeyedAccumulator(plan, key_count_max, groups)) {}

  // The next group that has elements.
  template <class S>
  void Add(uint64_t group, uint64_t element_count, const FullState<S>& state) {
    if (plan_.has_bins()) FillBefore(group);
    WriteGroup(parts_, element_count, state, writer_);
    ++written_;
  }

  std::string Finish() && {
    if (plan_.has_bins()) FillBefore(plan_.group_count_max);
    return std::move(writer_).Finish();
  }

 private:
  // Of a range and of bins, groups without elements are written too.
  void FillBefore(uint64_t group) {
    for (; written_ < group; ++written_) writer_.Integer(0);
  }

  const KeyedReductionPlan& plan_;
  const uint32_t parts_;
  AccumulatorWriter writer_;
  uint64_t written_ = 0;
};

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_ACCUMULATORS_KEYED_GROUPS_H_
