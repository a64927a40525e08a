#include "kernels/cuda/paired/paired.h"

#include <algorithm>

#include "kernels/cuda/device/grid.h"
#include "kernels/cuda/device/launch.h"
#include "kernels/cuda/device/status.h"

namespace gridfold::kernels::cuda {

namespace {

constexpr uint32_t kBlockThreadsMax = 256;
constexpr uint32_t kWarpThreads = 32;
// Observations that are worth a block of their own.
constexpr uint64_t kObservationsPerThread = 16;
// Blocks of all terms together.
constexpr uint64_t kBlocksPerMultiprocessor = 16;

// As many threads as leave room for a second block.
LaunchShape ShapeOf(uint32_t digits, uint64_t term_count, uint64_t observation_count,
                    const DeviceProperties& properties) {
  const auto shared_bytes_max = static_cast<uint32_t>(properties.shared_bytes_per_block_max);
  const uint32_t thread_bytes = digits * static_cast<uint32_t>(sizeof(uint64_t));
  const uint32_t threads = Clamp<uint32_t>(
      RoundDown(shared_bytes_max / 2 / thread_bytes, kWarpThreads), kWarpThreads, kBlockThreadsMax);
  const uint64_t blocks_max = static_cast<uint64_t>(properties.multiprocessor_count) *
                              kBlocksPerMultiprocessor / term_count;
  const uint32_t blocks =
      GridStrideBlocks(observation_count, threads * kObservationsPerThread, blocks_max);
  return {.grid = dim3(blocks, static_cast<uint32_t>(term_count)),
          .block = dim3(threads),
          .shared_bytes = threads * thread_bytes};
}

}  // namespace

uint64_t PairedScratchBytesMax() {
  // Each two columns, each column and the weights; three factors of float64 have the most digits.
  constexpr uint64_t kTerms = kPairedColumnsMax * (kPairedColumnsMax + 3) / 2 + 2;
  constexpr uint64_t kDigits = ProductSumFormatOf<double>(kFactorsMax).digits();
  constexpr uint64_t kWords = 1 + kTerms * (1 + kDigits);
  return ScratchBytes(kTerms * sizeof(PairedTerm)) + ScratchBytes(kWords * sizeof(uint64_t));
}

PairedWords::PairedWords(const PairedPlan& plan)
    : offsets_(LimbOffsets(plan)),
      term_count_(plan.terms.size()),
      layer_count_(std::max<uint64_t>(CeilDivide(plan.observation_count, kProductsPerDigit), 1)) {}

PairedSums PairedWords::ToSums(const PairedPlan& plan, const std::vector<uint64_t>& words) const {
  PairedSums sums = NoSums(plan);
  sums.observation_count = plan.ignores_nan() ? words[0] : plan.observation_count;
  for (size_t t = 0; t < term_count_; ++t) {
    sums.flags[t] = static_cast<uint32_t>(words[flags_at(t)]);
    const auto limb_count = static_cast<int>(offsets_[t + 1] - offsets_[t]);
    for (uint64_t layer = 0; layer < layer_count_; ++layer) {
      const uint64_t* const digits = &words[digits_at(layer, t)];
      CarryDigits([&](int d) { return static_cast<int64_t>(digits[d]); }, &sums.limbs[offsets_[t]],
                  limb_count);
    }
  }
  return sums;
}

absl::StatusOr<uint64_t*> LaunchPaired(const PairedPlan& plan, const PairedPlaces& places,
                                       const PairedTerm* terms, Scratch& scratch,
                                       const DeviceProperties& properties, cudaStream_t stream) {
  const PairedWords layout(plan);
  const absl::StatusOr<uint64_t*> memory = scratch.Allocate<uint64_t>(layout.size());
  if (!memory.ok()) return memory;
  GRIDFOLD_RETURN_IF_CUDA_ERROR(
      cudaMemsetAsync(*memory, 0, layout.size() * sizeof(uint64_t), stream));
  auto* const words = reinterpret_cast<unsigned long long*>(*memory);
  // Terms of as many factors follow one another.
  for (size_t first = 0; first < plan.terms.size();) {
    const PairedTerm& term = plan.terms[first];
    size_t end = first;
    while (end < plan.terms.size() && plan.terms[end].factor_count == term.factor_count) ++end;
    const PairedKernel kernel = FindPairedKernel(plan.x.element_type, term.factor_count);
    const auto digits = static_cast<uint32_t>(FormatOf(plan, term).digits());
    for (uint64_t layer = 0; layer < layout.layer_count(); ++layer) {
      const uint64_t begin = layer * kProductsPerDigit;
      const uint64_t count = std::min(plan.observation_count - begin, kProductsPerDigit);
      const PairedArguments arguments{.places = places,
                                      .begin = begin,
                                      .end = begin + count,
                                      .terms = terms + first,
                                      .digits = digits,
                                      .ignores_nan = plan.ignores_nan(),
                                      .digit_sums = words + layout.digits_at(layer, first),
                                      .flags = words + layout.flags_at(first),
                                      .observation_count = first == 0 ? words : nullptr};
      absl::Status status =
          Launch(kernel, ShapeOf(digits, end - first, count, properties), stream, arguments);
      if (!status.ok()) return status;
    }
    first = end;
  }
  return *memory;
}

}  // namespace gridfold::kernels::cuda
