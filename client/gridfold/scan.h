// Scans: running sums, products, minima, maxima and means, and moving sums and means.
#ifndef GRIDFOLD_CLIENT_GRIDFOLD_SCAN_H_
#define GRIDFOLD_CLIENT_GRIDFOLD_SCAN_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "gridfold/array_input.h"
#include "gridfold/element_type.h"
#include "gridfold/element_view.h"
#include "gridfold/execution_statistics.h"
#include "gridfold/grouping.h"
#include "gridfold/region.h"
#include "gridfold/resident_array.h"

namespace gridfold::client {

// The numbers of these enums are those of the wire.
enum class ScanOperation { kSum = 1, kProduct = 2, kMin = 3, kMax = 4, kMean = 5 };

enum class ScanMode {
  kInclusive = 1,  // Result i aggregates the group's elements up to and including i.
  kExclusive = 2,  // ... before i; the first is the operation's identity.
};

enum class ScanDirection { kForward = 1, kReverse = 2 };

// Where the result of a scan goes: into the answer; into a new array on the server, as in NewArray;
// in place of the input, which must be on the server, no view, and of the results' type; or into a
// shared-memory region, at an offset where it does not overlap the input.
struct InlineDestination {};
struct ResidentDestination {
  std::string name = "";
  std::optional<absl::Duration> idle_expiry = std::nullopt;
};
struct InPlaceDestination {};
struct RegionDestination {
  std::string name;
  uint64_t offset_bytes = 0;  // A multiple of the size of one result.
};
using ScanDestination =
    std::variant<InlineDestination, ResidentDestination, InPlaceDestination, RegionDestination>;

struct ScanOptions {
  ScanOperation operation = ScanOperation::kSum;
  ScanMode mode = ScanMode::kInclusive;
  ScanDirection direction = ScanDirection::kForward;
  Grouping grouping = WholeArray{};
  // The array's own type, or its 64-bit accumulator type (int64, uint64 or float64). Nothing: the
  // accumulator type for sums and products of integers, float64 for their means, the array's own
  // type otherwise.
  std::optional<ElementType> output_type = std::nullopt;
  NanPolicy nan_policy = NanPolicy::kPropagate;
  OverflowPolicy overflow_policy = OverflowPolicy::kError;
  // Sums of floating-point elements only: each result is the exact sum, rounded once. Slower.
  // Moving sums and means are exact in any case.
  bool exact = false;
  // Sums and means only: each result is of the last so many elements, its own included, or of all
  // where there are not so many yet. Nothing: of all elements up to its own. Not in streams, where
  // there are no means either.
  std::optional<uint64_t> window = std::nullopt;
  // Moving sums and means: results of which fewer elements count are NaN. Ignored NaNs do not
  // count.
  uint64_t min_count = 0;
  // Which elements count: an array of bool of the array's shape, or of its last dimensions alone.
  // The others stand for the operation's identity or, where NaN is ignored, for NaN. A stream's
  // mask is sent beside its elements.
  std::optional<ArrayInput> where = std::nullopt;
  ScanDestination destination = InlineDestination{};
  // The strategy that is to run it, as ExecutionStatistics names them, for measuring and for
  // reproducing; the bits are the same. Empty: the server's choice. INVALID_ARGUMENT, with those
  // that can, where it cannot take the request. Not for streams, nor where devices compute a
  // part each.
  std::string strategy = {};
};

struct ScanResult {
  ElementType element_type = ElementType::kFloat64;
  std::vector<uint64_t> shape;  // The input's.
  std::string data;             // The results, row-major; empty where they are elsewhere.
  ExecutionStatistics execution;
  // The array that holds the results, where they are on the server.
  std::optional<ArrayDescription> resident_array = std::nullopt;
  // Where in a region they are.
  std::optional<RegionSlice> region_slice = std::nullopt;

  // Of `data`.
  uint64_t element_count() const { return data.size() / ElementSizeBytes(element_type); }

  // The results as T, viewed in place: valid as long as `data` is. FAILED_PRECONDITION where they
  // are of another type.
  template <Element T>
  absl::StatusOr<std::span<const T>> Values() const {
    return ViewElements<T>(element_type, data);
  }
};

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_GRIDFOLD_SCAN_H_
