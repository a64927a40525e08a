// What the tests of folds share: an engine, elements of any type, and random cuts.
#ifndef GRIDFOLD_KERNELS_FOLDS_FOLD_TEST_UTIL_H_
#define GRIDFOLD_KERNELS_FOLDS_FOLD_TEST_UTIL_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "kernels/contract/engine.h"
#include "kernels/numerics/arithmetic/element.h"

namespace gridfold::kernels {

inline constexpr LaneOptions kRoomyLane{.input_bytes_max = 64 << 20,
                                        .output_bytes_max = 64 << 20,
                                        .bin_count_max = 1 << 20,
                                        .group_count_max = 1 << 20};

template <class T>
std::string BytesOf(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

inline HostSpan SpanOf(absl::string_view bytes) {
  return {reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()};
}

class FoldTest : public testing::Test {
 protected:
  // Small and large numbers, and what floating-point types have beside numbers.
  std::string RandomElements(ElementType type, size_t count) {
    return VisitElementType(type, [&](auto tag) {
      using T = typename decltype(tag)::type;
      std::vector<T> elements(count);
      for (T& x : elements) x = RandomElement<T>();
      return BytesOf(elements);
    });
  }

  // Increasing ends of pieces of `size` bytes; empty pieces and pieces of one byte among them.
  std::vector<size_t> RandomEnds(size_t size) {
    std::vector<size_t> ends = {size};
    for (uint64_t i = random_() % 20; i > 0; --i) {
      const size_t end = random_() % (size + 1);
      ends.push_back(end);
      if (random_() % 2 == 0) ends.push_back(std::min(size, end + random_() % 2));
    }
    std::sort(ends.begin(), ends.end());
    return ends;
  }

  std::mt19937_64 random_{20261121};
  std::unique_ptr<Engine> engine_ = *CreateEngine({.kind = EngineKind::kCpu, .cpu_threads = 1});
  std::unique_ptr<Lane> lane_ = *engine_->CreateLane(kRoomyLane);

 private:
  template <class T>
  T RandomElement() {
    if constexpr (IntegerElement<T>) {
      return random_() % 4 == 0 ? static_cast<T>(random_()) : static_cast<T>(random_() % 5);
    } else {
      constexpr double kSpecial[] = {0.0, -0.0, 1.0, INFINITY, -INFINITY, NAN, 65504.0};
      const double value = random_() % 100 == 0
                               ? kSpecial[random_() % std::size(kSpecial)]
                               : std::ldexp(static_cast<double>(static_cast<int64_t>(random_())),
                                            static_cast<int>(random_() % 30) - 78);
      if constexpr (HalfElement<T>) {
        return T::FromDouble(value);
      } else {
        return static_cast<T>(value);
      }
    }
  }
};

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_FOLDS_FOLD_TEST_UTIL_H_
