// Elements of a group by their rank, found by a team.
#ifndef GRIDFOLD_KERNELS_CUDA_ORDER_TEAM_SELECT_CUH_
#define GRIDFOLD_KERNELS_CUDA_ORDER_TEAM_SELECT_CUH_

#include <cstdint>
#include <type_traits>

#include "kernels/cuda/order/team.cuh"

namespace gridfold::kernels::cuda {

// Digits of keys are counted from the highest down. A group that fits into shared memory is read
// once; of another one the keys that share the first digits with the wanted one are kept there as
// soon as they fit. All members are called by all threads of the team.
template <class Team, class T>
class TeamSelect {
 public:
  using Key = OrderKey<T>;
  // In which digits are taken.
  using Word = std::conditional_t<sizeof(Key) == 8, uint64_t, uint32_t>;

  struct Found {
    Key key;
    uint32_t left;   // Its place among the equal ones,
    uint32_t equal;  // of which there are so many.
  };

  __device__ TeamSelect(TeamTables<Team>& tables, Key* keys, uint32_t room, KeyKind kind)
      : tables_(tables), keys_(keys), room_(room), to_key_{kind} {}

  // Reads the group, and counts its NaNs.
  __device__ void Load(const T* elements, uint32_t count) {
    elements_ = elements;
    count_ = count;
    holds_all_ = count <= room_;
    Clear(tables_.first);
    Team::Sync();
    uint32_t nans = 0;
    Key* const keys = holds_all_ ? keys_ : nullptr;
    ForAll([&](Key key, uint64_t index) {
      atomicAdd(&tables_.first[DigitAt(key, 0)], 1u);
      nans += IsNanKey<T>(key) ? 1 : 0;
      if (keys != nullptr) keys[index] = key;
    });
    nan_count_ = static_cast<uint32_t>(SumBefore<Team>(nans, tables_).total);
    Team::Sync();
  }

  __device__ uint32_t nan_count() const { return nan_count_; }

  __device__ Found Find(uint32_t rank) {
    kept_count_ = 0;
    uint32_t left = rank;
    Word prefix = 0;
    FindDigit(tables_.first, left, tables_);
    Descend(0, prefix, left);
    for (uint32_t level = 1; level < kLevels; ++level) {
      const uint32_t above = Shift(level) + Width(level);
      if (!holds_all_ && kept_count_ == 0 && tables_.here <= room_) Keep(prefix, above);
      Clear(tables_.counts);
      Team::Sync();
      const auto count = [&](Key key) {
        if ((static_cast<Word>(key) >> above) == (prefix >> above)) {
          atomicAdd(&tables_.counts[DigitAt(key, level)], 1u);
        }
      };
      if (kept_count_ > 0 || holds_all_) {
        ForKept(count);
      } else {
        ForAll([&](Key key, uint64_t) { count(key); });
      }
      Team::Sync();
      FindDigit(tables_.counts, left, tables_);
      Descend(level, prefix, left);
    }
    const Found found{static_cast<Key>(prefix), left, tables_.here};
    Team::Sync();  // Everybody has read the tables.
    return found;
  }

  // The smallest key above the one that was found, which is not the largest.
  __device__ Key NextAbove(Key key) {
    uint64_t next = ~uint64_t{0};
    const auto look = [&](Key other) {
      if (other > key && other < next) next = other;
    };
    if (kept_count_ > 0 || holds_all_) {
      ForKept(look);
      next = TeamMin<Team>(next, tables_);
      // Keys of another prefix are above all that were kept.
      if (holds_all_ || next != ~uint64_t{0}) return static_cast<Key>(next);
    }
    ForAll([&](Key other, uint64_t) { look(other); });
    return static_cast<Key>(TeamMin<Team>(next, tables_));
  }

 private:
  static constexpr uint32_t kKeyBits = 8 * sizeof(Key);
  static constexpr uint32_t kLevels = LevelCount(kKeyBits, Team::kDigitBits);

  __device__ static uint32_t Shift(uint32_t level) {
    return ShiftAt(kKeyBits, Team::kDigitBits, level);
  }
  __device__ static uint32_t Width(uint32_t level) {
    return WidthAt(kKeyBits, Team::kDigitBits, level);
  }
  __device__ static uint32_t DigitAt(Key key, uint32_t level) {
    return static_cast<uint32_t>(static_cast<Word>(key) >> Shift(level)) &
           ((1u << Width(level)) - 1);
  }

  __device__ static void Clear(uint32_t* counts) {
    for (uint32_t i = RankInTeam<Team>(); i < TeamTables<Team>::kDigits; i += Team::kThreads) {
      counts[i] = 0;
    }
  }

  __device__ void Descend(uint32_t level, Word& prefix, uint32_t& left) const {
    prefix |= static_cast<Word>(tables_.digit) << Shift(level);
    left -= tables_.before;
  }

  template <class Visit>
  __device__ void ForAll(Visit visit) const {
    ForEachElement(elements_, count_, WarpInTeam<Team>(), kTeamWarps<Team>,
                   [&](T x, uint64_t index, bool is_valid) {
                     if (is_valid) visit(to_key_(x), index);
                   });
  }

  template <class Visit>
  __device__ void ForKept(Visit visit) const {
    const uint32_t count = holds_all_ ? count_ : kept_count_;
    for (uint32_t i = RankInTeam<Team>(); i < count; i += Team::kThreads) visit(keys_[i]);
  }

  __device__ void Keep(Word prefix, uint32_t above) {
    kept_count_ = tables_.here;
    if (RankInTeam<Team>() == 0) tables_.cursor = 0;
    Team::Sync();
    ForAll([&](Key key, uint64_t) {
      if ((static_cast<Word>(key) >> above) == (prefix >> above)) {
        keys_[atomicAdd(&tables_.cursor, 1u)] = key;
      }
    });
    Team::Sync();
  }

  TeamTables<Team>& tables_;
  Key* const keys_;
  const uint32_t room_;
  const ElementKeys<T> to_key_;
  const T* elements_ = nullptr;
  uint32_t count_ = 0;
  uint32_t nan_count_ = 0;
  uint32_t kept_count_ = 0;
  bool holds_all_ = false;
};

// The groups of a grid's teams, one after the other.
struct GroupPlace {
  uint64_t begin;
  uint64_t size;
};
__device__ inline GroupPlace PlaceOfGroup(const OrderGroups& groups, uint64_t group) {
  if (groups.offsets == nullptr) return {group * groups.size, groups.size};
  const uint64_t begin = groups.offsets[group];
  return {begin, groups.offsets[group + 1] - begin};
}
template <class Team, class Visit>
__device__ void ForEachGroup(const OrderGroups& groups, Visit visit) {
  constexpr uint32_t kTeams = Team::kBlockThreads / Team::kThreads;
  const uint64_t first = uint64_t{blockIdx.x} * kTeams + TeamInBlock<Team>();
  for (uint64_t g = first; g < groups.group_count; g += uint64_t{gridDim.x} * kTeams) {
    const GroupPlace place = PlaceOfGroup(groups, g);
    if (place.size > 0 && place.size <= groups.size_max) visit(g, place);
  }
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_ORDER_TEAM_SELECT_CUH_
