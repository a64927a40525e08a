// Finds the counters that samples add to, a tile at a time.
#ifndef GRIDFOLD_KERNELS_CPU_HISTOGRAM_SAMPLE_PLACER_H_
#define GRIDFOLD_KERNELS_CPU_HISTOGRAM_SAMPLE_PLACER_H_

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "kernels/cpu/base/instruction_set.h"
#include "kernels/cpu/histogram/count_table.h"
#include "kernels/cpu/histogram/input.h"
#include "kernels/cpu/histogram/nearest_guess.h"
#include "kernels/cpu/histogram/table_guess.h"
#include "kernels/cpu/histogram/table_search.h"
#include "kernels/numerics/arithmetic/element.h"
#include "kernels/numerics/bins/layout.h"

namespace gridfold::kernels::cpu {

// Samples of a channel that were in no bin, or clamped into one.
struct OutcomeCounts {
  uint64_t underflow = 0;
  uint64_t overflow = 0;
  uint64_t nan = 0;

  void Count(int64_t outcome) {
    underflow += outcome == kUnderflowBin ? 1 : 0;
    overflow += outcome == kOverflowBin ? 1 : 0;
    nan += outcome == kNanBin ? 1 : 0;
  }
  void Merge(const OutcomeCounts& other) {
    underflow += other.underflow;
    overflow += other.overflow;
    nan += other.nan;
  }
};

// Samples placed in one go; a tile's counters fit in the first-level cache.
inline constexpr uint64_t kPlacerTile = CountTable::kCountedAtOnce;

namespace sample_placer_internal {

inline constexpr int64_t kUnsure = std::numeric_limits<int64_t>::min();

// What samples outside the bins add to, and what a GuessKernel saw of them.
struct GuessedOutside {
  int64_t below_counter;  // Negative: none.
  int64_t above_counter;
  uint64_t below = 0;
  uint64_t above = 0;
  bool all_sure = true;  // Whether the others are all in a bin for sure.
};

// Every step-th counter from a guess: kUnsure where it is not sure.
template <class T>
struct GuessKernel {
  static void Run(const std::byte* samples, uint64_t count, uint64_t step,
                  const BinGuesser& guesser, uint64_t first_counter, int64_t* counters,
                  GuessedOutside* outside) {
    const BinGuesser g = guesser;
    const int64_t below_counter = outside->below_counter;
    const int64_t above_counter = outside->above_counter;
    uint64_t below = 0;
    uint64_t above = 0;
    uint64_t unsure = 0;
    const auto guess_all = [&](uint64_t known_step) {
      for (uint64_t i = 0; i < count; i += known_step) {
        const T x = LoadUnaligned<T>(samples, i);
        const BinGuess guess = GuessBinNearest(g, x);
        // As SureBin.
        const double value = NearestDouble(x);
        const uint64_t is_below = value < g.bins.lower ? 1 : 0;
        const uint64_t is_above = value > g.bins.upper ? 1 : 0;
        int64_t counter =
            IsSure(g, guess) ? static_cast<int64_t>(first_counter + guess.bin) : kUnsure;
        counter = is_below != 0 ? below_counter : counter;
        counter = is_above != 0 ? above_counter : counter;
        counters[i] = counter;
        below += is_below;
        above += is_above;
        unsure |= counter == kUnsure ? 1 : 0;
      }
    };
    // A step that the compiler knows makes a loop of vectors.
    step == 1 ? guess_all(1) : guess_all(step);
    outside->below = below;
    outside->above = above;
    outside->all_sure = unsure == 0;
  }
};

}  // namespace sample_placer_internal

// Counters are numbered channel by channel. Immutable, and so thread-safe.
class AnySamplePlacer {
 public:
  virtual ~AnySamplePlacer() = default;

  // Where channel c's counters start.
  virtual uint64_t first_counter(uint64_t c) const = 0;

  // Sets counters[i] to the counter that sample first + i adds to, negative for none, for i in
  // [0, count), and counts the channels' outcomes.
  virtual void Place(uint64_t first, uint64_t count, int64_t* counters,
                     OutcomeCounts* outcomes) const = 0;

