#include <algorithm>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "client/load/work/group_walk.h"
#include "client/load/work/known_answer.h"
#include "client/load/work/known_values.h"

namespace gridfold::load {
namespace {

// The indices of the first `count` elements in order, equal ones by their index.
std::vector<uint64_t> TopOf(const std::vector<int32_t>& elements, uint64_t count, bool smallest) {
  std::vector<uint64_t> indices(elements.size());
  std::iota(indices.begin(), indices.end(), 0);
  std::stable_sort(indices.begin(), indices.end(), [&](uint64_t left, uint64_t right) {
    return smallest ? elements[left] < elements[right] : elements[left] > elements[right];
  });
  indices.resize(count);
  return indices;
}

}  // namespace

KnownTop ComputeKnownTop(const RequestKind& kind, const OperationValues& values) {
  KnownTop known;
  std::vector<int32_t> tops;
  for (const std::vector<int32_t>& elements : GroupElements(kind, values)) {
    for (const uint64_t index : TopOf(elements, kind.top_count, kind.top_smallest)) {
      known.indices.push_back(index);
      tops.push_back(elements[index]);
    }
  }
  known.values = OfElementKind(kind.element_type, tops);
  return known;
}

std::string Difference(const KnownTop& known, const client::TopResult& result) {
  if (result.indices.size() != known.indices.size()) {
    return absl::StrCat(result.indices.size(), " elements, not ", known.indices.size());
  }
  if (!AreSame(result.values, known.values)) return "the elements are wrong";
  return result.indices == known.indices ? "" : "the indices are wrong";
}

}  // namespace gridfold::load
