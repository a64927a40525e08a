#include "kernels/cpu/histogram/histogram.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "kernels/cpu/histogram/count_table.h"
#include "kernels/cpu/histogram/pieces.h"
#include "kernels/cpu/histogram/placer.h"
#include "kernels/cpu/histogram/sample_range.h"
#include "kernels/cpu/histogram/weights.h"
#include "kernels/numerics/sums/weight_sum.h"

namespace gridfold::kernels::cpu {

namespace {

class Histogram {
 public:
  Histogram(const HistogramPlan& plan, const HostHistogramInput& input,
            const HistogramPieces& pieces, JobContext& job)
      : plan_(plan), input_(input), job_(job), pieces_(pieces) {}

  absl::StatusOr<HistogramResult> Run() {
    HistogramResult result;
    result.bins = plan_.bins;
    if (plan_.needs_range()) {
      const absl::Status resolved = VisitElementType(plan_.array.element_type, [&](auto tag) {
        return ResolveRanges<typename decltype(tag)::type>(plan_, input_, job_, result.bins);
      });
      if (!resolved.ok()) return resolved;
    }
    result.channels.resize(plan_.channel_count);
    const std::unique_ptr<AnySamplePlacer> placer = MakeSamplePlacer(plan_, result.bins, input_);
    const absl::Status status =
        plan_.weight_type.has_value() ? SumWeights(*placer, result) : CountSamples(*placer, result);
    if (!status.ok()) return status;
    FinishHistogram(plan_, result);
    return result;
  }

 private:
  absl::Status CountSamples(const AnySamplePlacer& placer, HistogramResult& result) {
    std::vector<uint64_t> totals(plan_.total_bin_count());
    std::vector<OutcomeCounts> outcomes;
    const absl::Status status = pieces_.shared_counters ? CountTogether(placer, totals, outcomes)
                                                        : CountApart(placer, totals, outcomes);
    AddOutcomes(outcomes, result);
    SplitByChannel(
        placer, totals, [&](HistogramCounts & channel) -> auto& { return channel.counts; }, result);
    return status;
  }

  // All threads add to one table.
  absl::Status CountTogether(const AnySamplePlacer& placer, std::vector<uint64_t>& totals,
                             std::vector<OutcomeCounts>& outcomes) {
    outcomes.assign(pieces_.piece_count * plan_.channel_count, {});
    return job_.ForEach(pieces_.piece_count, [&](uint64_t piece) {
      int64_t counters[kPlacerTile];
      ForEachTile(piece, [&](uint64_t first, uint64_t n) {
        placer.Place(first, n, counters, &outcomes[piece * plan_.channel_count]);
        for (uint64_t i = 0; i < n; ++i) {
          if (counters[i] < 0) continue;
          std::atomic_ref<uint64_t>(totals[counters[i]]).fetch_add(1, std::memory_order_relaxed);
        }
      });
    });
  }

  // Each thread takes pieces as they come, with a table of its own.
  absl::Status CountApart(const AnySamplePlacer& placer, std::vector<uint64_t>& totals,
                          std::vector<OutcomeCounts>& outcomes) {
    const uint64_t threads = std::min<uint64_t>(job_.threads, pieces_.piece_count);
    std::vector<std::optional<CountTable>> tables(threads);
    outcomes.assign(threads * plan_.channel_count, {});
    std::atomic<uint64_t> next_piece = 0;
    const absl::Status status = job_.ForEach(threads, [&](uint64_t thread) {
      for (uint64_t piece = next_piece++; piece < pieces_.piece_count; piece = next_piece++) {
        if (!tables[thread].has_value()) tables[thread].emplace(totals.size());
        ForEachTile(piece, [&](uint64_t first, uint64_t n) {
          placer.Count(first, n, *tables[thread], &outcomes[thread * plan_.channel_count]);
        });
      }
    });
    if (!status.ok()) return status;
    return ForEachRange(totals.size(), [&](uint64_t begin, uint64_t end) {
      for (const std::optional<CountTable>& table : tables) {
        if (table.has_value()) table->AddTo(begin, end, totals.data());
      }
    });
  }

