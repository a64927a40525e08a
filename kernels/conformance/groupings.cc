#include "kernels/conformance/groupings.h"

#include <random>

namespace gridfold::kernels::conformance {

std::vector<Shape> MatrixShapes() {
  return {{1, 1},      {1, 33},    {33, 1},     {1, 5000},  {5000, 1}, {0, 7},    {7, 0},
          {2, 2},      {3, 7},     {31, 33},    {32, 32},   {33, 31},  {255, 3},  {256, 4},
          {257, 5},    {513, 129}, {3, 8193},   {8193, 3},  {64, 512}, {512, 64}, {17, 4096},
          {1000, 100}, {100, 999}, {2, 16'385}, {16'385, 2}};
}

std::vector<uint64_t> OffsetsOf(const std::vector<uint64_t>& lengths) {
  std::vector<uint64_t> offsets = {0};
  for (const uint64_t length : lengths) offsets.push_back(offsets.back() + length);
  return offsets;
}

std::vector<std::vector<uint64_t>> SegmentOffsets() {
  std::vector<std::vector<uint64_t>> all = {
      OffsetsOf({}),
      OffsetsOf({0}),
      OffsetsOf({1}),
      OffsetsOf({0, 0, 0}),
      OffsetsOf({10'000}),
      OffsetsOf({0, 5, 0, 0, 33, 0}),
      OffsetsOf({4096, 4096, 1}),
      OffsetsOf({16, 16, 15, 17, 512, 512, 511, 513}),
  };
  for (const uint64_t length : {1, 2, 15, 16, 17, 31, 32, 33, 100}) {
    all.push_back(OffsetsOf(std::vector<uint64_t>(3000, length)));
  }
  std::vector<uint64_t> one_giant(500, 3);
  one_giant[250] = 200'000;
  all.push_back(OffsetsOf(one_giant));
  std::mt19937_64 random(51);
  for (const uint64_t bits : {3, 7, 12}) {
    // Lengths of every order up to 2^bits, one in five empty.
    std::vector<uint64_t> lengths(2000 >> (bits / 3));
    for (uint64_t& length : lengths) {
      length = random() % 5 == 0 ? 0 : (random() % (uint64_t{1} << bits)) >> (random() % bits);
    }
    all.push_back(OffsetsOf(lengths));
  }
  return all;
}

}  // namespace gridfold::kernels::conformance