  // Counts the samples [first, first + count), at most kPlacerTile, in the table, and the channels'
  // outcomes.
  virtual void Count(uint64_t first, uint64_t count, CountTable& table,
                     OutcomeCounts* outcomes) const = 0;
};

template <class T>
class SamplePlacer final : public AnySamplePlacer {
 public:
  // `bins` have resolved ranges and must outlive the placer.
  SamplePlacer(const HistogramPlan& plan, const std::vector<PlannedBins>& bins,
               const HostHistogramInput& input)
      : x_(input.array.data),
        y_(plan.two_dimensional ? input.y_array.data : nullptr),
        channel_count_(plan.channel_count),
        policy_(plan.out_of_range_policy) {
    uint64_t first_counter = 0;
    for (const PlannedBins& b : bins) {
      layouts_.push_back(LayoutOf(b, b.edges.data()));
      guessers_.push_back(GuesserOf(layouts_.back()));
      first_counters_.push_back(first_counter);
      first_counter += b.bin_count;
    }
  }

  uint64_t first_counter(uint64_t c) const override { return first_counters_[c]; }

  void Place(uint64_t first, uint64_t count, int64_t* counters,
             OutcomeCounts* outcomes) const override {
    if (y_ != nullptr) return PlacePairs(first, count, counters, outcomes[0]);
    const uint64_t first_channel = first % channel_count_;
    for (uint64_t i = 0; i < std::min<uint64_t>(count, channel_count_); ++i) {
      uint64_t channel = first_channel + i;
      if (channel >= channel_count_) channel -= channel_count_;
      PlaceChannel(channel, first + i, count - i, counters + i, outcomes[channel]);
    }
  }

  void Count(uint64_t first, uint64_t count, CountTable& table,
             OutcomeCounts* outcomes) const override {
    table.Expect(count);
    if (y_ == nullptr && channel_count_ == 1 && guessers_[0].has_value()) {
      return CountByGuess(first, count, table, outcomes[0]);
    }
    int64_t counters[kPlacerTile];
    Place(first, count, counters, outcomes);
    for (uint64_t i = 0; i < count; ++i) {
      if (counters[i] >= 0) table.Count(static_cast<uint64_t>(counters[i]));
    }
  }

 private:
  static std::optional<BinGuesser> GuesserOf(const BinLayout& layout) {
    if (layout.kind == BinKind::kTable) return MakeTableGuesser(layout);
    return MakeBinGuesser(layout, kSampleKindOf<T>, GuessRounding::kNearest);
  }

  void CountByGuess(uint64_t first, uint64_t count, CountTable& table,
                    OutcomeCounts& outcomes) const {
    const BinGuesser& guesser = *guessers_[0];
    const CountTable::Counted counted = table.CountSure<T>(x_ + first * sizeof(T), count, guesser);
    CountOutside(kUnderflowBin, counted.below, table, outcomes.underflow);
    CountOutside(kOverflowBin, counted.above, table, outcomes.overflow);
    if (counted.all) return;
    for (uint64_t i = 0; i < count; ++i) {
      if (table.HasCounted(i)) continue;
      const int64_t counter = PlaceSample(layouts_[0], 0, first + i, outcomes);
      if (counter >= 0) table.Count(static_cast<uint64_t>(counter));
    }
  }

  // Counts `times` samples that are below all bins, or above them.
  void CountOutside(int64_t located, uint32_t times, CountTable& table, uint64_t& outcome) const {
    const Placement placement = kernels::Place(located, layouts_[0].bin_count, policy_);
    if (placement.bin >= 0) table.Count(static_cast<uint64_t>(placement.bin), times);
    outcome += times;
  }

