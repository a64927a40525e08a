// Elements by their rank, of a group that is read several times and never copied.
//
// A pass counts the digits of the keys, from the highest down: first of all keys, then of those
// alone whose higher digits are those of a wanted one. Prefixes of wanted keys make a tree, a node
// for each. When few enough keys are left they are collected and partially sorted.
#ifndef GRIDFOLD_KERNELS_CPU_ORDER_DIGIT_COUNTS_H_
#define GRIDFOLD_KERNELS_CPU_ORDER_DIGIT_COUNTS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "kernels/cpu/base/job_context.h"
#include "kernels/cpu/order/rank_select.h"
#include "kernels/numerics/arithmetic/element.h"
#include "kernels/numerics/order/order_key.h"

namespace gridfold::kernels::cpu {

// Counts of a node fit the first-level cache.
inline constexpr int kDigitBits = 11;
inline constexpr size_t kDigitCount = size_t{1} << kDigitBits;
// Keys that are collected at most.
inline constexpr uint64_t kCollectedMax = uint64_t{1} << 18;

// The keys of one group at some ranks.
template <class T>
class DigitCounts {
 public:
  using Key = OrderKey<T>;

  DigitCounts(HostSpan group, JobContext& job)
      : data_(group.data), count_(group.size_bytes / sizeof(T)), job_(job) {
    const uint64_t chunks_worth = (count_ + kChunkElements - 1) / kChunkElements;
    chunk_count_ = std::min(static_cast<uint64_t>(job.threads), chunks_worth);
  }

  // The first pass, which counts NaNs as well.
  absl::Status CountAll() {
    std::vector<uint64_t> nans(chunk_count_);
    const absl::Status status = Pass([&](uint64_t chunk, Key key, std::vector<uint64_t>& counts) {
      ++counts[DigitAt(key, 0)];
      nans[chunk] += IsNanKey<T>(key) ? 1 : 0;
    });
    for (const uint64_t count : nans) nan_count_ += count;
    return status;
  }

  uint64_t nan_count() const { return nan_count_; }

  // Finds the keys at these ranks, which increase and are below the number of elements.
  absl::Status Find(std::span<const uint64_t> ranks) {
    for (const uint64_t rank : ranks) wanted_.push_back({.rank = rank});
    for (level_ = 0;; ++level_) {
      const uint64_t left = Descend();
      if (level_ + 1 == kLevelCount) return absl::OkStatus();
      if (left <= kCollectedMax) return Collect();
      const absl::Status status = Pass([&](uint64_t, Key key, std::vector<uint64_t>& counts) {
        const int64_t node = NodeOf(key);
        if (node >= 0) {
          ++counts[static_cast<size_t>(node) * kDigitCount + DigitAt(key, level_ + 1)];
        }
      });
      if (!status.ok()) return status;
    }
  }

  // Of the ranks of Find, in their order.
  Key key(size_t i) const { return wanted_[i].key; }

 private:
  static constexpr int kKeyBits = 8 * sizeof(T);
  static constexpr int kLevelCount = (kKeyBits + kDigitBits - 1) / kDigitBits;
  static constexpr uint64_t kChunkElements = uint64_t{1} << 16;

  struct Wanted {
    uint64_t rank = 0;  // Among the keys of its node.
    size_t node = 0;
    Key key = 0;  // Its digits that are known.
  };

  static constexpr int ShiftAt(int level) {
    return std::max(0, kKeyBits - kDigitBits * (level + 1));
  }
  static size_t DigitAt(Key key, int level) {
    const int width = kKeyBits - kDigitBits * level - ShiftAt(level);
    return static_cast<size_t>(key >> ShiftAt(level)) & ((size_t{1} << width) - 1);
  }

