// Counting one channel in the shared memory of one block, or of several together, by bins that are
// guessed.
#ifndef GRIDFOLD_KERNELS_CUDA_HISTOGRAM_GUESSING_CUH_
#define GRIDFOLD_KERNELS_CUDA_HISTOGRAM_GUESSING_CUH_

#include <cstdint>

#include "kernels/cuda/histogram_counters.cuh"
#include "kernels/cuda/histogram_outcomes.cuh"
#include "kernels/cuda/histogram_turns.cuh"
#include "kernels/numerics/bin_layout.h"

namespace gridfold::kernels::cuda {

// Counts samples where a locator guesses them to be, and then corrects those few it was not sure
// of. A Locator has, for a sample x:
//   Guess(x)           with a member `bin`, past all bins where there is none
//   IsSure(guess)      whether x is in it
//   Resolve(guess, x)  what LocateBin gives
template <class T, class Locator, bool kInParts>
class GuessingCounter {
 public:
  __device__ GuessingCounter(const HistogramArguments& arguments, const Locator& locator,
                             const SharedCounters& counters)
      : arguments_(arguments),
        locator_(locator),
        counters_(counters),
        range_(BinRange::Of(arguments)) {}

  __device__ void Count(const uint4& vector) {
    // All guesses first: additions to shared memory are not reordered with what is read from it.
    uint32_t bins[kVectorSamples<T>];
    bool all_sure = true;
#pragma unroll
    for (uint32_t j = 0; j < kVectorSamples<T>; ++j) {
      const auto guess = locator_.Guess(SampleOf<T>(vector, j));
      bins[j] = guess.bin;
      all_sure &= locator_.IsSure(guess);
    }
#pragma unroll
    for (uint32_t j = 0; j < kVectorSamples<T>; ++j) Add(bins[j]);
    if (__builtin_expect(!all_sure, 0)) {
#pragma unroll 1
      for (uint32_t j = 0; j < kVectorSamples<T>; ++j) Correct(SampleOf<T>(vector, j));
    }
  }

  __device__ void Count(T x) {
    Add(locator_.Guess(x).bin);
    Correct(x);
  }

  __device__ void ReportOutcomes() const {
    if (range_.is_first()) outcomes_.Report(arguments_, 0);
  }

 private:
  // Counts in a bin, which may be another block's, or none where a guess was not sure.
  __device__ void Add(uint32_t bin) const { counters_.Add(kInParts ? bin - range_.first : bin); }

  // Of a sample that was counted where it was guessed to be.
  __device__ void Correct(T x) {
    const auto guess = locator_.Guess(x);
    if (locator_.IsSure(guess)) return;
    const Placement placement =
        Place(locator_.Resolve(guess, x), arguments_.bin_count, arguments_.out_of_range_policy);
    outcomes_.Count(placement.outcome);
    if (placement.bin == guess.bin) return;
    counters_.TakeBack(kInParts ? guess.bin - range_.first : guess.bin);
    if (placement.bin >= 0) Add(static_cast<uint32_t>(placement.bin));
  }

  const HistogramArguments& arguments_;
  const Locator locator_;
  const SharedCounters& counters_;
  const BinRange range_;
  Outcomes outcomes_;
};

// Counts all samples of the block. All its threads; `drawn` is a word of its shared memory.
template <class T, bool kInParts, class Locator>
__device__ inline void CountGuessed(const HistogramArguments& arguments, const Locator& locator,
                                    SharedCounters& counters, uint32_t* drawn) {
  const BlockShare block = BlockShare::Of(arguments.part_count);
  const TurnRange<T> range(arguments.samples, arguments.sample_count, block);
  GuessingCounter<T, Locator, kInParts> counter(arguments, locator, counters);
  if (block.rank == 0) range.VisitRest([&](T x, uint64_t) { counter.Count(x); });
  VisitTurnsAndFlush(
      range, arguments.TurnsPerFlush(kTurnSamples<T>), drawn,
      [&](const uint4& vector) { counter.Count(vector); },
      [&] { FlushCounters(arguments, BinRange::Of(arguments), counters); });
  counter.ReportOutcomes();
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_HISTOGRAM_GUESSING_CUH_
