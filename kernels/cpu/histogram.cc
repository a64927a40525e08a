#include <algorithm>
#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

#include "kernels/cpu/histogram_pieces.h"
#include "kernels/cpu/operations.h"
#include "kernels/cpu/sample_placer.h"
#include "kernels/cpu/sample_range.h"
#include "kernels/cpu/weights.h"
#include "kernels/numerics/compensated_sum.h"

namespace gridfold::kernels {

namespace {

// The table of one piece: counts, or sums of weights.
template <class Counter>
using Tables = std::vector<Counter>;

uint64_t ValueOf(uint64_t count) { return count; }
// An empty sum is +0.0.
double ValueOf(const CompensatedSum& sum) { return sum.Rounded() + 0.0; }
void Merge(uint64_t& count, uint64_t other) { count += other; }
void Merge(CompensatedSum& sum, const CompensatedSum& other) { sum.Merge(other); }

template <class T>
class Histogram {
 public:
  Histogram(const HistogramPlan& plan, const HistogramInput& input, JobContext& job)
      : plan_(plan), input_(input), job_(job), pieces_(CutSamples(plan)) {}

  absl::StatusOr<HistogramResult> Run() {
    HistogramResult result;
    result.bins = plan_.bins;
    if (absl::Status status = ResolveRanges(result.bins); !status.ok()) return status;
    result.channels.resize(plan_.channel_count);
    const SamplePlacer<T> placer(plan_, result.bins, input_);
    const absl::Status status =
        plan_.weight_type.has_value() ? SumWeights(placer, result) : CountSamples(placer, result);
    if (!status.ok()) return status;
    FinishHistogram(plan_, result);
    return result;
  }

 private:
  absl::Status ResolveRanges(std::vector<PlannedBins>& bins) {
    if (!plan_.needs_range()) return absl::OkStatus();
    const uint64_t count = plan_.array.element_count;
    job_.statistics.bytes_read += plan_.array.size_bytes();
    std::vector<SampleRange<T>> ranges;
    absl::Status status =
        FindSampleRanges<T>(input_.array.data, count, plan_.channel_count, job_, ranges);
    if (status.ok() && plan_.two_dimensional) {
      job_.statistics.bytes_read += plan_.array.size_bytes();
      std::vector<SampleRange<T>> y_range;
      status = FindSampleRanges<T>(input_.y_array.data, count, 1, job_, y_range);
      ranges.push_back(y_range.front());
    }
    for (size_t c = 0; c < bins.size() && status.ok(); ++c) {
      if (bins[c].automatic_range) status = ResolveRange(ranges[c], bins[c]);
    }
    return status;
  }

  absl::Status CountSamples(const SamplePlacer<T>& placer, HistogramResult& result) {
    std::vector<uint64_t> totals(plan_.total_bin_count());
    const auto add_private = [](uint64_t* counts, const int64_t* counters, uint64_t, uint64_t n) {
      for (uint64_t i = 0; i < n; ++i) {
        if (counters[i] >= 0) ++counts[counters[i]];
      }
    };
    const auto add_shared = [](uint64_t* counts, const int64_t* counters, uint64_t, uint64_t n) {
      for (uint64_t i = 0; i < n; ++i) {
        if (counters[i] < 0) continue;
        std::atomic_ref<uint64_t>(counts[counters[i]]).fetch_add(1, std::memory_order_relaxed);
      }
    };
    const absl::Status status = pieces_.shared_counters
                                    ? AddPieces(placer, add_shared, totals, result)
                                    : AddPieces(placer, add_private, totals, result);
    SplitByChannel(
        placer, totals, [&](HistogramCounts & channel) -> auto& { return channel.counts; }, result);
    return status;
  }

  absl::Status SumWeights(const SamplePlacer<T>& placer, HistogramResult& result) {
    std::vector<CompensatedSum> totals(plan_.total_bin_count());
    const auto add = [&](CompensatedSum* sums, const int64_t* counters, uint64_t first,
                         uint64_t n) {
      double weights[kPlacerTile];
      LoadAsDoubles(input_.weights.data, *plan_.weight_type, first, n, weights);
      for (uint64_t i = 0; i < n; ++i) {
        if (counters[i] >= 0) sums[counters[i]].Add(weights[i]);
      }
    };
    const absl::Status status = AddPieces(placer, add, totals, result);
    SplitByChannel(
        placer, totals, [&](HistogramCounts & channel) -> auto& { return channel.weight_sums; },
        result);
    return status;
  }

