// Arrays for tests: elements of any type at any byte address, and the groups they are split into.
#ifndef GRIDFOLD_KERNELS_CONFORMANCE_TEST_ARRAY_H_
#define GRIDFOLD_KERNELS_CONFORMANCE_TEST_ARRAY_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/contract/array.h"

namespace gridfold::kernels::conformance {

inline constexpr auto kAllTypes = [] {
  std::array<ElementType, kElementTypeCount> types{};
  for (int i = 0; i < kElementTypeCount; ++i)
    types[static_cast<size_t>(i)] = static_cast<ElementType>(i);
  return types;
}();

class TestArray {
 public:
  // All elements zero. The first one stands `misalignment` bytes past an aligned address.
  explicit TestArray(const ArrayDescription& description, size_t misalignment = 0);

  static TestArray Vector(ElementType type, const std::vector<long double>& elements);

  // Move-only: a copy of the storage would stand at another address.
  TestArray(TestArray&&) = default;
  TestArray& operator=(TestArray&&) = default;

  const ArrayDescription& description() const { return description_; }
  ElementType type() const { return description_.element_type; }
  uint64_t size() const { return description_.element_count; }

  long double operator[](uint64_t i) const;
  void Set(uint64_t i, long double value);

  HostSpan span() const { return {data(), description_.size_bytes()}; }
  MutableHostSpan mutable_span() { return {mutable_data(), description_.size_bytes()}; }
  const std::byte* data() const { return storage_.data() + offset_; }
  std::byte* mutable_data() { return storage_.data() + offset_; }

  // Whether bytes around the elements are as they were made: nothing was written past an end.
  bool SurroundingsAreIntact() const;

 private:
  ArrayDescription description_;
  std::vector<std::byte> storage_;
  size_t offset_ = 0;
};

// Elements start, start + stride, ... of an array.
struct GroupElements {
  uint64_t start;
  uint64_t stride;
  uint64_t count;

  uint64_t index(uint64_t i) const { return start + i * stride; }
};

// The groups that `spec` asks for, worked out here and not by the plan.
std::vector<GroupElements> GroupsOf(const ArrayDescription& array, const GroupingSpec& spec);

// For messages: "float16[3 x 5]".
std::string Describe(const ArrayDescription& array);

}  // namespace gridfold::kernels::conformance

#endif  // GRIDFOLD_KERNELS_CONFORMANCE_TEST_ARRAY_H_
