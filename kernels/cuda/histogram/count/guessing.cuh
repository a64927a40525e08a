// A block, or several together, count in shared memory by bins that are guessed.
#ifndef GRIDFOLD_KERNELS_CUDA_HISTOGRAM_COUNT_GUESSING_CUH_
#define GRIDFOLD_KERNELS_CUDA_HISTOGRAM_COUNT_GUESSING_CUH_

#include <cstdint>
#include <type_traits>

#include "kernels/cuda/histogram/count/steady.cuh"
#include "kernels/cuda/histogram/count/survey.cuh"
#include "kernels/cuda/histogram/place/counters.cuh"
#include "kernels/cuda/histogram/place/locators.cuh"
#include "kernels/cuda/histogram/place/outcomes.cuh"
#include "kernels/cuda/histogram/place/turns.cuh"
#include "kernels/cuda/histogram/plan/block.h"

namespace gridfold::kernels::cuda {

struct NoDoubts {
  template <class Locator, class Guessed, class Point>
  __device__ void Note(const Locator&, const Guessed&, const Point&) const {}
};

// Counts samples where a locator (histogram/place/locators.cuh) guesses them to be, and then
// corrects those few it was not sure of, which Doubts are told of.
template <class T, class Locator, class Doubts = NoDoubts>
class GuessingCounter {
 public:
  __device__ GuessingCounter(const Locator& locator, const SharedCounters& counters,
                             SharedOutcomes& outcomes, const Doubts& doubts = {})
      : locator_(locator),
        counters_(counters),
        origin_(counters.AddressOf(-locator.zero())),
        outcomes_(outcomes),
        doubts_(doubts) {}

  __device__ void Count(const VectorRow<Locator::kArrays>& row) {
#pragma unroll
    for (uint32_t first = 0; first < kVectorSamples<T>; first += kAtOnce) CountSome(row, first);
  }

  __device__ void Count(const SamplePoint<T>& point) {
    Add(locator_.NumberOf(locator_.Guess(point)));
    Correct(point);
  }

 private:
  // Samples of a vector that are guessed before any is counted.
  static constexpr uint32_t kAtOnce = kVectorSamples<T> < 4 ? kVectorSamples<T> : 4;

  __device__ void CountSome(const VectorRow<Locator::kArrays>& row, uint32_t first) {
    // All guesses first: additions to shared memory are not reordered with what is read from it.
    int32_t numbers[kAtOnce];
    bool all_sure = true;
#pragma unroll
    for (uint32_t j = 0; j < kAtOnce; ++j) {
      const SamplePoint<T> point = PointOf<T>(row, first + j);
      const auto guess = locator_.Guess(point);
      numbers[j] = locator_.NumberOf(guess);
      all_sure &= locator_.IsSure(guess, point);
    }
#pragma unroll
    for (uint32_t j = 0; j < kAtOnce; ++j) Add(numbers[j]);
    // Seldom, and guessed again: what is kept until here takes registers, and time, of all.
    if (__builtin_expect(!all_sure, 0)) {
#pragma unroll 1
      for (uint32_t j = 0; j < kAtOnce; ++j) Correct(PointOf<T>(row, first + j));
    }
  }

  __device__ uint32_t AddressOf(int32_t number) const {
    return counters_.AddressOf(number, origin_);
  }
  __device__ void Add(int32_t number) const { SharedCounters::AddAt(AddressOf(number)); }

  // Corrects the count of a sample that was counted where it was guessed to be.
  __device__ void Correct(const SamplePoint<T>& point) {
    const auto guess = locator_.Guess(point);
    if (locator_.IsSure(guess, point)) return;
    doubts_.Note(locator_, guess, point);
    if (locator_.IsFar(guess, point)) return;
    const int32_t guessed = locator_.NumberOf(guess);
    const Corrected corrected = locator_.Correct(guess, point);
    if (corrected.outcome != 0) outcomes_.Count(locator_.ChannelOf(point), corrected.outcome);
    if (corrected.number == guessed) return;
    SharedCounters::TakeBackAt(AddressOf(guessed));
    if (corrected.number != kNoCounter) Add(corrected.number);
  }

