// Exact sums of products of columns on the device. See device/launch.h for the manner of launchers.
#ifndef GRIDFOLD_KERNELS_CUDA_PAIRED_PAIRED_H_
#define GRIDFOLD_KERNELS_CUDA_PAIRED_PAIRED_H_

#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/contract/paired.h"
#include "kernels/cuda/device/properties.h"
#include "kernels/cuda/device/scratch.h"
#include "kernels/cuda/paired/arguments.h"

namespace gridfold::kernels::cuda {

// Scratch that any plan needs whose arrays a device holds.
uint64_t PairedScratchBytesMax();

// What the device writes, in words of 8 bytes: how many observations took part, where the plan
// leaves some out; the flags of each term; and, for each layer, the digits of each term. A layer is
// of kProductsPerDigit observations.
class PairedWords {
 public:
  explicit PairedWords(const PairedPlan& plan);

  uint64_t layer_count() const { return layer_count_; }
  uint64_t size() const { return digits_at(layer_count_, 0); }
  uint64_t flags_at(size_t term) const { return 1 + term; }
  uint64_t digits_at(uint64_t layer, size_t term) const {
    return 1 + term_count_ + layer * 2 * offsets_.back() + 2 * offsets_[term];
  }

  // The sums that the words hold.
  PairedSums ToSums(const PairedPlan& plan, const std::vector<uint64_t>& words) const;

 private:
  const std::vector<size_t> offsets_;  // Of limbs.
  const uint64_t term_count_;
  const uint64_t layer_count_;
};

// Enqueues the computation of all words, in scratch, and returns where they will be. `terms` are
// the plan's, in device memory.
absl::StatusOr<uint64_t*> LaunchPaired(const PairedPlan& plan, const PairedPlaces& places,
                                       const PairedTerm* terms, Scratch& scratch,
                                       const DeviceProperties& properties, cudaStream_t stream);

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_PAIRED_PAIRED_H_
