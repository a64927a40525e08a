// Orders elements by group on the device. See device/launch.h for the manner of launchers; but this
// one waits for the stream several times, since what comes next depends on the keys. Plain C++.
//
//   GroupOrderer orderer(plan, bins, input, room, properties, stream, copy);
//   absl::Status status = orderer.Survey();
//   absl::StatusOr<DeviceOrder> order = orderer.Order();
//   // Reduce order->values in the segments that order->offsets are.
//   status = FetchGroups(*order, copy, groups, offsets);
//   status = MapPlaces(*order, positions, stream);  // Where they were, in the input.
#ifndef GRIDFOLD_KERNELS_CUDA_BYKEY_ORDER_H_
#define GRIDFOLD_KERNELS_CUDA_BYKEY_ORDER_H_

#include <cuda_runtime_api.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/contract/keyed_reduction.h"
#include "kernels/cuda/bykey/kernels.h"
#include "kernels/cuda/device/launch.h"
#include "kernels/cuda/device/properties.h"
#include "kernels/cuda/device/scratch.h"
#include "kernels/numerics/bins/axes.h"

namespace gridfold::kernels::cuda {

// Device memory, aligned to elements.
struct DeviceKeyedInput {
  // Of each axis of bins, or one array.
  std::array<const std::byte*, kBinAxesMax> keys = {};
  const std::byte* values = nullptr;
  std::array<const double*, kBinAxesMax> edges = {};  // Of axes whose bins have a table.
};

struct DeviceOrder {
  uint64_t group_count = 0;
  uint64_t element_count = 0;  // That are in groups; others stand behind them.
  uint64_t largest_group = 0;  // Its elements.
  // In device memory: where each group begins, and where the last one ends.
  const uint64_t* offsets = nullptr;
  const std::byte* values = nullptr;
  // Where each element of the order stands in the input; null where that is in order, or where
  // nobody asks for it.
  const uint32_t* places = nullptr;
  bool is_sorted = false;  // By us.
  uint64_t underflow_count = 0;
  uint64_t overflow_count = 0;
  uint64_t nan_count = 0;

  // The group of run number i, in device memory, is (numbers[i] + first) ^ sign.
  const uint64_t* numbers = nullptr;
  uint64_t first = 0;
  uint64_t sign = 0;
};

// Copies consecutive bytes from device memory to host memory, behind what the stream of the launch
// does; the bytes are there when it returns.
using CopyFromDevice =
    absl::FunctionRef<absl::Status(const void* from, std::span<const MutableHostSpan> to)>;

// Elements are counted in 32 bits on the device.
inline constexpr uint64_t kKeyedElementsMax = uint64_t{0xFFFF'FFFF};

// The most that a GroupOrderer takes of `room`.
uint64_t OrderRoomBytes(const KeyedReductionPlan& plan, const DeviceProperties& properties);

// Consecutive integers among which all keys are, as int64 or uint64.
struct KeyInterval {
  uint64_t first_key = 0;
  uint64_t key_count = 0;
};

// Orders the elements of one plan. What it is given outlives it.
class GroupOrderer {
 public:
  // `bins` are the plan's, with their ranges resolved.
  GroupOrderer(const KeyedReductionPlan& plan, const std::vector<PlannedBins>& bins,
               const DeviceKeyedInput& input, Scratch& room, const DeviceProperties& properties,
               cudaStream_t stream, CopyFromDevice copy);

  // Looks at all keys, or places them in bins. Errors: a key outside of a range; RESOURCE_EXHAUSTED
  // where `room` is too small; those of `copy`; INTERNAL from CUDA.
  absl::Status Survey();

  // After Survey.
  bool is_in_order() const { return facts_.has_descent == 0; }
  // Nothing where keys are placed in bins, or where there are 2^64 such integers or no keys.
  std::optional<KeyInterval> interval() const;

  // After Survey. Values that are in order stay where they are. Errors: more groups than
  // plan.group_count_max; those of `copy`; INTERNAL from CUDA.
  absl::StatusOr<DeviceOrder> Order();

 private:
  // Numbers and payloads, once before a pass of the sort and once after it.
  struct Side {
    std::byte* numbers = nullptr;
    std::byte* payload = nullptr;
  };
  // Which memory the order takes.
  struct Widths {
    explicit Widths(const KeyedReductionPlan& plan);

    uint64_t value_bytes;
    uint64_t number_bytes;  // At most; fewer where the keys' range is small.
    // Whether values are sorted with the numbers, and not places by which values are moved then.
    bool carries_values;
    uint64_t payload_bytes;
  };
  friend uint64_t OrderRoomBytes(const KeyedReductionPlan&, const DeviceProperties&);

  // Whether keys are taken as they are, not by bins: those that are found, and those of a range.
  bool has_keys() const { return !plan_.has_bins() || plan_.refuses_outside; }
  // The number of the first key of a range.
  uint64_t FirstOfRange() const;
  absl::Status Allocate();
  LaunchShape OverElements(uint64_t count) const;
  KeyChunks CutChunks() const;
  static LaunchShape OverChunks(const KeyChunks& chunks);
  absl::Status ReadFacts();
  absl::Status SurveyElements(ElementType type, const void* elements);
  // An error where a key is outside of the range.
  absl::Status CheckRange();
  absl::Status FirstOutside(uint64_t index);
  absl::Status NumberKeys();
  absl::Status NumberByBin();
  absl::Status Sort();
  absl::Status SortByDigit(const SortPass& pass);
  absl::Status ScanLists(uint32_t lists, uint64_t length, uint64_t* totals);
  // Of elements in order.
  absl::Status FindRuns(ElementType type, const void* elements);
  absl::Status FindValues();

  ElementType number_type() const {
    return is_narrow_ ? ElementType::kUint32 : ElementType::kUint64;
  }

  const KeyedReductionPlan& plan_;
  const std::vector<PlannedBins>& bins_;
  const DeviceKeyedInput& input_;
  Scratch& room_;
  const uint64_t blocks_max_;
  const cudaStream_t stream_;
  const CopyFromDevice copy_;
  const uint64_t count_;
  const Widths widths_;

  KeyFacts* device_facts_ = nullptr;
  uint64_t* counts_ = nullptr;
  uint64_t* totals_ = nullptr;
  uint64_t* runs_ = nullptr;
  Side sides_[2];
  int side_ = 0;  // That has the numbers, and once sorted the payload.

  KeyFacts facts_;
  bool is_narrow_ = true;
  DeviceOrder order_;
};

// Brings an order's groups, as KeyedReductionResult has them, and their offsets to the host.
absl::Status FetchGroups(const DeviceOrder& order, CopyFromDevice copy,
                         std::vector<uint64_t>& groups, std::vector<uint64_t>& offsets);

// Makes `positions` of the order, in device memory, those of the input.
absl::Status MapPlaces(const DeviceOrder& order, uint64_t* positions, uint64_t count,
                       const DeviceProperties& properties, cudaStream_t stream);

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_BYKEY_ORDER_H_
