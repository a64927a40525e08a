// The statistics that a reduction computes.
#ifndef GRIDFOLD_CLIENT_GRIDFOLD_STATISTIC_H_
#define GRIDFOLD_CLIENT_GRIDFOLD_STATISTIC_H_

#include <optional>
#include <span>

#include "absl/strings/string_view.h"

namespace gridfold::client {

// A statistic of a group of elements, and in brackets the type of its values. "Element kind" is
// int64_t for signed, uint64_t for unsigned and double for floating-point elements. Of an empty
// group the minimum, maximum, their indices, the range, the mean, the root mean square, the
// variance, the standard deviation and the standard error are errors. The numbers are those of the
// wire.
enum class Statistic {
  kCount = 1,               // [uint64_t]
  kSum = 2,                 // [element kind]
  kProduct = 3,             // [element kind]
  kMin = 4,                 // [element kind]
  kMax = 5,                 // [element kind]
  kArgmin = 6,              // Index of the first smallest element. [uint64_t]
  kArgmax = 7,              // Index of the first largest element. [uint64_t]
  kMean = 8,                // [double]
  kVariance = 9,            // [double]
  kStandardDeviation = 10,  // [double]
  kL1Norm = 11,             // Sum of the absolute values. [double]
  kL2Norm = 12,             // Square root of the sum of the squares. [double]
  kNonzeroCount = 13,       // [uint64_t]
  kNanCount = 14,           // [uint64_t]
  kInfinityCount = 15,      // [uint64_t]
  kAll = 16,                // Whether every element is other than zero. [bool]
  kAny = 17,                // Whether any element is other than zero. [bool]
  kBitwiseAnd = 18,         // Integers only. [element kind]
  kBitwiseOr = 19,          // Integers only. [element kind]
  kBitwiseXor = 20,         // Integers only. [element kind]
  kRange = 21,              // Maximum less minimum. [uint64_t of integers, else double]
  kRootMeanSquare = 22,     // Square root of the mean of the squares. [double]
  kStandardError = 23,      // Of the mean: square root of variance / count. [double]
};

// Every statistic, in the order of the enum.
std::span<const Statistic> AllStatistics();

// "count", "sum", "standard_deviation" and so on: the enum's name in lower case; "unknown" for a
// number that is no Statistic.
absl::string_view StatisticName(Statistic statistic);

// The reverse of StatisticName; nothing for other text.
std::optional<Statistic> ParseStatistic(absl::string_view name);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_GRIDFOLD_STATISTIC_H_
