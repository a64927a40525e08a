#include "kernels/conformance/test_array.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "kernels/conformance/element_codec.h"

namespace gridfold::kernels::conformance {

namespace {

constexpr size_t kAlignment = 64;
constexpr std::byte kFiller{0xA5};

}  // namespace

TestArray::TestArray(const ArrayDescription& description, size_t misalignment)
    : description_(description),
      storage_(description.size_bytes() + 3 * kAlignment + misalignment, kFiller) {
  const size_t past = reinterpret_cast<uintptr_t>(storage_.data()) % kAlignment;
  offset_ = 2 * kAlignment - past + misalignment;
  std::fill_n(mutable_data(), description.size_bytes(), std::byte{0});
}

TestArray TestArray::Vector(ElementType type, const std::vector<long double>& elements) {
  TestArray array(ArrayDescription::Vector(type, elements.size()));
  for (uint64_t i = 0; i < elements.size(); ++i) array.Set(i, elements[i]);
  return array;
}

long double TestArray::operator[](uint64_t i) const {
  return ReadElement(type(), data() + i * ElementSize(type()));
}

void TestArray::Set(uint64_t i, long double value) {
  WriteElement(type(), value, mutable_data() + i * ElementSize(type()));
}

bool TestArray::SurroundingsAreIntact() const {
  const auto is_filler = [](std::byte b) { return b == kFiller; };
  const auto begin = storage_.begin() + static_cast<ptrdiff_t>(offset_);
  return std::all_of(storage_.begin(), begin, is_filler) &&
         std::all_of(begin + static_cast<ptrdiff_t>(description_.size_bytes()), storage_.end(),
                     is_filler);
}

std::vector<GroupElements> GroupsOf(const ArrayDescription& array, const GroupingSpec& spec) {
  std::vector<GroupElements> groups;
  switch (spec.kind) {
    case GroupingKind::kWhole: return {{0, 1, array.element_count}};
    case GroupingKind::kAxis0:
      for (uint64_t c = 0; c < array.columns; ++c) groups.push_back({c, array.columns, array.rows});
      return groups;
    case GroupingKind::kAxis1:
      for (uint64_t r = 0; r < array.rows; ++r) {
        groups.push_back({r * array.columns, 1, array.columns});
      }
      return groups;
    case GroupingKind::kSegments: break;
  }
  for (size_t g = 1; g < spec.offsets.size(); ++g) {
    groups.push_back({spec.offsets[g - 1], 1, spec.offsets[g] - spec.offsets[g - 1]});
  }
  return groups;
}

std::string Describe(const ArrayDescription& array) {
  const char* name = ElementTypeName(array.element_type);
  if (!array.is_matrix) return absl::StrCat(name, "[", array.element_count, "]");
  return absl::StrCat(name, "[", array.rows, " x ", array.columns, "]");
}

}  // namespace gridfold::kernels::conformance
