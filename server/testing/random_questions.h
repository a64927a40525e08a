// Random questions: arrays of any type and shape, odd ones among them, and what is asked of them.
// For tests.
#ifndef GRIDFOLD_SERVER_TESTING_RANDOM_QUESTIONS_H_
#define GRIDFOLD_SERVER_TESTING_RANDOM_QUESTIONS_H_

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "gridfold/v1/array.pb.h"
#include "gridfold/v1/compute_service.pb.h"
#include "kernels/types/element_type.h"
#include "server/testing/array_service_fixture.h"
#include "server/wire/proto_conversion.h"

namespace gridfold::server {

// An array of a question: the bytes of its elements, and its shape.
struct Elements {
  v1::ElementType type = v1::ELEMENT_TYPE_INT8;
  std::vector<uint64_t> shape;
  std::string bytes;

  size_t element_bytes() const { return kernels::ElementSize(*FromWire(type, "")); }
  uint64_t columns() const { return shape.size() == 2 ? shape[1] : 0; }
  uint64_t count() const { return bytes.size() / element_bytes(); }

  v1::ArraySource Inline() const { return Inline(0, shape[0]); }
  // Elements, or rows, from `first` on.
  v1::ArraySource Inline(uint64_t first, uint64_t size) const {
    uint64_t unit_bytes = element_bytes();
    v1::ArraySource source;
    v1::InlineArray& array = *source.mutable_inline_array();
    array.set_element_type(type);
    array.add_shape(size);
    for (size_t d = 1; d < shape.size(); ++d) {
      array.add_shape(shape[d]);
      unit_bytes *= shape[d];
    }
    array.set_data(bytes.substr(first * unit_bytes, size * unit_bytes));
    return source;
  }
};

// Questions by chance, the same in every run.
class RandomQuestions {
 protected:
  template <class T>
  T OneOf(std::vector<T> values) {
    return values[random_() % values.size()];
  }

  bool OneIn(uint64_t n) { return random_() % n == 0; }

  v1::ElementType AnyType() {
    return static_cast<v1::ElementType>(v1::ELEMENT_TYPE_INT8 + random_() % 12);
  }

  static bool IsFloating(v1::ElementType type) {
    return kernels::IsFloatingPoint(*FromWire(type, ""));
  }

  // Any bits, few different values, or small ones.
  std::string AnyBytes(v1::ElementType type, uint64_t count) {
    const size_t size = kernels::ElementSize(*FromWire(type, ""));
    const uint64_t manner = random_() % 3;
    const uint64_t few[] = {random_(), random_()};
    std::string bytes;
    for (uint64_t i = 0; i < count; ++i) {
      uint64_t bits = manner == 0 ? random_() : few[random_() % 2];
      if (manner == 2) bits = SmallBits(type);
      bytes.append(reinterpret_cast<const char*>(&bits), size);
    }
    return bytes;
  }

  uint64_t SmallBits(v1::ElementType type) {
    const auto x = static_cast<float>(static_cast<int>(random_() % 9) - 2);
    if (type == v1::ELEMENT_TYPE_FLOAT64) return std::bit_cast<uint64_t>(static_cast<double>(x));
    if (type == v1::ELEMENT_TYPE_FLOAT32) return std::bit_cast<uint32_t>(x);
    if (type == v1::ELEMENT_TYPE_BFLOAT16) return std::bit_cast<uint32_t>(x) >> 16;
    if (type == v1::ELEMENT_TYPE_FLOAT16) return OneOf<uint64_t>({0, 0x3C00, 0xC000, 0x7E00});
    return random_() % 9;
  }

  Elements AnyArray(v1::ElementType type, bool may_be_matrix) {
    Elements array{.type = type, .shape = {}, .bytes = ""};
    if (may_be_matrix && OneIn(2)) {
      array.shape = {OneOf<uint64_t>({0, 1, 2, 5, 40}), OneOf<uint64_t>({0, 1, 2, 3, 7, 30})};
      array.bytes = AnyBytes(type, array.shape[0] * array.shape[1]);
    } else {
      array.shape = {OneOf<uint64_t>({0, 1, 2, 3, 10, 33, random_() % 3000})};
      array.bytes = AnyBytes(type, array.shape[0]);
    }
    return array;
  }

