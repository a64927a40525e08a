#include "kernels/cuda/order/sort.cuh"
#include "kernels/cuda/order/team_select.cuh"

namespace gridfold::kernels::cuda {

namespace {

// Collects the selected elements of one group: those with larger keys than the last one's, and of
// the equal ones those that come first.
template <class Team, class T>
struct GroupCollector {
  TeamTables<Team>& tables;
  ElementKeys<T> to_key;
  OrderKey<T> last_key;
  uint32_t larger;  // Elements with larger keys,
  uint32_t taken;   // and equal ones that are taken.

  // Calls place(position, key, index) for each of them; positions are from 0 on.
  template <class Place>
  __device__ void Collect(const T* elements, uint32_t count, Place place) {
    if (RankInTeam<Team>() == 0) tables.cursor = 0;
    Team::Sync();
    uint32_t equal_before = 0;
    for (uint32_t begin = 0; begin < count; begin += Team::kThreads) {
      const uint32_t i = begin + RankInTeam<Team>();
      const OrderKey<T> key = i < count ? to_key(elements[i]) : OrderKey<T>{0};
      const bool is_equal = i < count && key == last_key;
      if (i < count && key > last_key) place(atomicAdd(&tables.cursor, 1u), key, i);
      if (equal_before >= taken) continue;
      const PrefixSum equal = SumBefore<Team>(is_equal ? 1 : 0, tables);
      const uint64_t order = equal_before + equal.before;
      if (is_equal && order < taken) place(larger + static_cast<uint32_t>(order), key, i);
      equal_before += static_cast<uint32_t>(equal.total);
    }
    Team::Sync();
  }
};

template <class Team, class T>
__global__ void __launch_bounds__(Team::kBlockThreads) TopOfGroups(const TopArguments arguments) {
  using Key = OrderKey<T>;
  extern __shared__ __align__(16) unsigned char memory[];
  constexpr uint32_t kTeams = Team::kBlockThreads / Team::kThreads;
  const uint32_t team = TeamInBlock<Team>();
  auto& tables = reinterpret_cast<TeamTables<Team>*>(memory)[team];
  uint64_t* const sorted = reinterpret_cast<uint64_t*>(memory + kTeams * sizeof(TeamTables<Team>));
  uint64_t* const sorted_keys = sorted + team * 2 * arguments.sorted_room;
  uint64_t* const sorted_indices = sorted_keys + arguments.sorted_room;
  Key* const keys = reinterpret_cast<Key*>(sorted + kTeams * 2 * arguments.sorted_room) +
                    team * arguments.buffered_keys;
  TeamSelect<Team, T> select(tables, keys, arguments.buffered_keys, arguments.kind);
  ForEachGroup<Team>(arguments.groups, [&](uint64_t g, const GroupPlace& place) {
    const T* const elements = static_cast<const T*>(arguments.groups.elements) + place.begin;
    const uint32_t size = static_cast<uint32_t>(place.size);
    const uint32_t count = static_cast<uint32_t>(arguments.count);
    select.Load(elements, size);
    const auto last = select.Find(size - count);
    if (IsIgnoredKey<T>(last.key, arguments.kind.ignores_nan)) {
      if (RankInTeam<Team>() == 0) {
        atomicMin(reinterpret_cast<unsigned long long*>(arguments.lacking_group),
                  static_cast<unsigned long long>(g));
      }
      return;
    }
    // Of the equal ones those above the wanted place are selected with it.
    const uint32_t taken = last.equal - last.left;
    GroupCollector<Team, T> collector{tables, {arguments.kind}, last.key, count - taken, taken};
    uint64_t* const slots = arguments.slots + g * count;
    uint64_t* const indices = arguments.indices + g * count;
    if (!arguments.is_sorted) {
      collector.Collect(elements, size, [&](uint32_t position, Key, uint32_t index) {
        slots[position] = ElementSlot(elements[index]);
        indices[position] = index;
      });
      return;
    }
    for (uint32_t i = RankInTeam<Team>(); i < arguments.sorted_room; i += Team::kThreads) {
      sorted_keys[i] = 0;
      sorted_indices[i] = ~uint64_t{0};
    }
    Team::Sync();
    collector.Collect(elements, size, [&](uint32_t position, Key key, uint32_t index) {
      sorted_keys[position] = key;
      sorted_indices[position] = index;
    });
    SortSelected<Team>(sorted_keys, sorted_indices, arguments.sorted_room);
    for (uint32_t i = RankInTeam<Team>(); i < count; i += Team::kThreads) {
      slots[i] = ElementSlot(elements[sorted_indices[i]]);
      indices[i] = sorted_indices[i];
    }
    Team::Sync();  // The next group takes the same memory.
  });
}

}  // namespace

TopKernel FindTopKernel(ElementType type, bool by_warps) {
  return VisitElementType(type, [by_warps](auto tag) -> TopKernel {
    using T = typename decltype(tag)::type;
    return by_warps ? TopOfGroups<WarpTeam, T> : TopOfGroups<BlockTeam, T>;
  });
}

}  // namespace gridfold::kernels::cuda
