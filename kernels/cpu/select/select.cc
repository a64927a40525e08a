#include "kernels/cpu/select/select.h"

#include <algorithm>
#include <cstring>

namespace gridfold::kernels::cpu {

namespace {

using UnitTile = std::byte[kSelectionTile * sizeof(uint64_t)];

// Elements of [begin, end) that count.
uint64_t CountSelected(const HostSpan& mask, uint64_t begin, uint64_t end) {
  if (mask.data == nullptr) return end - begin;
  uint64_t count = 0;
  for (uint64_t i = begin; i < end; ++i) count += std::to_integer<uint8_t>(mask.data[i]);
  return count;
}

// Copies the elements of [begin, end), no more than a tile, that count.
template <class Unit>
void CopySelected(const std::byte* input, const HostSpan& mask, uint64_t begin, uint64_t end,
                  std::byte* to) {
  if (mask.data == nullptr) {
    std::memcpy(to, input + begin * sizeof(Unit), (end - begin) * sizeof(Unit));
    return;
  }
  // Each is written, and its place kept where it counts: no branch to foresee.
  alignas(Unit) UnitTile tile;
  uint64_t count = 0;
  for (uint64_t i = begin; i < end; ++i) {
    std::memcpy(tile + count * sizeof(Unit), input + i * sizeof(Unit), sizeof(Unit));
    count += std::to_integer<uint8_t>(mask.data[i]);
  }
  std::memcpy(to, tile, count * sizeof(Unit));
}

template <class Unit>
void ReplaceTile(const ElementBytes& replacement, const std::byte* input, const std::byte* mask,
                 uint64_t begin, uint64_t end, std::byte* output) {
  Unit other;
  std::memcpy(&other, replacement.data(), sizeof(Unit));
  for (uint64_t i = begin; i < end; ++i) {
    Unit element;
    std::memcpy(&element, input + i * sizeof(Unit), sizeof(Unit));
    if (mask[i] == std::byte{0}) element = other;
    std::memcpy(output + i * sizeof(Unit), &element, sizeof(Unit));
  }
}

// Calls f with a value of an unsigned type of so many bytes.
template <class F>
auto VisitUnit(uint64_t element_bytes, F f) {
  switch (element_bytes) {
    case 1: return f(uint8_t{});
    case 2: return f(uint16_t{});
    case 4: return f(uint32_t{});
  }
  return f(uint64_t{});
}

uint64_t TileEnd(uint64_t tile, uint64_t element_count) {
  return std::min((tile + 1) * kSelectionTile, element_count);
}

// The group that element i is in.
uint64_t GroupOf(const SelectionPlan& plan, uint64_t i) {
  const Grouping& grouping = plan.grouping;
  if (grouping.kind != GroupingKind::kSegments) return i / grouping.group_size;
  const auto after = std::upper_bound(grouping.offsets.begin(), grouping.offsets.end(), i);
  return static_cast<uint64_t>(after - grouping.offsets.begin()) - 1;
}

class Selection {
 public:
  Selection(const SelectionPlan& plan, const HostSpan& input, const HostSpan& mask,
            std::span<uint64_t> tile_starts, std::byte* selected)
      : plan_(plan), input_(input), mask_(mask), tile_starts_(tile_starts), selected_(selected) {}

  absl::StatusOr<std::vector<uint64_t>> Run(JobContext& job) {
    absl::Status status = job.ForEach(plan_.tile_count(), [&](uint64_t tile) {
      tile_starts_[tile] =
          CountSelected(mask_, tile * kSelectionTile, TileEnd(tile, plan_.element_count));
    });
    if (!status.ok()) return status;
    uint64_t before = 0;
    for (uint64_t& start : tile_starts_.first(plan_.tile_count())) {
      before += std::exchange(start, before);
    }
    tile_starts_[plan_.tile_count()] = before;
    status = job.ForEach(plan_.tile_count(), [&](uint64_t tile) {
      VisitUnit(plan_.element_bytes, [&](auto unit) { CopyTile<decltype(unit)>(tile); });
    });
    if (!status.ok()) return status;
    return MakeOffsets(job);
  }

