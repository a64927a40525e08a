#include "client/load/work/array_values.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "client/load/work/array_shape.h"
#include "client/load/work/group_walk.h"

namespace gridfold::load {
namespace {

template <typename Draw>
std::vector<int32_t> Fill(const RequestKind& kind, uint64_t element_count, Draw draw) {
  std::vector<int32_t> values(element_count);
  const auto low = static_cast<double>(kind.value_min);
  const auto high = static_cast<double>(kind.value_max);
  for (int32_t& value : values) {
    value = static_cast<int32_t>(std::clamp(std::round(draw()), low, high));
  }
  return values;
}

std::vector<uint64_t> DrawSegments(const RequestKind& kind, uint64_t element_count,
                                   std::mt19937_64& random) {
  std::uniform_int_distribution<uint64_t> length(1, 2 * kind.segment_elements - 1);
  std::vector<uint64_t> offsets = {0};
  while (offsets.back() < element_count) {
    offsets.push_back(std::min(element_count, offsets.back() + length(random)));
  }
  return offsets;
}

// Each key as often as the others, or once more.
std::vector<int32_t> DrawKeys(const RequestKind& kind, uint64_t element_count,
                              std::mt19937_64& random) {
  std::vector<int32_t> keys(element_count);
  for (uint64_t i = 0; i < element_count; ++i) keys[i] = static_cast<int32_t>(i % kind.key_count);
  if (kind.are_keys_sorted) {
    std::sort(keys.begin(), keys.end());
  } else {
    std::shuffle(keys.begin(), keys.end(), random);
  }
  return keys;
}

// Makes elements count so that one of each group does.
void CountOneOfEachGroup(const RequestKind& kind, OperationValues& values) {
  std::vector<bool> has_one(GroupWalk(kind, values).group_count());
  GroupWalk groups(kind, values);
  for (uint64_t i = 0; i < values.elements.size(); ++i) {
    if (values.counts(i)) has_one[groups.GroupOf(i)] = true;
  }
  GroupWalk again(kind, values);
  for (uint64_t i = 0; i < values.elements.size(); ++i) {
    const uint64_t group = again.GroupOf(i);
    if (has_one[group]) continue;
    values.mask[i % values.mask.size()] = 1;
    has_one[group] = true;
  }
}

void DrawMask(const RequestKind& kind, std::mt19937_64& random, OperationValues& values) {
  std::bernoulli_distribution counts(kind.where->part);
  values.mask.resize(ProductOf(MaskShape(*kind.where, values.shape)));
  for (int32_t& element : values.mask) element = counts(random) ? 1 : 0;
  CountOneOfEachGroup(kind, values);
}

// Makes of the elements of an array those of the kind's view.
void ViewElements(const RequestKind& kind, OperationValues& values) {
  const client::StridedView view = ResolveView(*kind.view, values.shape);
  values.viewed_elements = std::exchange(values.elements, {});
  values.elements = TakeView(view, values.shape, values.viewed_elements);
  values.shape = ShapeOf(view);
}

}  // namespace

std::vector<uint64_t> SpreadElementCounts(const RequestKind& kind, size_t array_count) {
  std::vector<uint64_t> counts(array_count);
  for (size_t i = 0; i < array_count; ++i) {
    if (!kind.elements.log_uniform) {
      counts[i] = kind.elements.choices[i % kind.elements.choices.size()];
      continue;
    }
    const auto [low, high] = *kind.elements.log_uniform;
    const double part = (static_cast<double>(i) + 0.5) / static_cast<double>(array_count);
    const double ratio = static_cast<double>(high) / static_cast<double>(low);
    counts[i] = std::clamp(static_cast<uint64_t>(static_cast<double>(low) * std::pow(ratio, part)),
                           low, high);
    counts[i] -= counts[i] % RowElements(kind);
  }
  return counts;
}

std::vector<int32_t> DrawValues(const RequestKind& kind, uint64_t element_count,
                                std::mt19937_64& random) {
  const auto low = static_cast<double>(kind.value_min);
  const double width = static_cast<double>(kind.value_max) - low;
  switch (kind.distribution) {
    case Distribution::kUniform: {
      std::uniform_int_distribution<int64_t> uniform(kind.value_min, kind.value_max);
      return Fill(kind, element_count, [&] { return static_cast<double>(uniform(random)); });
    }
    case Distribution::kNormal: {
      std::normal_distribution<double> normal(low + width / 2, std::max(width / 6, 1e-9));
      return Fill(kind, element_count, [&] { return normal(random); });
    }
    case Distribution::kExponential: {
      std::exponential_distribution<double> exponential(8 / std::max(width, 1e-9));
      return Fill(kind, element_count, [&] { return low + exponential(random); });
    }
    case Distribution::kConstant: break;
  }
  return std::vector<int32_t>(element_count, static_cast<int32_t>(kind.value_max));
}

OperationValues DrawOperation(const RequestKind& kind, uint64_t element_count,
                              std::mt19937_64& random) {
  OperationValues values{.elements = DrawValues(kind, element_count, random),
                         .shape = WholeShape(kind, element_count)};
  if (kind.view) ViewElements(kind, values);
  const uint64_t count = values.elements.size();
  if (HasYElements(kind)) values.y_elements = DrawValues(kind, count, random);
  if (HasWeights(kind)) values.weights = DrawValues(kind, count, random);
  if (HasKeys(kind)) values.keys = DrawKeys(kind, count, random);
  if (kind.group_by == GroupBy::kSegments) {
    values.segment_offsets = DrawSegments(kind, count, random);
  }
  if (kind.where) DrawMask(kind, random, values);
  return values;
}

}  // namespace gridfold::load
