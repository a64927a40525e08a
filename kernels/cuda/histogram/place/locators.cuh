// A locator guesses the bins of samples: along one axis, of several channels, or of two axes.
//
// A locator has
//   kArrays            arrays that samples are read from
//   Guessed            a guess, with a member `bin`: the sample's counter, of those of all
//                      channels, or any number where it is not sure
//   Guess(point)
//   IsSure(guess)      whether the sample is in that bin
//   Resolve(guess, p)  where the sample counts, sure or not; Placement's `bin` is a counter
//   ChannelOf(point)   whose outcomes are the sample's
//
// One for a GuessingCounter (histogram/count/guessing.cuh) knows the part of the counters that its
// block has. It has instead of IsSure and Resolve
//   kTurnRows          vectors of a lane that are under way (turns.cuh): as many as there
//                      are registers for
//   kCountsOutside     whether the counters before and behind those of the bins are of samples
//                      that are below and above all of the block's bins, and the one after these
//                      of NaN
//   kIsSurveyed        whether the blocks are dealt out to parts by a survey (survey.cuh)
//   zero()             the number of the counter of the block's first bin
//   NumberOf(guess)    of a counter that exists; zero() - 1 is that before the bins
//   IsSure(guess, p)   whether the sample counts there; in doubt false
//   IsFar(guess, p)    whether it does although IsSure may have been in doubt: far outside
//   Correct(guess, p)  where the sample counts
#ifndef GRIDFOLD_KERNELS_CUDA_HISTOGRAM_PLACE_LOCATORS_CUH_
#define GRIDFOLD_KERNELS_CUDA_HISTOGRAM_PLACE_LOCATORS_CUH_

#include <cstdint>
#include <limits>

#include "kernels/cuda/histogram/place/counters.cuh"
#include "kernels/cuda/histogram/place/turns.cuh"
#include "kernels/cuda/histogram/plan/arguments.h"
#include "kernels/numerics/bins/guess.h"
#include "kernels/numerics/bins/layout.h"

namespace gridfold::kernels::cuda {

// A sample, or a pair of them.
template <class T>
struct SamplePoint {
  T x;
  T y;             // In two dimensions only.
  uint32_t place;  // Of a sample of several channels: its number from the first whole vector on,
                   // modulo kFewChannels.
};

// Sample j of a row. Vectors hold whole rounds of the channels.
template <class T, uint32_t kArrays>
__device__ inline SamplePoint<T> PointOf(const VectorRow<kArrays>& row, uint32_t j) {
  return {SampleOf<T>(row.of[0], j), SampleOf<T>(row.of[kArrays - 1], j), j % kFewChannels};
}

// Sample i of the arrays.
template <class T, uint32_t kArrays>
__device__ inline SamplePoint<T> PointAt(const HistogramArguments& arguments, uint64_t i) {
  const void* const second = kArrays == 1 ? arguments.samples : arguments.y_samples;
  const uint32_t head = SamplesBeforeVectors<T>(arguments.samples);
  return {static_cast<const T*>(arguments.samples)[i], static_cast<const T*>(second)[i],
          (static_cast<uint32_t>(i) - head) % kFewChannels};
}

// The place where a sample counts: the number of its counter, or kNoCounter; and its outcome, where
// it is one that its counter does not tell and that this block counts; else 0.
struct Corrected {
  int32_t number;
  int64_t outcome;
};
inline constexpr int32_t kNoCounter = std::numeric_limits<int32_t>::min();

// Even and integer bins of one channel; with a guesser that has a shift or with none.
template <bool kShifted>
class AxisLocator {
 public:
  static constexpr uint32_t kArrays = 1;
  using Guessed = BinGuess;

  __device__ explicit AxisLocator(const HistogramArguments& arguments)
      : guesser_(arguments.guesses[0].guesser), policy_(arguments.out_of_range_policy) {}

