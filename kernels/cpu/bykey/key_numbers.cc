#include "kernels/cpu/bykey/key_numbers.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "kernels/cpu/bykey/axis_placer.h"
#include "kernels/numerics/arithmetic/element.h"
#include "kernels/numerics/arithmetic/ordered_key.h"
#include "kernels/numerics/bins/axes.h"

namespace gridfold::kernels::cpu {

namespace {

static_assert(kKeysPerPiece % kPlacerTile == 0);

struct Extremes {
  uint64_t least = std::numeric_limits<uint64_t>::max();
  uint64_t largest = 0;
};

template <class T>
absl::StatusOr<Extremes> FindExtremes(HostSpan keys, uint64_t count, JobContext& job) {
  std::vector<Extremes> of_pieces(KeyPieceCount(count));
  absl::Status status = ForEachKeyPiece(count, job, [&](uint64_t piece, uint64_t i, uint64_t end) {
    Extremes found;
    for (; i < end; ++i) {
      const uint64_t ordered = OrderedKey(LoadUnaligned<T>(keys.data, i));
      found.least = std::min(found.least, ordered);
      found.largest = std::max(found.largest, ordered);
    }
    of_pieces[piece] = found;
  });
  if (!status.ok()) return status;
  Extremes extremes;
  for (const Extremes& piece : of_pieces) {
    extremes.least = std::min(extremes.least, piece.least);
    extremes.largest = std::max(extremes.largest, piece.largest);
  }
  return extremes;
}

template <class T, class Number>
absl::Status Fill(HostSpan keys, uint64_t count, uint64_t least, JobContext& job,
                  KeyNumbers& numbered) {
  Number* const numbers = numbered.numbers.emplace<Buffer<Number>>(MakeBuffer<Number>(count)).get();
  return ForEachKeyPiece(count, job, [&](uint64_t, uint64_t i, uint64_t end) {
    for (; i < end; ++i) {
      const uint64_t ordered = OrderedKey(LoadUnaligned<T>(keys.data, i));
      numbers[i] = static_cast<Number>(ordered - least);
    }
  });
}

template <class T>
absl::StatusOr<KeyNumbers> NumberKeysOf(HostSpan keys, uint64_t count, JobContext& job) {
  const absl::StatusOr<Extremes> extremes = FindExtremes<T>(keys, count, job);
  if (!extremes.ok()) return extremes.status();
  KeyNumbers numbered;
  numbered.first = extremes->least;
  numbered.sign = kKeySign<T>;
  const bool is_narrow =
      count == 0 || extremes->largest - extremes->least <= std::numeric_limits<uint32_t>::max();
  const absl::Status status = is_narrow
                                  ? Fill<T, uint32_t>(keys, count, extremes->least, job, numbered)
                                  : Fill<T, uint64_t>(keys, count, extremes->least, job, numbered);
  if (!status.ok()) return status;
  return numbered;
}

// The error of the first key that is in no bin.
absl::Status FirstOutside(const KeyedReductionPlan& plan, const uint32_t* numbers, uint32_t dropped,
                          HostSpan keys) {
  const uint64_t index = std::find(numbers, numbers + plan.keys.element_count, dropped) - numbers;
  const uint64_t bits = VisitElementType(plan.keys.element_type, [&](auto tag) -> uint64_t {
    using T = typename decltype(tag)::type;
    if constexpr (IntegerElement<T>) return KeyBits(LoadUnaligned<T>(keys.data, index));
    return 0;
  });
  return KeyOutsideRange(plan, index, bits);
}

}  // namespace

absl::StatusOr<KeyNumbers> NumberKeys(const KeyedReductionPlan& plan, HostSpan keys,
                                      JobContext& job) {
  return VisitElementType(plan.keys.element_type, [&](auto tag) -> absl::StatusOr<KeyNumbers> {
    using T = typename decltype(tag)::type;
    if constexpr (IntegerElement<T>) return NumberKeysOf<T>(keys, plan.keys.element_count, job);
    return absl::InternalError("floating-point keys");  // Which plans do not have.
  });
}

absl::StatusOr<KeyNumbers> NumberBins(const KeyedReductionPlan& plan,
                                      std::span<const HostSpan> keys, JobContext& job) {
  const uint64_t count = plan.keys.element_count;
  KeyNumbers numbered;
  numbered.bins = plan.bins();
  std::vector<std::unique_ptr<AxisPlacer>> placers;
  for (size_t axis = 0; axis < plan.axes.size(); ++axis) {
    const absl::Status status = ResolveAxis(plan.axes[axis], keys[axis], job, numbered.bins[axis]);
    if (!status.ok()) return status;
    placers.push_back(MakeAxisPlacer(plan.axes[axis], numbered.bins[axis], keys[axis]));
  }
  const auto dropped = static_cast<uint32_t>(plan.group_count_max);
  numbered.dropped = dropped;
  uint32_t* const numbers =
      numbered.numbers.emplace<Buffer<uint32_t>>(MakeBuffer<uint32_t>(count)).get();
  std::vector<OutcomeCounts> of_pieces(KeyPieceCount(count));
  absl::Status status =
      ForEachKeyPiece(count, job, [&](uint64_t piece, uint64_t first, uint64_t end) {
        for (; first < end; first += kPlacerTile) {
          const std::span<AxesPlace> places(numbers + first,
                                            std::min<uint64_t>(kPlacerTile, end - first));
          std::fill(places.begin(), places.end(), kFirstAxis);
          for (const auto& placer : placers) placer->Place(first, places);
          for (AxesPlace& place : places) {
            of_pieces[piece].Count(OutcomeOf(place));
            place = BinOf(place) == kInNoBin ? dropped : BinOf(place);
          }
        }
      });
  if (!status.ok()) return status;
  OutcomeCounts outcomes;
  for (const OutcomeCounts& piece : of_pieces) outcomes.Merge(piece);
  if (plan.refuses_outside && outcomes.underflow + outcomes.overflow > 0) {
    return FirstOutside(plan, numbers, dropped, keys.front());
  }
  numbered.underflow_count = outcomes.underflow;
  numbered.overflow_count = outcomes.overflow;
  numbered.nan_count = outcomes.nan;
  return numbered;
}

}  // namespace gridfold::kernels::cpu