  absl::Status SumWeights(const AnySamplePlacer& placer, HistogramResult& result) {
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
  absl::Status SumWeightsOfBins(const AnySamplePlacer& placer, uint64_t first_bin,
                                std::vector<Sum>& sums, std::vector<OutcomeCounts>& outcomes) {
    // The first piece adds to the sums themselves.
    std::vector<Sum> others(std::max<uint64_t>(pieces_.piece_count, 1) * sums.size() - sums.size());
    outcomes.assign(pieces_.piece_count * plan_.channel_count, {});
    const absl::Status status = job_.ForEach(pieces_.piece_count, [&](uint64_t piece) {
      AddWeights(placer, piece, first_bin,
                 piece == 0 ? std::span(sums)
                            : std::span(others).subspan((piece - 1) * sums.size(), sums.size()),
                 &outcomes[piece * plan_.channel_count]);
    });
    if (!status.ok()) return status;
    return ForEachRange(sums.size(), [&](uint64_t begin, uint64_t end) {
      for (uint64_t first = 0; first < others.size(); first += sums.size()) {
        for (uint64_t i = begin; i < end; ++i) sums[i].Merge(others[first + i]);
      }
    });
  }

  template <class Sum>
  void AddWeights(const AnySamplePlacer& placer, uint64_t piece, uint64_t first_bin,
                  std::span<Sum> sums, OutcomeCounts* outcomes) {
    int64_t counters[kPlacerTile];
    typename Sum::Value weights[kPlacerTile];
    ForEachTile(piece, [&](uint64_t first, uint64_t n) {
      placer.Place(first, n, counters, outcomes);
      LoadWeights(input_.weights.data, *plan_.weight_type, first, n, weights);
      for (uint64_t i = 0; i < n; ++i) {
        // A sample in no bin has a negative counter, which is far beyond the last one here.
        const uint64_t bin = static_cast<uint64_t>(counters[i]) - first_bin;
        if (bin < sums.size()) sums[bin].Add(weights[i]);
      }
    });
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

  // Calls f(first, n) for the tiles of a piece's samples, until the job is stopped.
  template <class F>
  void ForEachTile(uint64_t piece, F f) {
    const uint64_t begin = piece * pieces_.samples_per_piece;
    const uint64_t end = std::min(begin + pieces_.samples_per_piece, plan_.array.element_count);
    for (uint64_t first = begin; first < end && !job_.stop.stop_requested(); first += kPlacerTile) {
      f(first, std::min(kPlacerTile, end - first));
    }
  }

  // Calls f(begin, end) for ranges that make up [0, counter_count).
  template <class F>
  absl::Status ForEachRange(uint64_t counter_count, F f) {
    constexpr uint64_t kCountersPerTask = 4096;
    const uint64_t tasks = (counter_count + kCountersPerTask - 1) / kCountersPerTask;
    return job_.ForEach(tasks, [&](uint64_t task) {
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
  void SplitByChannel(const AnySamplePlacer& placer, const std::vector<Value>& all,
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
  const absl::StatusOr<HistogramPieces> pieces = CutSamples(plan, job.threads);
  if (!pieces.ok()) return pieces.status();
  job.statistics.strategy = HistogramStrategy(*pieces);
  const uint64_t passes =
      plan.weight_type.has_value()
          ? (plan.total_bin_count() + pieces->bins_per_pass - 1) / pieces->bins_per_pass
          : 1;
  job.statistics.bytes_read =
      passes * (input.array.size_bytes + input.y_array.size_bytes + input.weights.size_bytes);
  return Histogram(plan, input, *pieces, job).Run();
}

}  // namespace gridfold::kernels::cpu
