// Moving sums and means: chunks by several threads, as numerics/scans/moving_chunk.h takes them.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "kernels/contract/moving_scan.h"
#include "kernels/contract/scan_error.h"
#include "kernels/cpu/scan/operation.h"
#include "kernels/numerics/scans/moving_chunk.h"

namespace gridfold::kernels::cpu {

namespace {

// Chunks, each of all lines, that a thread takes at a time: of a single line more than one.
uint64_t ChunksTogether(const MovingShape& shape) {
  constexpr uint64_t kResultsTogether = 1 << 15;
  const uint64_t results = kMovingChunk * std::max<uint64_t>(shape.line_count, 1);
  return std::max<uint64_t>(kResultsTogether / results, 1);
}

template <class T, class Out>
class MovingScan {
 public:
  MovingScan(const ScanPlan& plan, HostSpan input, MutableHostSpan output)
      : plan_(plan),
        shape_(MovingShapeOf(plan, plan.grouping.offsets.data())),
        rules_(MovingRulesOf(plan)),
        input_(input.data),
        output_(output.data) {}

  absl::Status Run(JobContext& job) {
    const bool needs_totals = shape_.NeedsTotals(rules_.window);
    job.statistics.bytes_read = (needs_totals ? 3 : 2) * plan_.array.size_bytes();
    if (needs_totals) {
      if (absl::Status status = FindPrefixes(job); !status.ok()) return status;
    }
    std::atomic<bool> all_fit = true;
    const absl::Status status = ForEachChunk(job, [&](uint64_t line, uint64_t chunk) {
      const bool fits = ScanMovingChunk<T, Out>(
          shape_, rules_, line, chunk, words_.data(), Load(), [this](uint64_t i, Out result) {
            std::memcpy(output_ + i * sizeof(Out), &result, sizeof(Out));
          });
      if (!fits) all_fit.store(false, std::memory_order_relaxed);
    });
    if (status.ok() && !all_fit.load()) return ScanOverflowError(plan_);
    return status;
  }

 private:
  auto Load() const {
    return [this](uint64_t i) { return LoadUnaligned<T>(input_, i); };
  }

  // Calls visit(line, chunk) for all chunks.
  template <class Visit>
  absl::Status ForEachChunk(JobContext& job, Visit visit) const {
    const uint64_t chunks = shape_.chunk_count();
    const uint64_t together = ChunksTogether(shape_);
    return job.ForEach((chunks + together - 1) / together, [&](uint64_t i) {
      const uint64_t end = std::min((i + 1) * together, chunks);
      for (uint64_t chunk = i * together; chunk < end; ++chunk) {
        for (uint64_t line = 0; line < shape_.line_count; ++line) {
          if (job.stop.stop_requested()) return;
          visit(line, chunk);
        }
      }
    });
  }

  // For each chunk the words of all chunks before it in its line.
  absl::Status FindPrefixes(JobContext& job) {
    const uint64_t row = shape_.line_count * MovingSum<T>::kWords;
    words_.resize(shape_.chunk_count() * row);
    absl::Status status = ForEachChunk(job, [&](uint64_t line, uint64_t chunk) {
      TotalMovingChunk<T>(shape_, rules_, line, chunk, Load(), words_.data());
    });
    if (!status.ok()) return status;
    return job.ForEach(1, [&](uint64_t) {
      std::vector<int64_t> before(row);
      for (uint64_t i = 0; i < words_.size(); i += row) {
        for (uint64_t k = 0; k < row; ++k) {
          const int64_t total = words_[i + k];
          words_[i + k] = before[k];
          before[k] += total;
        }
      }
    });
  }

  const ScanPlan& plan_;
  const MovingShape shape_;
  const MovingRules rules_;
  const std::byte* const input_;
  std::byte* const output_;
  std::vector<int64_t> words_;
};

}  // namespace

absl::Status RunMovingScan(const ScanPlan& plan, HostSpan input, MutableHostSpan output,
                           JobContext& job) {
  return VisitElementType(plan.array.element_type, [&](auto tag) -> absl::Status {
    using T = typename decltype(tag)::type;
    const auto run = [&](auto out) {
      return MovingScan<T, typename decltype(out)::type>(plan, input, output).Run(job);
    };
    if (plan.output_type == kElementTypeOf<T>) return run(std::type_identity<T>());
    if (plan.output_type == ElementType::kFloat64) return run(std::type_identity<double>());
    if constexpr (IntegerElement<T>) {
      using Wide = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
      return run(std::type_identity<Wide>());
    }
    return absl::InternalError("not a type of moving results");
  });
}

}  // namespace gridfold::kernels::cpu
