// These functions say whether and how the bins of a histogram can be guessed
// (numerics/bins/guess.h). For histogram/ only.
#ifndef GRIDFOLD_KERNELS_CUDA_HISTOGRAM_PLAN_GUESSES_H_
#define GRIDFOLD_KERNELS_CUDA_HISTOGRAM_PLAN_GUESSES_H_

#include <array>

#include "kernels/contract/histogram.h"
#include "kernels/cuda/histogram/plan/arguments.h"
#include "kernels/cuda/histogram/plan/guess_kind.h"
#include "kernels/cuda/histogram/plan/input.h"
#include "kernels/cuda/histogram/plan/tables.h"

namespace gridfold::kernels::cuda {

// Whether the plan's weights can be summed in windows, which do not tell what a state has to say of
// negative zeros.
bool FitsWindows(const HistogramPlan& plan);

struct HistogramGuesses {
  GuessKind kind = GuessKind::kNone;
  std::array<ChannelGuess, kFewChannels> guesses = {};  // As HistogramArguments has them.
};

// Guessers for the bins in `tables`, as far as there are kernels that use them.
HistogramGuesses GuessesOf(const HistogramPlan& plan, const DeviceHistogramInput& input,
                           const HistogramTables& tables);

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_HISTOGRAM_PLAN_GUESSES_H_