  // Every channel_count-th sample from `first` on.
  void PlaceChannel(uint64_t channel, uint64_t first, uint64_t count, int64_t* counters,
                    OutcomeCounts& outcomes) const {
    if (guessers_[channel].has_value()) {
      return PlaceByGuess(channel, first, count, counters, outcomes);
    }
    // A copy whose kind the compiler knows makes a loop of its own for each kind.
    BinLayout layout = layouts_[channel];
    const auto place = [&](BinKind kind) {
      layout.kind = kind;
      OutcomeCounts counted;
      for (uint64_t i = 0; i < count; i += channel_count_) {
        counters[i] = PlaceSample(layout, first_counters_[channel], first + i, counted);
      }
      outcomes.Merge(counted);
    };
    switch (layout.kind) {
      case BinKind::kEven: return place(BinKind::kEven);
      case BinKind::kTable: return PlaceBySearch(channel, first, count, counters, outcomes);
      case BinKind::kInteger: return place(BinKind::kInteger);
    }
  }

  // The counter of a sample, or -1.
  int64_t PlaceSample(const BinLayout& layout, uint64_t first_counter, uint64_t sample,
                      OutcomeCounts& counted) const {
    return CounterOf(layout, first_counter, LocateBin(layout, LoadUnaligned<T>(x_, sample)),
                     counted);
  }
  // The counter of a sample whose bin is known, or -1.
  int64_t CounterOf(const BinLayout& layout, uint64_t first_counter, int64_t located,
                    OutcomeCounts& counted) const {
    const Placement placement = kernels::Place(located, layout.bin_count, policy_);
    if (placement.outcome != 0) counted.Count(placement.outcome);
    return placement.bin < 0 ? -1 : placement.bin + static_cast<int64_t>(first_counter);
  }

  // Searches the table of edges.
  void PlaceBySearch(uint64_t channel, uint64_t first, uint64_t count, int64_t* counters,
                     OutcomeCounts& outcomes) const {
    const BinLayout& layout = layouts_[channel];
    RunForProcessor<SearchKernel<T>>(x_ + first * sizeof(T), count, uint64_t{channel_count_},
                                     layout, counters);
    for (uint64_t i = 0; i < count; i += channel_count_) {
      counters[i] = CounterOf(layout, first_counters_[channel], counters[i], outcomes);
    }
  }

  // Guesses all, and then places the few that a guess is not sure of.
  void PlaceByGuess(uint64_t channel, uint64_t first, uint64_t count, int64_t* counters,
                    OutcomeCounts& outcomes) const {
    using namespace sample_placer_internal;  // NOLINT
    const uint64_t first_counter = first_counters_[channel];
    OutcomeCounts ignored;
    GuessedOutside outside{
        .below_counter = CounterOf(layouts_[channel], first_counter, kUnderflowBin, ignored),
        .above_counter = CounterOf(layouts_[channel], first_counter, kOverflowBin, ignored)};
    RunForProcessor<GuessKernel<T>>(x_ + first * sizeof(T), count, uint64_t{channel_count_},
                                    *guessers_[channel], first_counter, counters, &outside);
    outcomes.underflow += outside.below;
    outcomes.overflow += outside.above;
    if (outside.all_sure) return;
    for (uint64_t i = 0; i < count; i += channel_count_) {
      if (counters[i] != kUnsure) continue;
      counters[i] = PlaceSample(layouts_[channel], first_counter, first + i, outcomes);
    }
  }

  void PlacePairs(uint64_t first, uint64_t count, int64_t* counters,
                  OutcomeCounts& outcomes) const {
    const BinLayout x_bins = layouts_[0];
    const BinLayout y_bins = layouts_[1];
    for (uint64_t i = 0; i < count; ++i) {
      const int64_t x = LocateBin(x_bins, LoadUnaligned<T>(x_, first + i));
      const int64_t y = LocateBin(y_bins, LoadUnaligned<T>(y_, first + i));
      const Placement placement = Place2d(x, y, x_bins.bin_count, y_bins.bin_count, policy_);
      if (placement.outcome != 0) outcomes.Count(placement.outcome);
      counters[i] = placement.bin;
    }
  }

  const std::byte* const x_;
  const std::byte* const y_;  // Null in one dimension.
  const uint32_t channel_count_;
  const OutOfRangePolicy policy_;
  std::vector<BinLayout> layouts_;
  std::vector<std::optional<BinGuesser>> guessers_;  // One for each layout, where there may be one.
  std::vector<uint64_t> first_counters_;
};

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_HISTOGRAM_SAMPLE_PLACER_H_
