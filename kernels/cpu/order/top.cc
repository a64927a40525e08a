#include "kernels/cpu/order/top.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "kernels/cpu/base/pieces.h"
#include "kernels/numerics/arithmetic/element.h"
#include "kernels/numerics/order/order_key.h"

namespace gridfold::kernels::cpu {

namespace {

// What a thread takes at a time of small groups, and at least of a large one.
constexpr uint64_t kElementsTogether = uint64_t{1} << 16;

template <class Key>
struct Selected {
  Key key;
  uint64_t index;

  // Whether this one comes before the other.
  friend bool operator<(const Selected& a, const Selected& b) {
    return a.key != b.key ? a.key > b.key : a.index < b.index;
  }
};

// The first `count` of those that were added.
template <class Key>
class TopKeeper {
 public:
  TopKeeper(uint64_t count, uint64_t room) : count_(count) {
    kept_.reserve(std::min(2 * count, room));
  }

  void Clear() {
    kept_.clear();
    is_full_ = false;
  }

  void Add(Key key, uint64_t index) {
    if (is_full_ && !(Selected<Key>{key, index} < worst_)) return;
    kept_.push_back({key, index});
    if (kept_.size() >= 2 * count_) Cut();
  }

  // All that were added, or more than `count` of them.
  const std::vector<Selected<Key>>& kept() const { return kept_; }

  // Sorts those that stay.
  const std::vector<Selected<Key>>& Finish() {
    if (kept_.size() > count_) Cut();
    std::sort(kept_.begin(), kept_.end());
    return kept_;
  }

 private:
  void Cut() {
    const auto last = kept_.begin() + static_cast<ptrdiff_t>(count_) - 1;
    std::nth_element(kept_.begin(), last, kept_.end());
    worst_ = *last;
    is_full_ = true;
    kept_.resize(count_);
  }

  const uint64_t count_;
  std::vector<Selected<Key>> kept_;
  bool is_full_ = false;
  Selected<Key> worst_{};  // Of the kept ones, when they were cut.
};

template <class T>
class TopOfGroups {
 public:
  using Key = OrderKey<T>;

  TopOfGroups(const TopPlan& plan, HostSpan input, TopResult& result)
      : plan_(plan), input_(input), result_(result) {}

  absl::Status Run(JobContext& job) {
    const Grouping& grouping = plan_.grouping;
    if (grouping.group_count == 0) return absl::OkStatus();
    const uint64_t size = grouping.group_size;
    // With enough groups each is one thread's.
    absl::Status status =
        grouping.group_count < static_cast<uint64_t>(job.threads) && size >= 2 * kElementsTogether
            ? InParts(job)
            : Together(job);
    if (!status.ok()) return status;
    const uint64_t lacking = lacking_.load();
    return lacking == kNone ? absl::OkStatus() : TooFewNumbers(plan_, lacking);
  }

 private:
  static constexpr uint64_t kNone = std::numeric_limits<uint64_t>::max();

  void AddElements(uint64_t group, uint64_t begin, uint64_t end, TopKeeper<Key>& keeper) const {
    const std::byte* const data = input_.data + GroupBegin(plan_.grouping, group) * sizeof(T);
    const bool ignores_nan = plan_.ignores_nan();
    for (uint64_t i = begin; i < end; ++i) {
      keeper.Add(ToSelectionKey(LoadUnaligned<T>(data, i), plan_.smallest, ignores_nan), i);
    }
  }

  absl::Status Together(JobContext& job) {
    const Grouping& grouping = plan_.grouping;
    const uint64_t together =
        std::max<uint64_t>(kElementsTogether / std::max<uint64_t>(grouping.group_size, 1), 1);
    return job.ForEach((grouping.group_count + together - 1) / together, [&](uint64_t turn) {
      TopKeeper<Key> keeper(plan_.count, grouping.group_size);
      const uint64_t end = std::min((turn + 1) * together, grouping.group_count);
      for (uint64_t g = turn * together; g < end; ++g) {
        keeper.Clear();
        AddElements(g, 0, GroupSize(grouping, g), keeper);
        Write(g, keeper);
      }
    });
  }

  absl::Status InParts(JobContext& job) {
    for (uint64_t g = 0; g < plan_.grouping.group_count; ++g) {
      const uint64_t size = GroupSize(plan_.grouping, g);
      const uint64_t part_size = std::max(kElementsTogether, 8 * plan_.count);
      const uint64_t parts =
          std::clamp<uint64_t>(size / part_size, 1, static_cast<uint64_t>(job.threads));
      std::vector<TopKeeper<Key>> keepers;
      keepers.reserve(parts);
      for (uint64_t p = 0; p < parts; ++p) keepers.emplace_back(plan_.count, size);
      const absl::Status status = job.ForEach(parts, [&](uint64_t p) {
        AddElements(g, size / parts * p + std::min(p, size % parts),
                    size / parts * (p + 1) + std::min(p + 1, size % parts), keepers[p]);
      });
      if (!status.ok()) return status;
      for (uint64_t p = 1; p < parts; ++p) {
        for (const Selected<Key>& one : keepers[p].kept()) keepers[0].Add(one.key, one.index);
      }
      Write(g, keepers[0]);
    }
    return absl::OkStatus();
  }

  void Write(uint64_t group, TopKeeper<Key>& keeper) {
    const std::vector<Selected<Key>>& selected = keeper.Finish();
    if (IsIgnoredKey<T>(selected.back().key, plan_.ignores_nan())) {
      Lacks(group);
      return;
    }
    const std::byte* const data = input_.data + GroupBegin(plan_.grouping, group) * sizeof(T);
    for (uint64_t i = 0; i < plan_.count; ++i) {
      const uint64_t index = selected[i].index;
      result_.slots[group * plan_.count + i] = ElementSlot(LoadUnaligned<T>(data, index));
      result_.indices[group * plan_.count + i] = index;
    }
  }

  // Remembers the first one.
  void Lacks(uint64_t group) {
    uint64_t first = lacking_.load();
    while (group < first && !lacking_.compare_exchange_weak(first, group)) {
    }
  }

  const TopPlan& plan_;
  const HostSpan input_;
  TopResult& result_;
  std::atomic<uint64_t> lacking_ = kNone;
};

}  // namespace

absl::StatusOr<TopResult> TopOnCpu(const TopPlan& plan, HostSpan input, JobContext& job) {
  job.statistics.strategy = "top/one-pass";
  job.statistics.bytes_read = input.size_bytes;
  TopResult result = MakeTopResult(plan);
  const absl::Status status = VisitElementType(plan.array.element_type, [&](auto tag) {
    return TopOfGroups<typename decltype(tag)::type>(plan, input, result).Run(job);
  });
  if (!status.ok()) return status;
  return result;
}

}  // namespace gridfold::kernels::cpu