  // Counts by `count(chunk, key, counts)` into counts_, which has a table for each node.
  template <class Count>
  absl::Status Pass(Count count) {
    std::vector<std::vector<uint64_t>> parts(chunk_count_);
    const absl::Status status = ForEachChunk([&](uint64_t chunk, uint64_t begin, uint64_t end) {
      parts[chunk].resize(node_count_ * kDigitCount);
      for (uint64_t i = begin; i < end; ++i) {
        count(chunk, ToOrderKey(LoadUnaligned<T>(data_, i)), parts[chunk]);
      }
    });
    if (!status.ok()) return status;
    counts_ = std::move(parts[0]);
    for (size_t part = 1; part < parts.size(); ++part) {
      for (size_t i = 0; i < counts_.size(); ++i) counts_[i] += parts[part][i];
    }
    return absl::OkStatus();
  }

  template <class Work>
  absl::Status ForEachChunk(Work work) {
    return job_.ForEach(chunk_count_, [&](uint64_t chunk) {
      work(chunk, ChunkBegin(chunk), ChunkBegin(chunk + 1));
    });
  }
  uint64_t ChunkBegin(uint64_t chunk) const {
    return count_ / chunk_count_ * chunk + std::min(chunk, count_ % chunk_count_);
  }

  // Moves the wanted keys to the nodes of their next digit. How many keys these nodes have.
  uint64_t Descend() {
    std::vector<int32_t>& children = children_[level_];
    children.assign(node_count_ * kDigitCount, -1);
    node_count_ = 0;
    uint64_t left = 0;
    for (Wanted& wanted : wanted_) {
      const uint64_t* const counts = &counts_[wanted.node * kDigitCount];
      size_t digit = 0;
      while (wanted.rank >= counts[digit]) wanted.rank -= counts[digit++];
      wanted.key = static_cast<Key>(wanted.key | (static_cast<Key>(digit) << ShiftAt(level_)));
      int32_t& child = children[wanted.node * kDigitCount + digit];
      if (child < 0) {
        child = static_cast<int32_t>(node_count_++);
        left += counts[digit];
      }
      wanted.node = static_cast<size_t>(child);
    }
    return left;
  }

  // The node of a key, by its digits so far; negative where it is in none.
  int64_t NodeOf(Key key) const {
    int64_t node = 0;
    for (int level = 0; level <= level_ && node >= 0; ++level) {
      node = children_[level][static_cast<size_t>(node) * kDigitCount + DigitAt(key, level)];
    }
    return node;
  }

  // Sorts out the keys of all nodes, which are few.
  absl::Status Collect() {
    std::vector<std::vector<std::vector<Key>>> parts(chunk_count_);
    const absl::Status status = ForEachChunk([&](uint64_t chunk, uint64_t begin, uint64_t end) {
      parts[chunk].resize(node_count_);
      for (uint64_t i = begin; i < end; ++i) {
        const Key key = ToOrderKey(LoadUnaligned<T>(data_, i));
        const int64_t node = NodeOf(key);
        if (node >= 0) parts[chunk][static_cast<size_t>(node)].push_back(key);
      }
    });
    if (!status.ok()) return status;
    std::vector<Key> keys;
    // The wanted ones of a node follow one another, since ranks increase.
    for (auto first = wanted_.begin(); first != wanted_.end();) {
      const auto last = std::find_if(
          first, wanted_.end(), [&](const Wanted& wanted) { return wanted.node != first->node; });
      keys.clear();
      for (const auto& part : parts) {
        keys.insert(keys.end(), part[first->node].begin(), part[first->node].end());
      }
      std::vector<uint64_t> ranks;
      for (auto wanted = first; wanted != last; ++wanted) ranks.push_back(wanted->rank);
      SelectRanks<Key>(keys, ranks);
      for (; first != last; ++first) first->key = keys[first->rank];
    }
    return absl::OkStatus();
  }

  const std::byte* const data_;
  const uint64_t count_;
  JobContext& job_;
  uint64_t chunk_count_ = 1;
  uint64_t nan_count_ = 0;
  int level_ = 0;
  size_t node_count_ = 1;  // Of the level below; at first all keys are one.
  std::vector<uint64_t> counts_;
  std::vector<int32_t> children_[kLevelCount];
  std::vector<Wanted> wanted_;
};

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_ORDER_DIGIT_COUNTS_H_