  // Adds all samples to `totals`, and their outcomes to the result's channels. add(table, counters,
  // first, n) adds the samples [first, first + n).
  template <class Counter, class Add>
  absl::Status AddPieces(const SamplePlacer<T>& placer, Add add, std::vector<Counter>& totals,
                         HistogramResult& result) {
    const bool one_table = pieces_.shared_counters || pieces_.piece_count <= 1;
    std::vector<Counter> tables(one_table ? 0 : pieces_.piece_count * totals.size());
    std::vector<OutcomeCounts> outcomes(pieces_.piece_count * plan_.channel_count);
    const absl::Status status =
        job_.workers.ForEach(pieces_.piece_count, job_.stop, [&](uint64_t piece) {
          Counter* table = one_table ? totals.data() : &tables[piece * totals.size()];
          AddPiece(placer, piece, add, table, &outcomes[piece * plan_.channel_count]);
        });
    for (size_t i = 0; i < outcomes.size(); ++i) {
      HistogramCounts& channel = result.channels[i % plan_.channel_count];
      channel.underflow_count += outcomes[i].underflow;
      channel.overflow_count += outcomes[i].overflow;
      channel.nan_count += outcomes[i].nan;
    }
    if (!status.ok() || one_table) return status;
    return MergeTables(tables, totals);
  }

  template <class Counter, class Add>
  void AddPiece(const SamplePlacer<T>& placer, uint64_t piece, Add add, Counter* table,
                OutcomeCounts* outcomes) {
    const uint64_t begin = piece * pieces_.samples_per_piece;
    const uint64_t end = std::min(begin + pieces_.samples_per_piece, plan_.array.element_count);
    int64_t counters[kPlacerTile];
    for (uint64_t first = begin; first < end && !job_.stop.stop_requested(); first += kPlacerTile) {
      const uint64_t n = std::min(kPlacerTile, end - first);
      placer.Place(first, n, counters, outcomes);
      add(table, counters, first, n);
    }
  }

  template <class Counter>
  absl::Status MergeTables(const std::vector<Counter>& tables, std::vector<Counter>& totals) {
    constexpr uint64_t kCountersPerTask = 4096;
    const uint64_t tasks = (totals.size() + kCountersPerTask - 1) / kCountersPerTask;
    return job_.workers.ForEach(tasks, job_.stop, [&](uint64_t task) {
      const uint64_t begin = task * kCountersPerTask;
      const uint64_t end = std::min<uint64_t>(begin + kCountersPerTask, totals.size());
      for (uint64_t piece = 0; piece < pieces_.piece_count; ++piece) {
        const Counter* table = &tables[piece * totals.size()];
        for (uint64_t i = begin; i < end; ++i) Merge(totals[i], table[i]);
      }
    });
  }

  template <class Counter, class ValuesOf>
  void SplitByChannel(const SamplePlacer<T>& placer, const std::vector<Counter>& totals,
                      ValuesOf values_of, HistogramResult& result) {
    for (size_t c = 0; c < result.channels.size(); ++c) {
      const uint64_t first = placer.first_counter(c);
      const uint64_t end =
          c + 1 < result.channels.size() ? placer.first_counter(c + 1) : totals.size();
      auto& values = values_of(result.channels[c]);
      values.reserve(end - first);
      for (uint64_t i = first; i < end; ++i) values.push_back(ValueOf(totals[i]));
    }
  }

  const HistogramPlan& plan_;
  const HistogramInput& input_;
  JobContext& job_;
  const HistogramPieces pieces_;
};

}  // namespace

absl::StatusOr<HistogramResult> HistogramOnCpu(const HistogramPlan& plan,
                                               const HistogramInput& input, JobContext& job) {
  job.statistics.strategy =
      CutSamples(plan).shared_counters ? "histogram/shared" : "histogram/private";
  job.statistics.bytes_read =
      input.array.size_bytes + input.y_array.size_bytes + input.weights.size_bytes;
  return VisitElementType(plan.array.element_type, [&](auto tag) {
    return Histogram<typename decltype(tag)::type>(plan, input, job).Run();
  });
}

}  // namespace gridfold::kernels
