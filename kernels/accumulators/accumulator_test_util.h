// What the tests of accumulators share: merging by trees, and bytes that are damaged or forged.
#ifndef GRIDFOLD_KERNELS_ACCUMULATORS_ACCUMULATOR_TEST_UTIL_H_
#define GRIDFOLD_KERNELS_ACCUMULATORS_ACCUMULATOR_TEST_UTIL_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "kernels/accumulators/accumulator.h"

namespace gridfold::kernels {

inline constexpr AccumulatorLimits kRoomyLimits{1 << 20, 1 << 20, 1 << 10};

inline absl::StatusOr<MergedAnswer> MergeAll(const std::vector<std::string>& accumulators,
                                             bool partial = false,
                                             const AccumulatorLimits& limits = kRoomyLimits) {
  const std::vector<absl::string_view> views(accumulators.begin(), accumulators.end());
  const absl::StatusOr<MergePlan> plan = PlanMerge(views, limits, {});
  if (!plan.ok()) return plan.status();
  return RunMerge(*plan, partial, {});
}

inline absl::StatusOr<MergedAnswer> Subtract(const std::string& minuend,
                                             const std::vector<std::string>& subtrahends,
                                             bool partial = true,
                                             const AccumulatorLimits& limits = kRoomyLimits) {
  const std::vector<absl::string_view> views(subtrahends.begin(), subtrahends.end());
  const absl::StatusOr<MergePlan> plan = PlanSubtraction(minuend, views, limits, {});
  if (!plan.ok()) return plan.status();
  return RunMerge(*plan, partial, {});
}

inline std::string BytesOf(const MergedAnswer& answer) {
  return std::visit([](const auto& merge) { return merge.accumulator; }, answer);
}

// Merges some of the accumulators, in any order, until one is left that stands for all.
inline std::string MergeByRandomTree(std::vector<std::string> accumulators,
                                     std::mt19937_64& random) {
  while (accumulators.size() > 1) {
    std::shuffle(accumulators.begin(), accumulators.end(), random);
    const size_t taken = std::min<size_t>(accumulators.size(), 2 + random() % 3);
    std::vector<std::string> node(accumulators.end() - static_cast<ptrdiff_t>(taken),
                                  accumulators.end());
    accumulators.resize(accumulators.size() - taken);
    const absl::StatusOr<MergedAnswer> merged = MergeAll(node, /*partial=*/true);
    EXPECT_TRUE(merged.ok()) << merged.status();
    if (!merged.ok()) return "";
    accumulators.push_back(BytesOf(*merged));
  }
  return accumulators.front();
}

// CRC-64/XZ, bit by bit.
inline uint64_t Crc64(absl::string_view bytes) {
  uint64_t rest = ~uint64_t{0};
  for (const char byte : bytes) {
    rest ^= static_cast<uint8_t>(byte);
    for (int bit = 0; bit < 8; ++bit) rest = (rest >> 1) ^ ((rest & 1) * 0xC96C5795D7870F42u);
  }
  return ~rest;
}

inline std::string LittleEndian(uint64_t value, size_t size) {
  std::string bytes;
  for (size_t i = 0; i < size; ++i) bytes += static_cast<char>(value >> (8 * i));
  return bytes;
}

// Everything but the checksum, and bytes with a checksum that is right for them.
inline std::string Unsealed(const std::string& accumulator) {
  return accumulator.substr(0, accumulator.size() - 8);
}
inline std::string Sealed(const std::string& bytes) {
  return bytes + LittleEndian(Crc64(bytes), 8);
}

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_ACCUMULATORS_ACCUMULATOR_TEST_UTIL_H_
