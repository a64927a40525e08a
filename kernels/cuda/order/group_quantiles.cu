#include "kernels/cuda/order/team_select.cuh"

namespace gridfold::kernels::cuda {

namespace {

template <class Team, class T>
__global__ void __launch_bounds__(Team::kBlockThreads)
    QuantilesOfGroups(const QuantileArguments arguments) {
  using Key = OrderKey<T>;
  extern __shared__ __align__(16) unsigned char memory[];
  constexpr uint32_t kTeams = Team::kBlockThreads / Team::kThreads;
  auto& tables = reinterpret_cast<TeamTables<Team>*>(memory)[TeamInBlock<Team>()];
  Key* const keys = reinterpret_cast<Key*>(memory + kTeams * sizeof(TeamTables<Team>)) +
                    TeamInBlock<Team>() * arguments.buffered_keys;
  TeamSelect<Team, T> select(tables, keys, arguments.buffered_keys, KeyKind{});
  const T* const elements = static_cast<const T*>(arguments.groups.elements);
  ForEachGroup<Team>(arguments.groups, [&](uint64_t g, const GroupPlace& place) {
    select.Load(elements + place.begin, static_cast<uint32_t>(place.size));
    const uint64_t numbers = place.size - select.nan_count();
    const bool is_nan = select.nan_count() > 0 && !arguments.ignores_nan;
    for (uint32_t t = 0; t < arguments.target_count; ++t) {
      const QuantileTarget target = arguments.targets[t];
      uint64_t slot = kNanSlot;
      if (!is_nan && HasPlace(target, numbers)) {
        const QuantilePlace at = PlaceOf(target, numbers, arguments.method);
        const auto found = select.Find(static_cast<uint32_t>(at.lower));
        Key upper = found.key;
        if (at.upper != at.lower && found.left + 1 == found.equal) {
          upper = select.NextAbove(found.key);
        }
        slot = TargetSlot<T>(target, at.weight, arguments.method, found.key, upper);
      }
      if (RankInTeam<Team>() == 0) arguments.slots[t * arguments.groups.group_count + g] = slot;
    }
    Team::Sync();  // The next group takes the same memory.
  });
}

}  // namespace

uint64_t TeamTablesBytes(bool by_warps) {
  return by_warps ? sizeof(TeamTables<WarpTeam>) : sizeof(TeamTables<BlockTeam>);
}

QuantileKernel FindQuantileKernel(ElementType type, bool by_warps) {
  return VisitElementType(type, [by_warps](auto tag) -> QuantileKernel {
    using T = typename decltype(tag)::type;
    return by_warps ? QuantilesOfGroups<WarpTeam, T> : QuantilesOfGroups<BlockTeam, T>;
  });
}

}  // namespace gridfold::kernels::cuda
