#include "kernels/cuda/order/team_select.cuh"

namespace gridfold::kernels::cuda {

namespace {

// A block for each group.
template <class T>
__global__ void __launch_bounds__(kOrderBlockThreads)
    QuantilesOfGroups(const QuantileArguments arguments) {
  using Key = OrderKey<T>;
  extern __shared__ __align__(16) unsigned char memory[];
  auto& tables = *reinterpret_cast<TeamTables<BlockTeam>*>(memory);
  Key* const keys = reinterpret_cast<Key*>(memory + sizeof(TeamTables<BlockTeam>));
  TeamSelect<BlockTeam, T> select(tables, keys, arguments.buffered_keys, KeyKind{});
  const T* const elements = static_cast<const T*>(arguments.groups.elements);
  ForEachGroup<BlockTeam>(arguments.groups, [&](uint64_t g, const GroupPlace& place) {
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
      if (RankInTeam<BlockTeam>() == 0)
        arguments.slots[t * arguments.groups.group_count + g] = slot;
    }
    BlockTeam::Sync();  // The next group takes the same memory.
  });
}

}  // namespace

uint64_t TeamTablesBytes(bool by_warps) {
  return by_warps ? sizeof(TeamTables<WarpTeam>) : sizeof(TeamTables<BlockTeam>);
}

QuantileKernel FindQuantileKernel(ElementType type) {
  return VisitElementType(type, [](auto tag) -> QuantileKernel {
    return QuantilesOfGroups<typename decltype(tag)::type>;
  });
}

}  // namespace gridfold::kernels::cuda