  const Locator locator_;
  const SharedCounters& counters_;
  const uint32_t origin_;  // Where a counter of the number 0 would be.
  SharedOutcomes& outcomes_;
  const Doubts doubts_;
};

// Adds all that a block has counted to what is in device memory. All its threads, which meet before
// and after.
template <class Locator>
__device__ inline void FlushGuessed(const HistogramArguments& arguments, const BinRange& range,
                                    SharedCounters& counters, SharedOutcomes& outcomes) {
  FlushCounters(arguments, range, counters);
  if constexpr (Locator::kCountsOutside) FlushOutside(arguments, range, counters);
  outcomes.Flush(arguments);
}

// What a GuessingCounter is to do about doubts in a block with these turns.
template <class T, class Locator>
__device__ inline auto DoubtsOf(LeavableTurns& turns) {
  if constexpr (kHasSteadyLocator<T, Locator>) {
    return SettledDoubts<T, Locator>(turns);
  } else {
    return NoDoubts();
  }
}

// Counts all samples of the block. All its threads; `turns` are in its shared memory, and
// `outcomes` are clear.
//
// Where it is in doubt of many samples that a steady locator would be sure of, it leaves the others
// to that. To be sure of them at once would take registers, and time, of all samples; and a warp
// that counts in another way than its block's others takes room for instructions of theirs.
template <class T, class Locator>
__device__ inline void CountGuessed(const HistogramArguments& arguments, const BlockShare& block,
                                    const BinRange& bins, const Locator& locator,
                                    SharedCounters& counters, SharedOutcomes& outcomes,
                                    LeavableTurns& turns) {
  using Row = VectorRow<Locator::kArrays>;
  const TurnRange<T, Locator::kArrays, Locator::kTurnRows> range(
      arguments.samples, arguments.y_samples, arguments.sample_count, block);
  const auto doubts = DoubtsOf<T, Locator>(turns);
  GuessingCounter<T, Locator, std::remove_const_t<decltype(doubts)>> counter(locator, counters,
                                                                             outcomes, doubts);
  if (block.rank == 0) {
    range.VisitRest([&](uint64_t i) { counter.Count(PointAt<T, Locator::kArrays>(arguments, i)); });
    __syncthreads();
  }
  const auto count_turns = [&](uint32_t begin, uint32_t end) {
    [[maybe_unused]] const uint32_t left =
        VisitTurns(range, turns.First(begin, end), end, turns.drawn(),
                   [&](const Row& row) { counter.Count(row); });
    if constexpr (kHasSteadyLocator<T, Locator>) {
      __syncthreads();
      if (left >= end && left < kNoTurn) return;
      using Steady = SteadyLocator<T, Locator>;
      GuessingCounter<T, Steady> steady(Steady(locator), counters, outcomes);
      VisitTurns(range, turns.FirstLeft(left), end, turns.left(),
                 [&](const Row& row) { steady.Count(row); });
    }
  };
  FlushBetweenTurns(range.count, arguments.TurnsPerFlush(range.kTurnSamples), count_turns,
                    [&] { FlushGuessed<Locator>(arguments, bins, counters, outcomes); });
}

// The kernel of a block's part of the counters that a Locator guesses.
template <class T, class Locator>
__global__ void __launch_bounds__(kHistogramThreads)
    CountByGuesses(const __grid_constant__ HistogramArguments arguments) {
  alignas(kHistogramPartAlignment) extern __shared__ unsigned char shared[];
  __shared__ LeavableTurns turns;
  __shared__ uint32_t outcome_counts[SharedOutcomes::kWords];
  __shared__ uint32_t part_weights[kHistogramPartsMax];
  __shared__ DealtBlock block;
  static_assert(sizeof(turns) + sizeof(outcome_counts) + sizeof(part_weights) + sizeof(block) <=
                kHistogramOwnBytes);
  const bool is_surveyed = Locator::kIsSurveyed && arguments.part_count > 1;
  PartSurvey<T, Locator> survey(arguments);
  if (is_surveyed) survey.Load();
  SharedOutcomes outcomes(outcome_counts);
  outcomes.Clear();
  turns.Clear();
  if (threadIdx.x < kHistogramPartsMax) part_weights[threadIdx.x] = 0;
  BinRange::OfMost(arguments).CountersIn(arguments, shared).Clear();
  __syncthreads();
  if (is_surveyed) survey.Weigh(part_weights);
  __syncthreads();
  // One thread does so: what all threads know of their block takes registers, and time, of the
  // loop.
  if (threadIdx.x == 0) {
    block = DealBlock(blockIdx.x, gridDim.x, arguments.part_count,
                      BusyPartOf(part_weights, arguments.part_count, kHistogramThreads));
  }
  __syncthreads();
  if (block.part == arguments.part_count) return;
  const BinRange bins = BinRange::Of(arguments, block.part);
  SharedCounters counters = bins.CountersIn(arguments, shared);
  CountGuessed<T>(arguments, BlockShare{block.rank, block.block_count}, bins,
                  Locator(arguments, bins), counters, outcomes, turns);
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_HISTOGRAM_COUNT_GUESSING_CUH_