  // Of three to five dimensions, with extents of 1 among them.
  Elements AnyTensor(v1::ElementType type) {
    Elements array{.type = type, .shape = {OneOf<uint64_t>({0, 1, 2, 7})}, .bytes = ""};
    uint64_t count = array.shape[0];
    for (uint64_t d = 2 + random_() % 3; d > 0; --d) {
      array.shape.push_back(OneOf<uint64_t>({1, 1, 2, 3, 5}));
      count *= array.shape.back();
    }
    array.bytes = AnyBytes(type, count);
    return array;
  }

  v1::ReduceArrayRequest AnyReduction(const Elements& array) {
    v1::ReduceArrayRequest request;
    for (int s = v1::STATISTIC_COUNT; s <= v1::STATISTIC_BITWISE_XOR; ++s) {
      const bool of_integers = s >= v1::STATISTIC_BITWISE_AND;
      if (OneIn(4) && !(of_integers && IsFloating(array.type) && !OneIn(20))) {
        request.add_statistics(static_cast<v1::Statistic>(s));
      }
    }
    if (OneIn(2)) request.set_nan_policy(v1::NAN_POLICY_IGNORE);
    if (!OneIn(4)) request.set_overflow_policy(v1::OVERFLOW_POLICY_WRAP);
    request.set_delta_degrees_of_freedom(OneOf<uint32_t>({0, 0, 0, 1, 1, 2, 7, kMax & 0xFFFFFFFF}));
    if (OneIn(4)) request.set_first_index(OneOf<uint64_t>({1, 1000, kMax - 5, kMax - 50'000}));
    if (OneIn(3)) {
      request.set_output_type(
          OneOf<v1::ElementType>({v1::ELEMENT_TYPE_FLOAT16, v1::ELEMENT_TYPE_BFLOAT16,
                                  v1::ELEMENT_TYPE_FLOAT32, v1::ELEMENT_TYPE_FLOAT64}));
      if (OneIn(20)) request.set_output_type(AnyType());
    }
    if (array.shape.size() == 2 && !OneIn(4)) {
      request.mutable_grouping()->set_axis(OneOf<uint32_t>({0, 1, 1}));
    } else if (array.shape.size() == 1 && OneIn(3)) {
      uint64_t at = 0;
      auto& offsets = *request.mutable_grouping()->mutable_segments()->mutable_offsets();
      offsets.Add(0);
      while (at < array.count() && offsets.size() < 50) {
        at = std::min(array.count(), at + OneOf<uint64_t>({0, 1, 2, 5, 100}));
        offsets.Add(at);
      }
      if (!OneIn(10)) offsets.Set(offsets.size() - 1, array.count());
      if (OneIn(4)) offsets.Add(array.count());
    }
    return request;
  }

  v1::BinSpecification AnyBins(v1::ElementType type) {
    v1::BinSpecification bins;
    const uint64_t count = OneOf<uint64_t>({1, 2, 10, 50});
    switch (random_() % 4) {
      case 0:
        bins.mutable_integer()->set_bin_count(count);
        if (OneIn(2)) {
          bins.mutable_integer()->set_first_value(OneOf<int64_t>({-2, 0, 3, 100, INT64_MAX - 3}));
        } else {
          bins.mutable_integer()->set_first_unsigned_value(
              OneOf<uint64_t>({1, uint64_t{1} << 63, kMax - 3, kMax - 60}));
        }
        if (!IsFloating(type) || OneIn(10)) break;
        [[fallthrough]];
      case 1:
        bins.mutable_even()->set_bin_count(count);
        if (OneIn(2)) break;
        bins.mutable_even()->set_lower_bound(OneOf<double>({-1, 0, -1e308}));
        bins.mutable_even()->set_upper_bound(OneOf<double>({2, 6.5, 1e308}));
        break;
      case 2:
        for (const double edge : {-1.0, 0.0, 1.0, 4.5, 1e9}) bins.mutable_edges()->add_edges(edge);
        break;
      default:
        bins.mutable_logarithmic()->set_bin_count(count);
        bins.mutable_logarithmic()->set_lower_bound(0.5);
        bins.mutable_logarithmic()->set_upper_bound(1e6);
    }
    return bins;
  }

  std::mt19937_64 random_{20261126};
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_TESTING_RANDOM_QUESTIONS_H_