 private:
  template <class Unit>
  void CopyTile(uint64_t tile) {
    uint64_t begin = tile * kSelectionTile;
    const uint64_t end = TileEnd(tile, plan_.element_count);
    uint64_t to = tile_starts_[tile];
    if (!plan_.initial) {
      CopySelected<Unit>(input_.data, mask_, begin, end, selected_ + to * sizeof(Unit));
      return;
    }
    for (uint64_t g = GroupOf(plan_, begin); begin < end; ++g) {
      const uint64_t group_end = std::min(plan_.GroupBegin(g + 1), end);
      CopySelected<Unit>(input_.data, mask_, begin, group_end,
                         selected_ + (to + g + 1) * sizeof(Unit));
      to += CountSelected(mask_, begin, group_end);
      begin = group_end;
    }
  }

  absl::StatusOr<std::vector<uint64_t>> MakeOffsets(JobContext& job) {
    const uint64_t group_count = plan_.grouping.group_count;
    std::vector<uint64_t> offsets(group_count + 1);
    const absl::Status status = job.ForEach(group_count + 1, [&](uint64_t g) {
      const uint64_t begin = plan_.GroupBegin(g);
      const uint64_t tile = begin / kSelectionTile;
      offsets[g] = tile_starts_[tile] + CountSelected(mask_, tile * kSelectionTile, begin) +
                   (plan_.initial ? g : 0);
      if (!plan_.initial || g == group_count) return;
      std::memcpy(selected_ + offsets[g] * plan_.element_bytes, plan_.initial->data(),
                  plan_.element_bytes);
    });
    if (!status.ok()) return status;
    return offsets;
  }

  const SelectionPlan& plan_;
  const HostSpan input_;
  const HostSpan mask_;
  const std::span<uint64_t> tile_starts_;
  std::byte* const selected_;
};

}  // namespace

absl::StatusOr<std::vector<uint64_t>> SelectOnCpu(const SelectionPlan& plan, const HostSpan& input,
                                                  const HostSpan& mask,
                                                  std::span<uint64_t> tile_starts,
                                                  std::byte* selected, JobContext& job) {
  job.statistics.strategy = "select/tiles";
  job.statistics.bytes_read = input.size_bytes + mask.size_bytes;
  return Selection(plan, input, mask, tile_starts, selected).Run(job);
}

absl::Status FindSelectedOnCpu(const HostSpan& mask, std::span<const uint64_t> tile_starts,
                               std::span<uint64_t> places, JobContext& job) {
  job.statistics.strategy = "select/places";
  return job.ForEach(places.size(), [&](uint64_t p) {
    const uint64_t rank = places[p];
    // The last tile that begins with no more elements before it.
    const auto after = std::upper_bound(tile_starts.begin(), tile_starts.end(), rank);
    const auto tile = static_cast<uint64_t>(after - tile_starts.begin()) - 1;
    uint64_t left = rank - tile_starts[tile];
    uint64_t i = tile * kSelectionTile;
    for (; mask.data[i] == std::byte{0} || left > 0; ++i) {
      if (mask.data[i] != std::byte{0}) --left;
    }
    places[p] = i;
  });
}

absl::Status ReplaceOnCpu(uint64_t element_bytes, const ElementBytes& replacement,
                          const HostSpan& input, const HostSpan& mask, std::byte* output,
                          JobContext& job) {
  job.statistics.strategy = "select/replace";
  job.statistics.bytes_read = input.size_bytes + mask.size_bytes;
  const uint64_t element_count = mask.size_bytes;
  const uint64_t tiles = (element_count + kSelectionTile - 1) / kSelectionTile;
  return job.ForEach(tiles, [&](uint64_t tile) {
    VisitUnit(element_bytes, [&](auto unit) {
      ReplaceTile<decltype(unit)>(replacement, input.data, mask.data, tile * kSelectionTile,
                                  TileEnd(tile, element_count), output);
    });
  });
}

}  // namespace gridfold::kernels::cpu
