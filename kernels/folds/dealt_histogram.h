// Histograms whose samples are dealt to several lanes, of one device or of several: what each of
// them runs, and how their counts become the answer of one run over all samples, bit for bit.
//
//   DealtHistogram dealt(plan, cuts);
//   if (dealt.needs_ranges())
//     in any threads, for every part:      dealt.FindRanges(part, its samples, lane, ...)
//     when all of them have returned OK:   dealt.EndRanges(lane, ...)
//   in any threads, for every part:        dealt.RunPart(part, its samples, lane, ...)
//   when all of them have returned OK:     result = dealt.Finish(lane, ...)
//
// Counts meet on the host, or where parts were given room for them: then each engine's stay there
// until one engine adds those of the others to its own, and brings the sum.
//
// The samples of a part are those from one cut to the next. Samples of several channels that a cut
// separates are brought to the host, and counted there by whoever finishes.
#ifndef GRIDFOLD_KERNELS_FOLDS_DEALT_HISTOGRAM_H_
#define GRIDFOLD_KERNELS_FOLDS_DEALT_HISTOGRAM_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/contract/engine.h"
#include "kernels/contract/histogram.h"
#include "kernels/folds/dealt_reduction.h"
#include "kernels/folds/histogram_fold.h"

namespace gridfold::kernels {

// Resident memory of an engine, of CounterWordBytes.
struct CounterRoom {
  uint32_t engine = 0;
  MutableResidentSpan words;
};

class DealtHistogram {
 public:
  // `plan` may be an outline. Takes time in proportion to the number of cuts.
  DealtHistogram(HistogramPlan plan, Cuts cuts);

  size_t part_count() const { return cuts_.size() - 1; }

  // Whether bins have an automatic range, which all samples decide.
  bool needs_ranges() const { return needs_ranges_; }

  // These are thread-safe for different parts, and called once for each. Errors: those of
  // Lane::RunHistogram for all samples.
  absl::Status FindRanges(size_t part, const HistogramInput& input, Lane& lane,
                          const std::stop_token& stop, RunStatistics& statistics);
  // With `room`, which must last until Finish, counters stay with the lane's engine.
  absl::Status RunPart(size_t part, const HistogramInput& input, Lane& lane,
                       const std::stop_token& stop, RunStatistics& statistics,
                       const std::optional<CounterRoom>& room = std::nullopt);

  // The lane may be any. Errors: as above.
  absl::Status EndRanges(Lane& lane, const std::stop_token& stop, RunStatistics& statistics);
  // `engine` is the lane's, as rooms number them: counters that others have are added to its own.
  absl::StatusOr<HistogramResult> Finish(Lane& lane, const std::stop_token& stop,
                                         RunStatistics& statistics, uint32_t engine = 0);

  // Whether counters may stay with engines: those of one channel, without weights.
  static bool CanHaveRoom(const HistogramPlan& plan) {
    return plan.channel_count == 1 && !plan.weight_type;
  }

  // Complete, once a part has run.
  const HistogramPlan& plan() const { return plan_; }

 private:
  // The smallest and the largest finite sample of a channel, or of an axis; none where there are
  // none.
  struct Extremes {
    std::optional<double> smallest;
    std::optional<double> largest;
  };
  // What of a part lies between cuts: first samples that belong to those before the part, samples
  // of all channels, and samples that belong to what follows it.
  struct Split {
    uint64_t head = 0;
    uint64_t whole = 0;
    uint64_t tail = 0;
    uint64_t loose_before = 0;  // Heads and tails of the parts before it.
  };

  absl::Status Prepare(const std::stop_token& stop);
  absl::Status BringLoose(size_t part, const HistogramInput& input, Lane& lane,
                          const std::stop_token& stop);
  HistogramInput LooseInput() const;
  absl::Status AddExtremes(const HistogramInput& input, uint64_t count, Lane& lane,
                           const std::stop_token& stop, RunStatistics& statistics);
  absl::Status Count(const HistogramInput& input, uint64_t count, Lane& lane,
                     const std::stop_token& stop, RunStatistics& statistics,
                     const std::optional<CounterRoom>& room = std::nullopt);
  absl::Status AddUp(uint32_t engine, Lane& lane, const std::stop_token& stop);
  absl::StatusOr<HistogramResult> Bring(const CounterRoom& room, Lane& lane,
                                        const std::stop_token& stop) const;

  const Cuts cuts_;
  const bool needs_ranges_;
  std::vector<Split> splits_;
  uint64_t loose_count_ = 0;
  std::vector<std::byte> loose_samples_;
  std::vector<std::byte> loose_weights_;

  std::mutex mutex_;
  // Guarded by mutex_ until all parts have run.
  HistogramPlan plan_;
  std::vector<Extremes> extremes_;
  std::unique_ptr<HistogramFold> fold_;
  std::vector<CounterRoom> rooms_;  // Those with counters.
};

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_FOLDS_DEALT_HISTOGRAM_H_
