// Counts of samples that one thread adds up.
#ifndef GRIDFOLD_KERNELS_CPU_HISTOGRAM_COUNT_TABLE_H_
#define GRIDFOLD_KERNELS_CPU_HISTOGRAM_COUNT_TABLE_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "kernels/cpu/base/instruction_set.h"
#include "kernels/cpu/histogram/nearest_guess.h"
#include "kernels/numerics/arithmetic/element.h"

namespace gridfold::kernels::cpu {

namespace count_table_internal {

// Notes what SureBin says of each sample, and counts it.
//
// Bins are guessed in vectors, block by block, and counted some blocks later: counting is bound by
// stores, which leave time for the guesses, and what was stored a moment ago is slow to load.
// Samples of 8 bytes are bound by memory, which is the faster the more is loaded in one go.
template <class T>
struct CountKernel {
  static constexpr uint64_t kBlock = sizeof(T) < 8 ? 32 : 256;
  static constexpr uint64_t kAhead = sizeof(T) < 8 ? 128 : 0;

  static void Run(const std::byte* samples, uint64_t count, const BinGuesser& guesser,
                  uint32_t unsure, uint32_t* bins, uint32_t* counters) {
    const BinGuesser g = guesser;
    const auto guess = [&](uint64_t i) {
      bins[i] = SureBin(g, LoadUnaligned<T>(samples, i), unsure);
    };
    // One load takes two bins.
    const auto count_two = [&](uint64_t i) {
      uint64_t both;
      std::memcpy(&both, bins + i, sizeof(both));
      ++counters[static_cast<uint32_t>(both)];
      ++counters[both >> 32];
    };
    uint64_t guessed = 0;
    uint64_t counted = 0;
    for (; guessed + kBlock <= count; guessed += kBlock) {
      // What is unrolled is not made vectors of.
#pragma GCC unroll 1
      for (uint64_t i = 0; i < kBlock; ++i) guess(guessed + i);
      if (guessed < kAhead) continue;
#pragma GCC unroll 16
      for (uint64_t i = 0; i < kBlock; i += 2) count_two(counted + i);
      counted += kBlock;
    }
    for (uint64_t i = 0; i < count % kBlock; ++i) guess(guessed + i);
    for (; counted + 1 < count; counted += 2) count_two(counted);
    if (counted < count) ++counters[bins[counted]];
  }
};

}  // namespace count_table_internal

class CountTable {
 public:
  // Samples that CountSure takes at most; their bins stay in the first-level cache.
  static constexpr uint64_t kCountedAtOnce = 1024;

  // All counts are 0. There are fewer than 2^32 - 3 counters.
  explicit CountTable(uint64_t counter_count) : counters_(counter_count + kNotInBins) {}

  // Says that up to `count` samples, fewer than 2^32, will be counted next.
  void Expect(uint64_t count) {
    if (room_ < count) Empty();
    room_ -= count;
  }

  void Count(uint64_t counter) { ++counters_[counter]; }
  void Count(uint64_t counter, uint32_t times) { counters_[counter] += times; }

  // What CountSure did.
  struct Counted {
    bool all;        // Whether it was sure of all samples.
    uint32_t below;  // Of them, those below all bins, and above: in no counter.
    uint32_t above;
  };

  // Counts those of `count` consecutive samples at any byte address of whose bin the guess is sure;
  // bin b's counter is b. Requires Expect, and count <= kCountedAtOnce.
  template <class T>
  Counted CountSure(const std::byte* samples, uint64_t count, const BinGuesser& guesser) {
    RunForProcessor<count_table_internal::CountKernel<T>>(samples, count, guesser, unsure(),
                                                          bins_.data(), counters_.data());
    uint32_t* const not_in_bins = &counters_[unsure()];
    return {.all = std::exchange(not_in_bins[0], 0) == 0,
            .below = std::exchange(not_in_bins[1], 0),
            .above = std::exchange(not_in_bins[2], 0)};
  }
  // Whether the last CountSure was sure of its sample i.
  bool HasCounted(uint64_t i) const { return bins_[i] != unsure(); }

  // Adds the counts of the counters [begin, end) to totals[begin ... end - 1].
  void AddTo(uint64_t begin, uint64_t end, uint64_t* totals) const {
    for (uint64_t i = begin; i < end; ++i) totals[i] += counters_[i];
    if (emptied_.empty()) return;
    for (uint64_t i = begin; i < end; ++i) totals[i] += emptied_[i];
  }

 private:
  static constexpr uint64_t kRoom = 0xFFFF'FFFF;  // What a counter can count.

  // Counters behind those of the bins: of samples that nobody is sure of, below and above all bins.
  static constexpr uint64_t kNotInBins = 3;
  uint32_t unsure() const { return static_cast<uint32_t>(counters_.size() - kNotInBins); }

  // Adds all counts to those of 64 bits.
  void Empty() {
    emptied_.resize(counters_.size());
    for (size_t i = 0; i < counters_.size(); ++i) emptied_[i] += counters_[i];
    std::fill(counters_.begin(), counters_.end(), 0);
    room_ = kRoom;
  }

  std::vector<uint32_t> counters_;  // And kNotInBins more.
  std::vector<uint64_t> emptied_;
  std::array<uint32_t, kCountedAtOnce> bins_;  // Of the last CountSure.
  uint64_t room_ = kRoom;
};

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_HISTOGRAM_COUNT_TABLE_H_