  template <class T>
  __device__ Guessed Guess(const SamplePoint<T>& point) const {
    return kShifted ? GuessCellBin(guesser_, point.x) : GuessBin(guesser_, point.x);
  }
  __device__ bool IsSure(const Guessed& guess) const { return kernels::IsSure(guesser_, guess); }
  template <class T>
  __device__ Placement Resolve(const Guessed& guess, const SamplePoint<T>& point) const {
    return Place(ResolveGuess(guesser_, guess, point.x), guesser_.bin_count, policy_);
  }
  template <class T>
  __device__ uint32_t ChannelOf(const SamplePoint<T>&) const {
    return 0;
  }

 private:
  const BinGuesser guesser_;
  const OutOfRangePolicy policy_;
};

using ManyBinsLocator = AxisLocator<true>;

// Even and integer bins of one channel, of which the block has a part.
class EvenLocator {
 public:
  static constexpr uint32_t kArrays = 1;
  static constexpr uint32_t kTurnRows = 6;
  static constexpr bool kCountsOutside = true;
  static constexpr bool kIsSurveyed = true;
  using Guessed = BinGuess;

  __device__ EvenLocator(const HistogramArguments& arguments, const BinRange& range)
      : guesser_(arguments.guesses[0].guesser),
        zero_(kBinNumber0 + static_cast<int32_t>(range.first)),
        behind_(zero_ + static_cast<int32_t>(range.count)) {}

  __device__ int32_t zero() const { return zero_; }
  __device__ int32_t nan_number() const { return behind_ + 1; }
  __device__ const BinGuesser& guesser() const { return guesser_; }
  template <class T>
  __device__ Guessed Guess(const SamplePoint<T>& point) const {
    return GuessBin(guesser_, point.x);
  }
  __device__ int32_t NumberOf(const Guessed& guess) const { return Clamped(BinNumber(guess)); }
  template <class T>
  __device__ bool IsSure(const Guessed& guess, const SamplePoint<T>& point) const {
    return IsSureOrOutside(guesser_, guess, point.x);
  }
  template <class T>
  __device__ bool IsFar(const Guessed& guess, const SamplePoint<T>& point) const {
    // Whether a sample is far outside of all bins, whose number the kernel's arguments hold: the
    // block's own number takes registers.
    return IsFarOutside(guesser_, guess, point.x);
  }
  template <class T>
  __device__ Corrected Correct(const Guessed& guess, const SamplePoint<T>& point) const {
    const int64_t located = ResolveGuess(guesser_, guess, point.x);
    if (located == kNanBin) return {nan_number(), 0};
    if (located == kUnderflowBin) return {zero_ - 1, 0};
    if (located == kOverflowBin) return {behind_, 0};
    return {Clamped(kBinNumber0 + static_cast<int32_t>(located)), 0};
  }
  template <class T>
  __device__ uint32_t ChannelOf(const SamplePoint<T>&) const {
    return 0;
  }

 private:
  __device__ int32_t Clamped(int32_t number) const { return max(min(number, behind_), zero_ - 1); }

  const BinGuesser guesser_;
  const int32_t zero_;
  const int32_t behind_;
};

// A guess of which no more is needed than whether it is sure.
struct GuessedCounter {
  uint32_t bin;
  bool is_sure;
};

// Even and integer bins of interleaved channels, of which a vector holds whole rounds.
class ChannelLocator {
 public:
  static constexpr uint32_t kArrays = 1;
  using Guessed = GuessedCounter;

  __device__ explicit ChannelLocator(const HistogramArguments& arguments) : arguments_(arguments) {}

  template <class T>
  __device__ Guessed Guess(const SamplePoint<T>& point) const {
    const ChannelGuess& channel = arguments_.guesses[point.place];
    const BinGuess guess = GuessBin(channel.guesser, point.x);
    return {channel.first_bin + guess.bin, kernels::IsSure(channel.guesser, guess)};
  }
  __device__ bool IsSure(const Guessed& guess) const { return guess.is_sure; }
  template <class T>
  __device__ Placement Resolve(const Guessed&, const SamplePoint<T>& point) const {
    const ChannelGuess& channel = arguments_.guesses[point.place];
    const BinGuess guess = GuessBin(channel.guesser, point.x);
    Placement placement = Place(ResolveGuess(channel.guesser, guess, point.x),
                                channel.guesser.bin_count, arguments_.out_of_range_policy);
    if (placement.bin >= 0) placement.bin += channel.first_bin;
    return placement;
  }
  template <class T>
  __device__ uint32_t ChannelOf(const SamplePoint<T>& point) const {
    return arguments_.guesses[point.place].channel;
  }

