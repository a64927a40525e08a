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
#include "kernels/numerics/weight_sum.h"

namespace gridfold::kernels {

namespace {

void Merge(uint64_t& count, uint64_t other) { count += other; }
template <class Sum>
void Merge(Sum& sum, const Sum& other) {
  sum.Merge(other);
}

template <class T>
class Histogram {
 public:
  Histogram(const HistogramPlan& plan, const HostHistogramInput& input, JobContext& job)
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
    std::vector<OutcomeCounts> outcomes;
    const absl::Status status = pieces_.shared_counters
                                    ? AddPieces(placer, add_shared, totals, outcomes)
                                    : AddPieces(placer, add_private, totals, outcomes);
    AddOutcomes(outcomes, result);
    SplitByChannel(
        placer, totals, [&](HistogramCounts & channel) -> auto& { return channel.counts; }, result);
    return status;
  }

  absl::Status SumWeights(const SamplePlacer<T>& placer, HistogramResult& result) {
    return VisitWeightSum(*plan_.weight_type, [&](auto tag) {
      using Sum = typename decltype(tag)::type;
      const uint64_t bin_count = plan_.total_bin_count();
      std::vector<double> rounded(bin_count);
      std::vector<typename Sum::State> states(plan_.return_states ? bin_count : 0);
      std::vector<OutcomeCounts> outcomes;
      absl::Status status;
      for (uint64_t first = 0; first < bin_count && status.ok(); first += pieces_.bins_per_pass) {
        std::vector<Sum> sums(std::min(pieces_.bins_per_pass, bin_count - first));
        status = SumWeightsOfBins(placer, first, sums, outcomes);
        if (status.ok()) status = RoundSums(sums, first, rounded, states);
      }
      AddOutcomes(outcomes, result);
      SplitByChannel(
          placer, rounded, [](HistogramCounts & channel) -> auto& { return channel.weight_sums; },
          result);
      if (plan_.return_states) result.weight_states = std::move(states);
      return status;
    });
  }

  // Adds the weights of all samples in the bins [first_bin, first_bin + sums.size()), and sets
  // `outcomes`.
  template <class Sum>
  absl::Status SumWeightsOfBins(const SamplePlacer<T>& placer, uint64_t first_bin,
                                std::vector<Sum>& sums, std::vector<OutcomeCounts>& outcomes) {
    const auto add = [&](Sum* table, const int64_t* counters, uint64_t first, uint64_t n) {
      typename Sum::Value weights[kPlacerTile];
      LoadWeights(input_.weights.data, *plan_.weight_type, first, n, weights);
      for (uint64_t i = 0; i < n; ++i) {
        // A sample in no bin has a negative counter, which is far behind the last one here.
        const uint64_t bin = static_cast<uint64_t>(counters[i]) - first_bin;
        if (bin < sums.size()) table[bin].Add(weights[i]);
      }
    };
    return AddPieces(placer, add, sums, outcomes);
  }

  template <class Sum>
  absl::Status RoundSums(const std::vector<Sum>& sums, uint64_t first_bin,
                         std::vector<double>& rounded, std::vector<typename Sum::State>& states) {
    return ForEachRange(sums.size(), [&](uint64_t begin, uint64_t end) {
      for (uint64_t i = begin; i < end; ++i) {
        const typename Sum::State total = sums[i].Total();
        rounded[first_bin + i] = RoundedWeightSum(total);
        if (!states.empty()) states[first_bin + i] = total;
      }
    });
  }

  // Adds all samples to `totals`, and sets the outcomes of [piece][channel]. add(table, counters,
  // first, n) adds the samples [first, first + n).
  template <class Counter, class Add>
  absl::Status AddPieces(const SamplePlacer<T>& placer, Add add, std::vector<Counter>& totals,
                         std::vector<OutcomeCounts>& outcomes) {
    const bool one_table = pieces_.shared_counters || pieces_.piece_count <= 1;
    // The first piece adds to the totals themselves.
    std::vector<Counter> tables(one_table ? 0 : (pieces_.piece_count - 1) * totals.size());
    outcomes.assign(pieces_.piece_count * plan_.channel_count, {});
    const absl::Status status =
        job_.workers.ForEach(pieces_.piece_count, job_.stop, [&](uint64_t piece) {
          Counter* table =
              one_table || piece == 0 ? totals.data() : &tables[(piece - 1) * totals.size()];
          AddPiece(placer, piece, add, table, &outcomes[piece * plan_.channel_count]);
        });
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
    return ForEachRange(totals.size(), [&](uint64_t begin, uint64_t end) {
      for (uint64_t first = 0; first < tables.size(); first += totals.size()) {
        for (uint64_t i = begin; i < end; ++i) Merge(totals[i], tables[first + i]);
      }
    });
  }

  // Calls f(begin, end) for ranges that make up [0, counter_count).
  template <class F>
  absl::Status ForEachRange(uint64_t counter_count, F f) {
    constexpr uint64_t kCountersPerTask = 4096;
    const uint64_t tasks = (counter_count + kCountersPerTask - 1) / kCountersPerTask;
    return job_.workers.ForEach(tasks, job_.stop, [&](uint64_t task) {
      const uint64_t begin = task * kCountersPerTask;
      f(begin, std::min(begin + kCountersPerTask, counter_count));
    });
  }

  void AddOutcomes(const std::vector<OutcomeCounts>& outcomes, HistogramResult& result) {
    for (size_t i = 0; i < outcomes.size(); ++i) {
      HistogramCounts& channel = result.channels[i % plan_.channel_count];
      channel.underflow_count += outcomes[i].underflow;
      channel.overflow_count += outcomes[i].overflow;
      channel.nan_count += outcomes[i].nan;
    }
  }

  template <class Value, class ValuesOf>
  void SplitByChannel(const SamplePlacer<T>& placer, const std::vector<Value>& all,
                      ValuesOf values_of, HistogramResult& result) {
    for (size_t c = 0; c < result.channels.size(); ++c) {
      const uint64_t first = placer.first_counter(c);
      const uint64_t end =
          c + 1 < result.channels.size() ? placer.first_counter(c + 1) : all.size();
      values_of(result.channels[c]).assign(all.begin() + first, all.begin() + end);
    }
  }

  const HistogramPlan& plan_;
  const HostHistogramInput& input_;
  JobContext& job_;
  const HistogramPieces pieces_;
};

}  // namespace

absl::StatusOr<HistogramResult> HistogramOnCpu(const HistogramPlan& plan,
                                               const HostHistogramInput& input, JobContext& job) {
  const HistogramPieces pieces = CutSamples(plan);
  job.statistics.strategy = pieces.shared_counters ? "histogram/shared" : "histogram/private";
  const uint64_t passes =
      plan.weight_type.has_value()
          ? (plan.total_bin_count() + pieces.bins_per_pass - 1) / pieces.bins_per_pass
          : 1;
  job.statistics.bytes_read =
      passes * (input.array.size_bytes + input.y_array.size_bytes + input.weights.size_bytes);
  return VisitElementType(plan.array.element_type, [&](auto tag) {
    return Histogram<typename decltype(tag)::type>(plan, input, job).Run();
  });
}

}  // namespace gridfold::kernels
