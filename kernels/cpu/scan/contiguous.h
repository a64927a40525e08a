// Scans of groups whose elements are consecutive: the whole array, rows, segments.
//
// Threads take pieces that fit in their caches. For each piece they compute the totals of its
// tiles, then, when it is the piece's turn, the carries into them, and then the results. With one
// thread, or one piece, each tile is read only once.
#ifndef GRIDFOLD_KERNELS_CPU_SCAN_CONTIGUOUS_H_
#define GRIDFOLD_KERNELS_CPU_SCAN_CONTIGUOUS_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <optional>
#include <type_traits>

#include "absl/status/status.h"
#include "kernels/contract/scan_error.h"
#include "kernels/cpu/base/job_context.h"
#include "kernels/cpu/base/streaming_store.h"
#include "kernels/cpu/base/turns.h"
#include "kernels/cpu/scan/heads.h"
#include "kernels/cpu/scan/tile.h"
#include "kernels/numerics/scans/operator.h"

namespace gridfold::kernels::cpu {

inline ScanRules RulesOf(const ScanPlan& plan) {
  return {.exclusive = plan.mode == ScanMode::kExclusive,
          .ignore_nan = plan.nan_policy == NanPolicy::kIgnore,
          .wrap = plan.overflow_policy == OverflowPolicy::kWrap,
          .mirror_bits = MirrorBits(plan.operation, plan.array.element_type)};
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
        output_(output.data),
        output_bytes_(output.size_bytes) {}

  // Writes the results.
  absl::Status Run(JobContext& job) {
    const int threads = job.threads;
    const bool one_look = threads == 1 || tiles_ <= kPieceTiles;
    rules_.stream = Streams(threads);
    job.statistics.bytes_read = (one_look ? 1 : 2) * plan_.array.size_bytes();
    Chain chain = continues_ ? Chain(LoadCarry()) : Chain();
    const absl::Status status = one_look ? RunInOneLook(chain, job) : RunInTurns(chain, job);
    next_carry_ = chain.Next();
    return status;
  }
  // Finds, instead of Run, what each block of tiles comes to, of which carries are made (tree.h).
  // Requires whole blocks.
  absl::Status FindTotals(JobContext& job, ScanTotals& totals) const {
    const uint64_t blocks = tiles_ / kScanTilesPerBlock;
    totals.element_count = count_;
    totals.values.resize(blocks * sizeof(CarryType));
    job.statistics.bytes_read = plan_.array.size_bytes();
    return job.ForEach(blocks, [&](uint64_t block) {
      Chain chain;
      for (int tile = 0; tile < kScanTilesPerBlock; ++tile) {
        chain.Push(Total(block * kScanTilesPerBlock + static_cast<uint64_t>(tile)));
      }
      const CarryType total = chain.Next();
      std::memcpy(totals.values.data() + block * sizeof(total), &total, sizeof(total));
    });
  }
  // Leaves what a next part continues from without a look at the elements.
  void CarryOver(const ScanTotals& totals) {
    next_carry_ = continues_ ? LoadCarry() : Carry::Identity();
    for (size_t offset = 0; offset < totals.values.size(); offset += sizeof(CarryType)) {
      CarryType total;
      std::memcpy(&total, totals.values.data() + offset, sizeof(total));
      next_carry_ = Carry::Join(next_carry_, total);
    }
    LeaveCarry();
  }
  // After Run: whether all results fit, and, where the operator has a wide form, what a next part
  // continues from holds (numerics/scans/operator.h).
  bool fits() const {
    if constexpr (requires { Operator::kWideForm; }) {
      return fits_.load() && (carry_ == nullptr || Operator::Holds(Carry::ValueOf(next_carry_)));
    } else {
      return fits_.load();
    }
  }
  // Leaves what a next part continues from.
  void LeaveCarry() const {
    if (carry_ == nullptr || count_ == 0) return;
    const auto& value = Carry::ValueOf(next_carry_);
    std::memcpy(carry_->value.data(), &value, kValueBytes);
    carry_->element_count += count_;
  }

 private:
  using T = typename TileScan::Element;
  using Operator = typename TileScan::Operator;
  using Carry = typename TileScan::Carry;
  using Chain = typename TileScan::Chain;
  using CarryType = typename Carry::Type;
  using Value = typename Operator::Value;
  static constexpr bool kGrouped = TileScan::kGrouped;

  static constexpr uint64_t kPieceTiles = 8;

  // The bytes of a carry leave out the padding of an exact sum, so that equal carries have equal
  // bytes.
  static constexpr size_t kValueBytes = [] {
    if constexpr (requires { Value::kLimbs; }) {
      return Value::kLimbs * sizeof(uint64_t) + sizeof(uint32_t);
    } else {
      return sizeof(Value);
    }
  }();

  // Room for what of a tile must be put in logical order.
  struct TileRoom {
    T elements[kScanTileSize];
    bool heads[kGrouped ? kScanTileSize : 1];
  };

  static_assert(std::is_trivially_copyable_v<Value> && sizeof(Value) <= ScanCarry::kValueBytesMax);

  // Whether results are written past the caches. One thread alone gains by that with float64 only,
  // and loses with float32.
  bool Streams(int threads) const {
    if (threads == 1 && !std::is_same_v<Out, double>) return false;
    return !reverse_ && output_bytes_ >= kStreamedBytesMin &&
           reinterpret_cast<uintptr_t>(output_) % kStreamAlignment == 0;
  }

  CarryType LoadCarry() const {
    Value value;
    std::memcpy(&value, carry_->value.data(), sizeof(value));
    return Carry::Of(value, false);
  }

  // Where the tile's elements stand in the array.
  uint64_t FirstElement(uint64_t tile, int count) const {
    const uint64_t begin = tile * kScanTileSize;
    return reverse_ ? count_ - begin - count : begin;
  }

  LogicalTile<T> Load(uint64_t tile, TileRoom& room) const {
    const uint64_t begin = tile * kScanTileSize;
    const int count = static_cast<int>(std::min<uint64_t>(kScanTileSize, count_ - begin));
    const std::byte* const source = input_ + FirstElement(tile, count) * sizeof(T);
    if constexpr (kGrouped) {
      MarkGroupHeads(plan_, begin, count, room.heads);
      if (tile == 0 && continues_) room.heads[0] = false;
    }
    if (IsInOrder<T>(source)) return {reinterpret_cast<const T*>(source), room.heads, count};
    std::memcpy(room.elements, source, count * sizeof(T));
    if (reverse_) std::reverse(room.elements, room.elements + count);
    return {room.elements, room.heads, count};
  }

  // Whether a tile's elements or results can be taken as they lie in memory.
  template <class Element>
  bool IsInOrder(const std::byte* values) const {
    return !reverse_ && reinterpret_cast<uintptr_t>(values) % alignof(Element) == 0;
  }

  CarryType Total(uint64_t tile) const {
    TileRoom room;
    return TileScan::Total(Load(tile, room), rules_);
  }

  void Write(uint64_t tile, const CarryType& carry, CarryType* total) {
    TileRoom room;
    const LogicalTile<T> loaded = Load(tile, room);
    std::byte* const target = output_ + FirstElement(tile, loaded.count) * sizeof(Out);
    const bool in_place = IsInOrder<Out>(target);
    Out room_for_results[kScanTileSize];
    Out* const results = in_place ? reinterpret_cast<Out*>(target) : room_for_results;
    WriteResults(tile, loaded, carry, results, total);
    if (in_place) return;
    if (reverse_) std::reverse(results, results + loaded.count);
    std::memcpy(target, results, loaded.count * sizeof(Out));
  }

  void WriteResults(uint64_t tile, const LogicalTile<T>& loaded, const CarryType& carry,
                    Out* results, CarryType* total) {
    const bool fits = TileScan::Write(loaded, carry, rules_, results, total);
    if (!fits) fits_.store(false, std::memory_order_relaxed);
    if (!kGrouped && tile == 0 && rules_.exclusive && !continues_) {
      StoreResult<Operator>(Operator::EmptyResult(), rules_.wrap, rules_.mirror_bits, &results[0]);
    }
  }

  absl::Status RunInOneLook(Chain& chain, JobContext& job) {
    return job.ForEach(1, [&](uint64_t) {
      for (uint64_t tile = 0; tile < tiles_ && !job.stop.stop_requested(); ++tile) {
        CarryType total = Carry::Identity();
        Write(tile, chain.Next(), &total);
        chain.Push(total);
      }
    });
  }

  absl::Status RunInTurns(Chain& chain, JobContext& job) {
    Turns turns((tiles_ + kPieceTiles - 1) / kPieceTiles);
    return job.ForEach(job.threads, [&](uint64_t) {
      while (!job.stop.stop_requested()) {
        const std::optional<uint64_t> piece = turns.Take();
        if (!piece.has_value()) return;
        RunPiece(*piece, turns, chain);
      }
    });
  }

  void RunPiece(uint64_t piece, Turns& turns, Chain& chain) {
    const uint64_t first = piece * kPieceTiles;
    const uint64_t count = std::min(kPieceTiles, tiles_ - first);
    CarryType carries[kPieceTiles];
    for (uint64_t i = 0; i < count; ++i) carries[i] = Total(first + i);
    turns.Wait(piece);
    for (uint64_t i = 0; i < count; ++i) {
      const CarryType total = carries[i];
      carries[i] = chain.Next();
      chain.Push(total);
    }
    turns.Pass(piece);
    for (uint64_t i = 0; i < count; ++i) Write(first + i, carries[i], nullptr);
  }

  const ScanPlan& plan_;
  ScanCarry* const carry_;
  const bool continues_;
  ScanRules rules_;
  const bool reverse_;
  const uint64_t count_;
  const uint64_t tiles_;
  const std::byte* const input_;
  std::byte* const output_;
  const uint64_t output_bytes_;
  CarryType next_carry_ = Carry::Identity();
  std::atomic<bool> fits_ = true;
};

// Runs a scan whose results must fit.
template <class Scan>
absl::Status RunToEnd(const ScanPlan& plan, Scan&& scan, JobContext& job) {
  const absl::Status status = scan.Run(job);
  if (!status.ok()) return status;
  if (!scan.fits()) return ScanOverflowError(plan);
  scan.LeaveCarry();
  return absl::OkStatus();
}

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_SCAN_CONTIGUOUS_H_
