#include "kernels/cpu/histogram/pieces.h"

#include <algorithm>
#include <string>
#include <vector>

#include "kernels/contract/strategy_error.h"
#include "kernels/cpu/histogram/sample_placer.h"
#include "kernels/cpu/histogram/weights.h"

namespace gridfold::kernels::cpu {

namespace {

constexpr uint64_t kPiecesMax = 64;
constexpr uint64_t kPieceSamplesMin = 64 * kPlacerTile;
// Adding up private tables must stay cheap beside counting: with weights, samples for each 8 bytes
// of a table.
constexpr uint64_t kSamplesPerWordMin = 4;
// And without, counters of all tables for each sample: an atomic addition takes the time of some.
constexpr uint64_t kCountersPerSampleMax = 2;
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

// Of the samples and counters of a plan.
struct Costs {
  Costs(const HistogramPlan& plan, int threads)
      : samples(plan.array.element_count), weighted(plan.weight_type.has_value()) {
    const uint64_t counter_bytes = CounterBytes(plan);
    counters_max = kPrivateBytesMax / counter_bytes;
    counters = weighted ? std::min(plan.total_bin_count(), counters_max) : plan.total_bin_count();
    pieces_worth_it = std::clamp<uint64_t>(samples / kPieceSamplesMin, 1, kPiecesMax);
    const uint64_t cheap = samples / (kSamplesPerWordMin * (counter_bytes / sizeof(uint64_t)));
    tables_affordable = std::min(cheap, counters_max) / counters;
    const uint64_t tables = std::min<uint64_t>(pieces_worth_it, static_cast<uint64_t>(threads));
    are_private_tables_cheap =
        weighted || tables * counters <= std::min(kCountersPerSampleMax * samples, counters_max);
  }

  uint64_t samples;
  bool weighted;
  uint64_t counters_max;  // Of all private tables together.
  uint64_t counters;      // Of a table.
  uint64_t pieces_worth_it;
  uint64_t tables_affordable;  // With weights.
  bool are_private_tables_cheap;
};

HistogramPieces WithPrivateTables(const Costs& costs) {
  const uint64_t tables_max = costs.weighted ? costs.tables_affordable : costs.pieces_worth_it;
  HistogramPieces pieces =
      CutInto(std::clamp<uint64_t>(tables_max, 1, costs.pieces_worth_it), costs.samples);
  pieces.bins_per_pass = costs.counters;
  return pieces;
}

HistogramPieces WithSharedTable(const Costs& costs) {
  HistogramPieces pieces = CutInto(costs.pieces_worth_it, costs.samples);
  pieces.shared_counters = true;
  return pieces;
}

}  // namespace

const char* HistogramStrategy(const HistogramPieces& pieces) {
  return pieces.shared_counters ? "histogram/shared" : "histogram/private";
}

absl::StatusOr<HistogramPieces> CutSamples(const HistogramPlan& plan, int threads) {
  const Costs costs(plan, threads);
  std::vector<HistogramPieces> takers;  // The best first.
  if (costs.counters <= costs.counters_max) takers.push_back(WithPrivateTables(costs));
  if (!costs.weighted) {
    takers.insert(costs.are_private_tables_cheap ? takers.end() : takers.begin(),
                  WithSharedTable(costs));
  }
  if (plan.strategy.empty()) return takers.front();
  std::vector<std::string> names;
  for (const HistogramPieces& pieces : takers) {
    names.emplace_back(HistogramStrategy(pieces));
    if (plan.strategy == names.back()) return pieces;
  }
  return StrategyError(plan.strategy, names);
}

}  // namespace gridfold::kernels::cpu
