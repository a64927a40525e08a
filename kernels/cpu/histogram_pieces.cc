#include "kernels/cpu/histogram_pieces.h"

#include <algorithm>

#include "kernels/cpu/sample_placer.h"
#include "kernels/numerics/compensated_sum.h"

namespace gridfold::kernels {

namespace {

constexpr uint64_t kPiecesMax = 64;
constexpr uint64_t kPieceSamplesMin = 64 * kPlacerTile;
// Adding up private tables must stay cheap beside counting.
constexpr uint64_t kSamplesPerCounterMin = 4;
constexpr uint64_t kPrivateBytesMax = uint64_t{256} << 20;

HistogramPieces CutInto(uint64_t pieces, uint64_t samples) {
  const uint64_t tiles = (samples + kPlacerTile - 1) / kPlacerTile;
  const uint64_t tiles_per_piece = std::max<uint64_t>((tiles + pieces - 1) / pieces, 1);
  return {.samples_per_piece = tiles_per_piece * kPlacerTile,
          .piece_count = (tiles + tiles_per_piece - 1) / tiles_per_piece};
}

}  // namespace

HistogramPieces CutSamples(const HistogramPlan& plan) {
  const uint64_t samples = plan.array.element_count;
  const uint64_t counters = plan.total_bin_count();
  const uint64_t counter_bytes =
      plan.weight_type.has_value() ? sizeof(CompensatedSum) : sizeof(uint64_t);
  const uint64_t worth_it = std::clamp<uint64_t>(samples / kPieceSamplesMin, 1, kPiecesMax);
  const uint64_t affordable =
      std::min(samples / kSamplesPerCounterMin, kPrivateBytesMax / counter_bytes) / counters;
  if (affordable >= std::min<uint64_t>(worth_it, 8) || plan.weight_type.has_value()) {
    return CutInto(std::clamp<uint64_t>(affordable, 1, worth_it), samples);
  }
  HistogramPieces pieces = CutInto(worth_it, samples);
  pieces.shared_counters = true;
  return pieces;
}

}  // namespace gridfold::kernels
