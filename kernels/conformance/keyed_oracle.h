// What a reduction by key must answer: each group's elements are gathered one by one, and judged by
// the oracle of reductions.
#ifndef GRIDFOLD_KERNELS_CONFORMANCE_KEYED_ORACLE_H_
#define GRIDFOLD_KERNELS_CONFORMANCE_KEYED_ORACLE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "kernels/conformance/engine_test.h"
#include "kernels/conformance/test_array.h"
#include "kernels/contract/keyed_reduction.h"

namespace gridfold::kernels::conformance {

// The elements of each group, by the group's number (of bins) or key.
using KeyedElements = std::map<__int128, std::vector<uint64_t>>;

// By the keys themselves.
KeyedElements ElementsByKey(const TestArray& keys);

// The coordinates of several axes, and the edges of their bins.
struct BinnedAxes {
  std::vector<const TestArray*> keys;
  std::vector<std::vector<double>> edges;
};

// By the bins of all axes, in row-major order, between their edges (half-open, the last one
// closed); those outside are left out, or clamped.
KeyedElements ElementsByBin(const BinnedAxes& axes, bool clamp);

// Elements that are outside of bins: with a NaN, or else below or above on the first axis where
// they are outside.
struct OutsideBins {
  uint64_t below = 0;
  uint64_t above = 0;
  uint64_t nan = 0;
};
OutsideBins CountOutside(const BinnedAxes& axes);
void ExpectOutside(const OutsideBins& expected, const KeyedReductionResult& result);

// What a keyed reduction of the plan needs for the while.
struct Room {
  std::unique_ptr<ResidentPool> pool;
  std::unique_ptr<ResidentMemory> memory;  // Goes before its pool.

  MutableResidentSpan span() const {
    return memory == nullptr ? MutableResidentSpan{} : memory->span();
  }
};
absl::StatusOr<Room> RoomFor(EngineUnderTest& engine, const KeyedReductionPlan& plan);

struct KeyedRun {
  KeyedReductionResult result;
  KeyedAnswer answer;
};

// Runs it on the engine's lane, with no more groups than a roomy lane has; and once more on
// resident arrays, of which the same answer is expected.
absl::StatusOr<KeyedRun> ReduceByKey(EngineUnderTest& engine, const TestArray& keys,
                                     const TestArray& values, const KeyedReductionSpec& spec,
                                     std::vector<InputSpan> further_keys = {});

// Expects the answer for these groups: of `dense_count` groups, numbered from `first` on, or where
// there is none of those that have elements.
void CheckKeyed(const KeyedElements& groups, const TestArray& values, const ReductionSpec& spec,
                std::optional<uint64_t> dense_count, __int128 first, const KeyedAnswer& answer);

// Expects the quantiles of these groups, by the oracle of quantiles.
void CheckKeyedQuantiles(const KeyedElements& groups, const TestArray& values,
                         const KeyedReductionSpec& spec, std::optional<uint64_t> dense_count,
                         __int128 first, const KeyedAnswer& answer);

}  // namespace gridfold::kernels::conformance

#endif  // GRIDFOLD_KERNELS_CONFORMANCE_KEYED_ORACLE_H_
