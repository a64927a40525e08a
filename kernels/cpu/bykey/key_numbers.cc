#include "kernels/cpu/bykey/key_numbers.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "kernels/cpu/histogram/histogram.h"
#include "kernels/cpu/histogram/placer.h"
#include "kernels/numerics/arithmetic/element.h"
#include "kernels/numerics/arithmetic/ordered_key.h"

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
                                      const HostHistogramInput& keys, JobContext& job) {
  const uint64_t count = plan.keys.element_count;
  KeyNumbers numbered;
  numbered.bins = plan.bins->bins;
  if (plan.bins->needs_range()) {
    absl::StatusOr<HistogramResult> counted = HistogramOnCpu(*plan.bins, keys, job);
    if (!counted.ok()) return counted.status();
    numbered.bins = std::move(counted->bins);
  }
  const std::unique_ptr<AnySamplePlacer> placer = MakeSamplePlacer(*plan.bins, numbered.bins, keys);
  const auto dropped = static_cast<uint32_t>(plan.group_count_max);
  numbered.dropped = dropped;
  uint32_t* const numbers =
      numbered.numbers.emplace<Buffer<uint32_t>>(MakeBuffer<uint32_t>(count)).get();
  std::vector<OutcomeCounts> of_pieces(KeyPieceCount(count));
  absl::Status status =
      ForEachKeyPiece(count, job, [&](uint64_t piece, uint64_t first, uint64_t end) {
        int64_t placed[kPlacerTile];
        for (; first < end; first += kPlacerTile) {
          const uint64_t n = std::min<uint64_t>(kPlacerTile, end - first);
          placer->Place(first, n, placed, &of_pieces[piece]);
          for (uint64_t i = 0; i < n; ++i) {
            numbers[first + i] = placed[i] < 0 ? dropped : static_cast<uint32_t>(placed[i]);
          }
        }
      });
  if (!status.ok()) return status;
  OutcomeCounts outcomes;
  for (const OutcomeCounts& piece : of_pieces) outcomes.Merge(piece);
  if (plan.refuses_outside && outcomes.underflow + outcomes.overflow > 0) {
    return FirstOutside(plan, numbers, dropped, keys.array);
  }
  numbered.underflow_count = outcomes.underflow;
  numbered.overflow_count = outcomes.overflow;
  numbered.nan_count = outcomes.nan;
  return numbered;
}

}  // namespace gridfold::kernels::cpu
