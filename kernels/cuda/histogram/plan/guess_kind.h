// A GuessKind says of which samples the bins of a histogram are guessed. Plain C++, for device code
// too.
#ifndef GRIDFOLD_KERNELS_CUDA_HISTOGRAM_PLAN_GUESS_KIND_H_
#define GRIDFOLD_KERNELS_CUDA_HISTOGRAM_PLAN_GUESS_KIND_H_

#include <cstdint>

namespace gridfold::kernels::cuda {

enum class GuessKind : uint8_t {
  kNone,
  kOneChannel,
  kChannels,  // Of which a vector of 16 bytes holds whole rounds.
  kPlane,     // Two dimensions.
  kWeighted,  // One channel, with weights in vectors beside those of the samples.
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_HISTOGRAM_PLAN_GUESS_KIND_H_
