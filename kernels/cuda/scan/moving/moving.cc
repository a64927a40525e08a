#include "kernels/cuda/scan/moving/moving.h"

#include <algorithm>

#include "kernels/contract/moving_scan.h"
#include "kernels/cuda/device/grid.h"
#include "kernels/cuda/device/status.h"
#include "kernels/cuda/scan/base/launching.h"
#include "kernels/cuda/scan/moving/kernels.h"

namespace gridfold::kernels::cuda {

namespace {

// Rows of words that a thread adds up one after the other.
constexpr uint64_t kLinkRows = 256;

uint64_t WordsOf(ElementType type) {
  return VisitElementType(
      type, [](auto tag) { return uint64_t{MovingSum<typename decltype(tag)::type>::kWords}; });
}

// The words of chunks and, where there are several, of links.
struct MovingSizes {
  uint64_t words = 0;
  uint64_t link_words = 0;

  static MovingSizes Of(const ScanPlan& plan) {
    const MovingShape shape = MovingShapeOf(plan, nullptr);
    if (!shape.NeedsTotals(plan.window)) return {};
    const uint64_t width = shape.line_count * WordsOf(plan.array.element_type);
    const uint64_t links = CeilDivide(shape.chunk_count(), kLinkRows);
    return {shape.chunk_count() * width, links > 1 ? links * width : 0};
  }

  uint64_t scratch_bytes() const {
    return ScratchBytes(words * sizeof(int64_t)) + ScratchBytes(link_words * sizeof(int64_t));
  }
};

// From the words of chunks to those of what precedes each.
absl::Status FindPrefixes(MovingWords words, const DeviceProperties& properties,
                          cudaStream_t stream) {
  const auto launch = [&](MovingWordsKernel kernel, const MovingWords& rows) {
    return Launch(kernel,
                  GridStrideShape(rows.link_count() * rows.width, kMovingThreads, properties),
                  stream, rows);
  };
  if (words.links != nullptr) {
    const MovingWords links{.words = words.links,
                            .width = words.width,
                            .rows = words.link_count(),
                            .link_rows = words.link_count()};
    absl::Status status = launch(MovingLinksKernel(), words);
    if (status.ok()) status = launch(MovingPrefixesKernel(), links);
    if (!status.ok()) return status;
  }
  return launch(MovingPrefixesKernel(), words);
}

}  // namespace

absl::Status LaunchMovingScan(const ScanPlan& plan, const ScanArguments& arguments,
                              const uint64_t* offsets, Scratch& scratch,
                              const DeviceProperties& properties, cudaStream_t stream) {
  MovingArguments moving{.input = arguments.input,
                         .output = arguments.output,
                         .overflow_flag = arguments.overflow_flag,
                         .shape = MovingShapeOf(plan, offsets),
                         .rules = MovingRulesOf(plan)};
  const MovingKernels kernels = VisitElementType(plan.array.element_type, [&](auto tag) {
    return FindMovingKernels<typename decltype(tag)::type>(plan.output_type);
  });
  const auto launch = [&](MovingKernel kernel) {
    const uint64_t threads = moving.shape.chunk_count() * moving.shape.line_count;
    return Launch(kernel, GridStrideShape(threads, kMovingThreads, properties), stream, moving);
  };
  const MovingSizes sizes = MovingSizes::Of(plan);
  if (sizes.words > 0) {
    const absl::StatusOr<int64_t*> words = scratch.Allocate<int64_t>(sizes.words);
    if (!words.ok()) return words.status();
    const absl::StatusOr<int64_t*> links = scratch.Allocate<int64_t>(sizes.link_words);
    if (!links.ok()) return links.status();
    moving.words = *words;
    absl::Status status = launch(kernels.totals);
    if (status.ok()) {
      const uint64_t rows = moving.shape.chunk_count();
      const bool has_links = sizes.link_words > 0;
      status = FindPrefixes({.words = *words,
                             .width = sizes.words / rows,
                             .rows = rows,
                             .link_rows = has_links ? kLinkRows : rows,
                             .links = has_links ? *links : nullptr},
                            properties, stream);
    }
    if (!status.ok()) return status;
  }
  return launch(kernels.results);
}

uint64_t MovingScanScratchBytes(const ScanPlan& plan) {
  return MovingSizes::Of(plan).scratch_bytes();
}

uint64_t MovingScanScratchBytesMax(uint64_t input_bytes) {
  uint64_t most = 0;
  for (int i = 0; i < kElementTypeCount; ++i) {
    const auto type = static_cast<ElementType>(i);
    const uint64_t count = input_bytes / ElementSize(type);
    // Lines have more than two chunks, of which the last may be of one element.
    const uint64_t chunks = count / kMovingChunk + count / (2 * kMovingChunk + 1) + 1;
    const uint64_t links = 2 * chunks / kLinkRows;
    const uint64_t chunk_bytes = WordsOf(type) * sizeof(int64_t);
    most = std::max(most, ScratchBytes(chunks * chunk_bytes) + ScratchBytes(links * chunk_bytes));
  }
  return most;
}

uint64_t MovingScanPasses(const ScanPlan& plan) { return MovingSizes::Of(plan).words > 0 ? 3 : 2; }

}  // namespace gridfold::kernels::cuda
