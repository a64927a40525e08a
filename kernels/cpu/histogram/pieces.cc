#include "kernels/cpu/histogram/pieces.h"

#include <algorithm>

#include "kernels/cpu/histogram/sample_placer.h"
#include "kernels/cpu/histogram/weights.h"

namespace gridfold::kernels::cpu {

namespace {

constexpr uint64_t kPiecesMax = 64;
constexpr uint64_t kPieceSamplesMin = 64 * kPlacerTile;
// Adding up private tables must stay cheap beside counting: samples for each 8 bytes of a table.
constexpr uint64_t kSamplesPerWordMin = 4;
constexpr uint64_t kPrivateBytesMax = uint64_t{256} << 20;

HistogramPieces CutInto(uint64_t pieces, uint64_t samples) {
  const uint64_t tiles = (samples + kPlacerTile - 1) / kPlacerTile;
  const uint64_t tiles_per_piece = std::max<uint64_t>((tiles + pieces - 1) / pieces, 1);
  return {.samples_per_piece = tiles_per_piece * kPlacerTile,
          .piece_count = (tiles + tiles_per_piece - 1) / tiles_per_piece};
}

uint64_t CounterBytes(const HistogramPlan& plan) {
  if (!plan.weight_type.has_value()) return sizeof(uint64_t);
  return VisitWeightSum(*plan.weight_type,
                        [](auto tag) -> uint64_t { return sizeof(typename decltype(tag)::type); });
}

}  // namespace

HistogramPieces CutSamples(const HistogramPlan& plan) {
  const uint64_t samples = plan.array.element_count;
  const uint64_t counter_bytes = CounterBytes(plan);
  const uint64_t counters_max = kPrivateBytesMax / counter_bytes;
  const bool weighted = plan.weight_type.has_value();
  const uint64_t counters =
      weighted ? std::min(plan.total_bin_count(), counters_max) : plan.total_bin_count();
  const uint64_t worth_it = std::clamp<uint64_t>(samples / kPieceSamplesMin, 1, kPiecesMax);
  const uint64_t cheap = samples / (kSamplesPerWordMin * (counter_bytes / sizeof(uint64_t)));
  const uint64_t affordable = std::min(cheap, counters_max) / counters;
  if (affordable >= std::min<uint64_t>(worth_it, 8) || weighted) {
    HistogramPieces pieces = CutInto(std::clamp<uint64_t>(affordable, 1, worth_it), samples);
    pieces.bins_per_pass = counters;
    return pieces;
  }
  HistogramPieces pieces = CutInto(worth_it, samples);
  pieces.shared_counters = true;
  return pieces;
}

}  // namespace gridfold::kernels::cpu
