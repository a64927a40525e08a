// Scans of groups whose elements are consecutive: the whole array, rows, segments.
//
// The array is taken in rounds that fit in the last-level cache. In each round the threads first
// find the totals of its tiles, then the carries follow one from the other, and then the threads
// write the results. With one thread, or one task's worth of tiles, a single look at each tile
// does.
#ifndef GRIDFOLD_KERNELS_CPU_SCAN_CONTIGUOUS_H_
#define GRIDFOLD_KERNELS_CPU_SCAN_CONTIGUOUS_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "absl/status/status.h"
#include "kernels/cpu/operations.h"
#include "kernels/cpu/scan_heads.h"
#include "kernels/cpu/scan_tile_exact.h"
#include "kernels/scan_error.h"

namespace gridfold::kernels {

inline ScanRules RulesOf(const ScanPlan& plan) {
  return {.exclusive = plan.mode == ScanMode::kExclusive,
          .ignore_nan = plan.nan_policy == NanPolicy::kIgnore,
          .wrap = plan.overflow_policy == OverflowPolicy::kWrap};
}

// TileScan is OrderedTileScan, ExactTileScan or ExactSumTileScan.
template <class TileScan, class Out>
class ContiguousScan {
 public:
  ContiguousScan(const ScanPlan& plan, HostSpan input, MutableHostSpan output, ScanCarry* carry)
      : plan_(plan),
        carry_(carry),
        continues_(carry != nullptr && carry->element_count > 0),
        rules_(RulesOf(plan)),
        reverse_(plan.direction == ScanDirection::kReverse),
        count_(plan.array.element_count),
        tiles_((count_ + kScanTileSize - 1) / kScanTileSize),
        input_(input.data),
        output_(output.data) {}

  absl::Status Run(JobContext& job) {
    const bool one_look = job.workers.thread_count() == 1 || tiles_ <= kTaskTiles;
    job.statistics.bytes_read = (one_look ? 1 : 2) * plan_.array.size_bytes();
    Chain chain = continues_ ? Chain(LoadCarry()) : Chain();
    const absl::Status status = one_look ? RunInOneLook(chain, job) : RunInRounds(chain, job);
    if (!status.ok()) return status;
    if (carry_ != nullptr) StoreCarry(chain.Next());
    return fits_.load() ? absl::OkStatus() : ScanOverflowError(plan_);
  }

 private:
  using T = typename TileScan::Element;
  using Operator = typename TileScan::Operator;
  using Carry = typename TileScan::Carry;
  using Chain = typename TileScan::Chain;
  using CarryType = typename Carry::Type;
  static constexpr bool kGrouped = TileScan::kGrouped;

  static constexpr uint64_t kTaskTiles = 8;
  static constexpr uint64_t kRoundTiles = 1024;

  // A tile's elements and heads, in logical order.
  struct LoadedTile {
    T elements[kScanTileSize];
    bool heads[kGrouped ? kScanTileSize : 1];
    int count;

    LogicalTile<T> view() const { return {elements, heads, count}; }
  };

  static_assert(std::is_trivially_copyable_v<CarryType> &&
                sizeof(CarryType) <= ScanCarry::kValueBytesMax);

  CarryType LoadCarry() const {
    CarryType value;
    std::memcpy(&value, carry_->value.data(), sizeof(value));
    return value;
  }
  void StoreCarry(const CarryType& value) {
    if (count_ == 0) return;
    std::memcpy(carry_->value.data(), &value, sizeof(value));
    carry_->element_count += count_;
  }

  // Where the tile's elements stand in the array.
  uint64_t FirstElement(uint64_t tile, int count) const {
    const uint64_t begin = tile * kScanTileSize;
    return reverse_ ? count_ - begin - count : begin;
  }

  void Load(uint64_t tile, LoadedTile& loaded) const {
    const uint64_t begin = tile * kScanTileSize;
    loaded.count = static_cast<int>(std::min<uint64_t>(kScanTileSize, count_ - begin));
    std::memcpy(loaded.elements, input_ + FirstElement(tile, loaded.count) * sizeof(T),
                loaded.count * sizeof(T));
    if (reverse_) std::reverse(loaded.elements, loaded.elements + loaded.count);
    if constexpr (kGrouped) MarkGroupHeads(plan_, begin, loaded.count, loaded.heads);
  }

  CarryType Total(uint64_t tile) const {
    LoadedTile loaded;
    Load(tile, loaded);
    return TileScan::Total(loaded.view(), rules_);
  }

  void Write(uint64_t tile, const CarryType& carry, CarryType* total) {
    LoadedTile loaded;
    Load(tile, loaded);
    Out results[kScanTileSize];
    const bool fits = TileScan::Write(loaded.view(), carry, rules_, results, total);
    if (!fits) fits_.store(false, std::memory_order_relaxed);
    if (!kGrouped && tile == 0 && rules_.exclusive && !continues_) {
      Operator::template Store<Out>(Operator::EmptyResult(), rules_.wrap, &results[0]);
    }
    if (reverse_) std::reverse(results, results + loaded.count);
    std::memcpy(output_ + FirstElement(tile, loaded.count) * sizeof(Out), results,
                loaded.count * sizeof(Out));
  }

  absl::Status RunInOneLook(Chain& chain, JobContext& job) {
    return job.workers.ForEach(1, job.stop, [&](uint64_t) {
      for (uint64_t tile = 0; tile < tiles_ && !job.stop.stop_requested(); ++tile) {
        CarryType total = Carry::Identity();
        Write(tile, chain.Next(), &total);
        chain.Push(total);
      }
    });
  }

  absl::Status RunInRounds(Chain& chain, JobContext& job) {
    std::vector<CarryType> carries(std::min(tiles_, kRoundTiles), Carry::Identity());
    for (uint64_t first = 0; first < tiles_; first += kRoundTiles) {
      const uint64_t count = std::min(kRoundTiles, tiles_ - first);
      absl::Status status =
          ForEachTile(job, count, [&](uint64_t i) { carries[i] = Total(first + i); });
      if (!status.ok()) return status;
      for (uint64_t i = 0; i < count; ++i) {
        const CarryType total = carries[i];
        carries[i] = chain.Next();
        chain.Push(total);
      }
      status = ForEachTile(job, count, [&](uint64_t i) { Write(first + i, carries[i], nullptr); });
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }

  template <class Work>
  absl::Status ForEachTile(JobContext& job, uint64_t count, Work work) {
    const uint64_t tasks = (count + kTaskTiles - 1) / kTaskTiles;
    return job.workers.ForEach(tasks, job.stop, [&](uint64_t task) {
      const uint64_t end = std::min((task + 1) * kTaskTiles, count);
      for (uint64_t i = task * kTaskTiles; i < end; ++i) work(i);
    });
  }

  const ScanPlan& plan_;
  ScanCarry* const carry_;
  const bool continues_;
  const ScanRules rules_;
  const bool reverse_;
  const uint64_t count_;
  const uint64_t tiles_;
  const std::byte* const input_;
  std::byte* const output_;
  std::atomic<bool> fits_ = true;
};

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_CPU_SCAN_CONTIGUOUS_H_