 private:
  const HistogramArguments& arguments_;
};

// Even and integer bins of two axes.
class PlaneLocator {
 public:
  static constexpr uint32_t kArrays = 2;
  using Guessed = GuessedCounter;

  __device__ explicit PlaneLocator(const HistogramArguments& arguments) : arguments_(arguments) {}

  template <class T>
  __device__ Guessed Guess(const SamplePoint<T>& point) const {
    const BinGuess x = GuessBin(XGuesser(), point.x);
    const BinGuess y = GuessBin(YGuesser(), point.y);
    return {x.bin * YGuesser().bin_count + y.bin,
            kernels::IsSure(XGuesser(), x) && kernels::IsSure(YGuesser(), y)};
  }
  __device__ bool IsSure(const Guessed& guess) const { return guess.is_sure; }
  template <class T>
  __device__ Placement Resolve(const Guessed&, const SamplePoint<T>& point) const {
    return Place2d(Located(XGuesser(), point.x), Located(YGuesser(), point.y), XGuesser().bin_count,
                   YGuesser().bin_count, arguments_.out_of_range_policy);
  }
  template <class T>
  __device__ uint32_t ChannelOf(const SamplePoint<T>&) const {
    return 0;
  }

 private:
  __device__ const BinGuesser& XGuesser() const { return arguments_.guesses[0].guesser; }
  __device__ const BinGuesser& YGuesser() const { return arguments_.guesses[1].guesser; }

  template <class T>
  __device__ static int64_t Located(const BinGuesser& guesser, T x) {
    const BinGuess guess = GuessBin(guesser, x);
    return kernels::IsSure(guesser, guess) ? guess.bin : ResolveGuess(guesser, guess, x);
  }

  const HistogramArguments& arguments_;
};

// The counters that a block has of those of Bins, one of the two above, whose guesses are never
// sure of a sample that is outside.
template <class Bins>
class InsideLocator {
 public:
  static constexpr uint32_t kArrays = Bins::kArrays;
  static constexpr uint32_t kTurnRows = kTurnVectors / kArrays;
  static constexpr bool kCountsOutside = false;
  static constexpr bool kIsSurveyed = false;
  using Guessed = typename Bins::Guessed;

  __device__ InsideLocator(const HistogramArguments& arguments, const BinRange& range)
      : bins_(arguments), range_(range) {}

  __device__ static int32_t zero() { return 0; }
  template <class T>
  __device__ Guessed Guess(const SamplePoint<T>& point) const {
    return bins_.Guess(point);
  }
  __device__ int32_t NumberOf(const Guessed& guess) const { return NumberOfBin(guess.bin); }
  template <class T>
  __device__ bool IsSure(const Guessed& guess, const SamplePoint<T>&) const {
    return bins_.IsSure(guess);
  }
  template <class T>
  __device__ static bool IsFar(const Guessed&, const SamplePoint<T>&) {
    return false;
  }
  template <class T>
  __device__ Corrected Correct(const Guessed& guess, const SamplePoint<T>& point) const {
    const Placement placement = bins_.Resolve(guess, point);
    return {placement.bin < 0 ? kNoCounter : NumberOfBin(static_cast<uint32_t>(placement.bin)),
            range_.is_first() ? placement.outcome : 0};
  }
  template <class T>
  __device__ uint32_t ChannelOf(const SamplePoint<T>& point) const {
    return bins_.ChannelOf(point);
  }

 private:
  // The counter behind the block's bins is that of all others.
  __device__ int32_t NumberOfBin(uint32_t bin) const {
    return static_cast<int32_t>(min(bin - range_.first, range_.count));
  }

  const Bins bins_;
  const BinRange range_;
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_HISTOGRAM_PLACE_LOCATORS_CUH_
