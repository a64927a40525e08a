// Counting in the shared memory of one block, or of several together, by bins that are guessed.
#ifndef GRIDFOLD_KERNELS_CUDA_HISTOGRAM_GUESSING_CUH_
#define GRIDFOLD_KERNELS_CUDA_HISTOGRAM_GUESSING_CUH_

#include <cstdint>

#include "kernels/cuda/histogram_counters.cuh"
#include "kernels/cuda/histogram_locators.cuh"
#include "kernels/cuda/histogram_outcomes.cuh"
#include "kernels/cuda/histogram_turns.cuh"

namespace gridfold::kernels::cuda {

// Counts samples where a locator (histogram_locators.cuh) guesses them to be, and then corrects
// those few it was not sure of.
template <class T, class Locator, bool kInParts>
class GuessingCounter {
 public:
  __device__ GuessingCounter(const HistogramArguments& arguments, const Locator& locator,
                             const SharedCounters& counters, SharedOutcomes& outcomes)
      : locator_(locator),
        counters_(counters),
        range_(BinRange::Of(arguments)),
        outcomes_(outcomes) {}

  __device__ void Count(const VectorRow<Locator::kArrays>& row) {
#pragma unroll
    for (uint32_t first = 0; first < kVectorSamples<T>; first += kAtOnce) CountSome(row, first);
  }

  __device__ void Count(const SamplePoint<T>& point) {
    Add(locator_.Guess(point).bin);
    Correct(point);
  }

 private:
  // Samples of a vector that are guessed before any is counted.
  static constexpr uint32_t kAtOnce = kVectorSamples<T> < 4 ? kVectorSamples<T> : 4;

  __device__ void CountSome(const VectorRow<Locator::kArrays>& row, uint32_t first) {
    // All guesses first: additions to shared memory are not reordered with what is read from it.
    uint32_t bins[kAtOnce];
    bool all_sure = true;
#pragma unroll
    for (uint32_t j = 0; j < kAtOnce; ++j) {
      const auto guess = locator_.Guess(PointOf<T>(row, first + j));
      bins[j] = guess.bin;
      all_sure &= locator_.IsSure(guess);
    }
#pragma unroll
    for (uint32_t j = 0; j < kAtOnce; ++j) Add(bins[j]);
    // Seldom, and guessed again: what is kept until here takes registers, and time, of all.
    if (__builtin_expect(!all_sure, 0)) {
#pragma unroll 1
      for (uint32_t j = 0; j < kAtOnce; ++j) Correct(PointOf<T>(row, first + j));
    }
  }

  // Counts in a bin, which may be another block's, or none where a guess was not sure.
  __device__ void Add(uint32_t bin) const { counters_.Add(kInParts ? bin - range_.first : bin); }
  __device__ void TakeBack(uint32_t bin) const {
    counters_.TakeBack(kInParts ? bin - range_.first : bin);
  }

  // Of a sample that was counted where it was guessed to be.
  __device__ void Correct(const SamplePoint<T>& point) {
    const auto guess = locator_.Guess(point);
    if (locator_.IsSure(guess)) return;
    const Placement placement = locator_.Resolve(guess, point);
    if (placement.outcome != 0 && locator_.Reports(placement.outcome, range_)) {
      outcomes_.Count(locator_.ChannelOf(point), placement.outcome);
    }
    if (placement.bin == guess.bin) return;
    TakeBack(guess.bin);
    if (placement.bin >= 0) Add(static_cast<uint32_t>(placement.bin));
  }

  const Locator locator_;
  const SharedCounters& counters_;
  const BinRange range_;
  SharedOutcomes& outcomes_;
};

// Counts all samples of the block. All its threads; `drawn` is a word of its shared memory, and
// `outcomes` are clear.
template <class T, bool kInParts, class Locator>
__device__ inline void CountGuessed(const HistogramArguments& arguments, const Locator& locator,
                                    SharedCounters& counters, SharedOutcomes& outcomes,
                                    uint32_t* drawn) {
  const BlockShare block = BlockShare::Of(arguments.part_count);
  const TurnRange<T, Locator::kArrays> range(arguments.samples, arguments.y_samples,
                                             arguments.sample_count, block);
  GuessingCounter<T, Locator, kInParts> counter(arguments, locator, counters, outcomes);
  if (block.rank == 0) {
    range.VisitRest([&](uint64_t i) { counter.Count(PointAt<T, Locator::kArrays>(arguments, i)); });
  }
  VisitTurnsAndFlush(
      range, arguments.TurnsPerFlush(range.kTurnSamples), drawn,
      [&](const VectorRow<Locator::kArrays>& row) { counter.Count(row); },
      [&] {
        FlushCounters(arguments, BinRange::Of(arguments), counters);
        outcomes.Flush(arguments);
      });
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_HISTOGRAM_GUESSING_CUH_
