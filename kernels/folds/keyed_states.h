// The states of groups that become known one after the other, while batches of their elements are
// reduced by key. For folds only. Not thread-safe.
#ifndef GRIDFOLD_KERNELS_FOLDS_KEYED_STATES_H_
#define GRIDFOLD_KERNELS_FOLDS_KEYED_STATES_H_

#include <algorithm>
#include <cstdint>
#include <deque>
#include <utility>
#include <variant>
#include <vector>

#include "kernels/accumulators/state.h"
#include "kernels/contract/keyed_reduction.h"

namespace gridfold::kernels {

// S is the compute type of the values. Takes memory for groups that have elements only.
template <class S>
class KeyedStates {
 public:
  // `parts` are those of a state that are needed; `sign` is what turns a group into a number that
  // is ordered as groups are (kKeySign of numerics/arithmetic/ordered_key.h; 0 where they are no
  // keys).
  KeyedStates(uint32_t parts, uint64_t sign) : parts_(parts), sign_(sign) {}

  uint64_t group_count() const { return entries_.size(); }
  uint64_t size_bytes() const { return entries_.size() * (sizeof(Entry) + sizeof(FullState<S>)); }

  // Adds what a lane has returned for a plan with return_states.
  void Add(const KeyedReductionResult& result) {
    if (result.groups.empty()) return;
    const auto& states = std::get<GroupStates<S>>(result.reduction.states);
    std::vector<Entry> fresh;
    auto at = entries_.begin();
    for (uint64_t i = 0; i < result.groups.size(); ++i) {
      const uint64_t number = result.groups[i] ^ sign_;
      const uint64_t count = result.offsets[i + 1] - result.offsets[i];
      at = std::lower_bound(at, entries_.end(), number,
                            [](const Entry& entry, uint64_t n) { return entry.number < n; });
      if (at != entries_.end() && at->number == number) {
        at->element_count += count;
        MergeParts(parts_, states[i], states_[at->place]);
      } else {
        fresh.push_back({number, count, states_.size()});
        states_.push_back(states[i]);
      }
    }
    Insert(fresh);
  }

  // The groups, in order.
  std::vector<uint64_t> groups() const {
    std::vector<uint64_t> groups;
    groups.reserve(entries_.size());
    for (const Entry& entry : entries_) groups.push_back(entry.number ^ sign_);
    return groups;
  }

  // Calls visit(group, number of elements, state) for each group in order, until it returns false.
  template <class Visit>
  void ForEach(Visit visit) const {
    for (const Entry& entry : entries_) {
      if (!visit(entry.number ^ sign_, entry.element_count, states_[entry.place])) return;
    }
  }

  // Forgets the groups before `end`, where groups are no keys.
  void RemoveBefore(uint64_t end) {
    std::vector<Entry> kept;
    std::deque<FullState<S>> states;
    for (const Entry& entry : entries_) {
      if (entry.number < end) continue;
      kept.push_back({entry.number, entry.element_count, states.size()});
      states.push_back(states_[entry.place]);
    }
    entries_ = std::move(kept);
    states_ = std::move(states);
  }

 private:
  struct Entry {
    uint64_t number;
    uint64_t element_count;
    uint64_t place;  // Of its state.
  };

  void Insert(const std::vector<Entry>& fresh) {
    if (fresh.empty()) return;
    const auto known = static_cast<ptrdiff_t>(entries_.size());
    entries_.insert(entries_.end(), fresh.begin(), fresh.end());
    std::inplace_merge(entries_.begin(), entries_.begin() + known, entries_.end(),
                       [](const Entry& a, const Entry& b) { return a.number < b.number; });
  }

  const uint32_t parts_;
  const uint64_t sign_;
  std::vector<Entry> entries_;       // In order.
  std::deque<FullState<S>> states_;  // In the order in which groups came; they never move.
};

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_FOLDS_KEYED_STATES_H_
