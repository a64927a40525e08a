// A steady locator takes about as long whatever the samples are. It is for samples of which guesses
// are often in doubt: NaN, samples on the upper bound, and others far outside.
//
// SteadyLocator<T, Locator> is such a locator for a GuessingCounter (guessing.cuh), where
// kHasSteadyLocator<T, Locator>. It has also
//   IsSettled(locator, guess, p)  whether it would be sure of a sample that the locator, whose
//                                 guess this is, is in doubt of
#ifndef GRIDFOLD_KERNELS_CUDA_HISTOGRAM_COUNT_STEADY_CUH_
#define GRIDFOLD_KERNELS_CUDA_HISTOGRAM_COUNT_STEADY_CUH_

#include <cstdint>

#include "kernels/cuda/histogram/place/locators.cuh"
#include "kernels/cuda/histogram/place/turns.cuh"
#include "kernels/numerics/bins/guess.h"

namespace gridfold::kernels::cuda {

template <class T, class Locator>
inline constexpr bool kHasSteadyLocator = false;
template <class T, class Locator>
class SteadyLocator;

// Samples of 8 bits are counted by their values instead.
template <class T>
inline constexpr bool kHasSteadyLocator<T, EvenLocator> = kTellsClosedEdge<T> && sizeof(T) > 1;

// The steady locator of even bins is in doubt only of samples beside an edge. It takes a third more
// instructions.
template <class T>
class SteadyLocator<T, EvenLocator> {
 public:
  static constexpr uint32_t kArrays = EvenLocator::kArrays;
  struct Guessed {
    BinGuess guess;
    int32_t number;
    bool is_sure;
  };

  __device__ explicit SteadyLocator(const EvenLocator& even)
      : even_(even), closed_edge_number_(NumberOfClosedEdge(even)) {}

  __device__ static bool IsSettled(const EvenLocator& even, const BinGuess& guess,
                                   const SamplePoint<T>& point) {
    return !IsBesideClosedEdge(even.guesser(), point.x) || even.IsFar(guess, point);
  }

  __device__ int32_t zero() const { return even_.zero(); }
  __device__ Guessed Guess(const SamplePoint<T>& point) const {
    const BinGuess guess = even_.Guess(point);
    const bool is_beside = IsBesideClosedEdge(even_.guesser(), point.x);
    // All of these at once: branches would take longer.
    const int32_t number = even_.NumberOf(guess);
    const int32_t number_on_edge = IsNan(point.x) ? even_.nan_number() : closed_edge_number_;
    const bool is_in_doubt = (guess.fraction < even_.guesser().guard) & is_beside &
                             (guess.bin <= even_.guesser().bin_count);
    return {guess, is_beside ? number : number_on_edge, !is_in_doubt};
  }
  __device__ static int32_t NumberOf(const Guessed& guess) { return guess.number; }
  __device__ static bool IsSure(const Guessed& guess, const SamplePoint<T>&) {
    return guess.is_sure;
  }
  __device__ static bool IsFar(const Guessed&, const SamplePoint<T>&) { return false; }
  __device__ Corrected Correct(const Guessed& guess, const SamplePoint<T>& point) const {
    return even_.Correct(guess.guess, point);
  }
  __device__ static uint32_t ChannelOf(const SamplePoint<T>&) { return 0; }

 private:
  __device__ static int32_t NumberOfClosedEdge(const EvenLocator& even) {
    const double edge = ClosedEdgeOf<T>(even.guesser());
    const SamplePoint<double> point{edge, edge, 0};
    return even.Correct(even.Guess(point), point).number;
  }

  const EvenLocator even_;
  const int32_t closed_edge_number_;
};

// Samples that a GuessingCounter is in doubt of: a steady locator that would be sure of them is a
// reason to leave the block's turns to it.
template <class T, class Locator>
class SettledDoubts {
 public:
  __device__ explicit SettledDoubts(LeavableTurns& turns) : turns_(turns) {}

  template <class Guessed>
  __device__ void Note(const Locator& locator, const Guessed& guess,
                       const SamplePoint<T>& point) const {
    if (SteadyLocator<T, Locator>::IsSettled(locator, guess, point)) turns_.NoteReason();
  }

 private:
  LeavableTurns& turns_;
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_HISTOGRAM_COUNT_STEADY_CUH_
