// A warp's runs of a tile of a scan along axis 0, on their way between device memory, shared memory
// and registers. A lane scans one run, which is one column's.
//
// Wide: the warp has a run of each column of a strip. Lanes copy, scan and write their own columns,
// so rows are read and written by whole lines, and no lane waits for another.
// Narrow: there are fewer columns than lanes, and the warp has several runs of each, which lie one
// behind the other in memory. Lanes copy what comes next, whosever it is. In shared memory a run is
// in the order of device memory: a reverse scan's first position is its last row.
#ifndef GRIDFOLD_KERNELS_CUDA_SCAN_COLUMN_PANEL_CUH_
#define GRIDFOLD_KERNELS_CUDA_SCAN_COLUMN_PANEL_CUH_

#include <cuda_pipeline.h>

#include <cstdint>
#include <type_traits>

#include "kernels/cuda/scan_arguments.h"
#include "kernels/cuda/scan_column_shape.h"
#include "kernels/numerics/scan_tree.h"

namespace gridfold::kernels::cuda {

template <class T, class Out, bool kIsNarrow>
class ColumnPanel {
 public:
  static constexpr int kSlotBytes = static_cast<int>(ColumnSlotBytes(sizeof(T), sizeof(Out)));
  static constexpr uint32_t kBytes = ColumnPanelSlots(kIsNarrow) * kSlotBytes;

  // `slots`: kBytes of shared memory for each warp.
  __device__ ColumnPanel(const ScanArguments& arguments, const ColumnScanShape& shape,
                         unsigned char* slots)
      : arguments_(arguments),
        shape_(shape),
        lane_(threadIdx.x % kScanLanes),
        warp_(threadIdx.x / kScanLanes),
        run_(kIsNarrow ? lane_ / shape.strip_columns : 0),
        strip_column_(kIsNarrow ? lane_ % shape.strip_columns : lane_),
        slots_(slots + warp_ * kBytes) {}

  // Goes to a tile of a strip.
  __device__ void MoveTo(uint32_t tile, uint32_t strip) {
    first_row_ = uint64_t{tile} * shape_.tile_rows + warp_ * shape_.runs * kScanColumnItems;
    column_ = uint64_t{strip} * shape_.strip_columns + strip_column_;
    const bool has_run =
        strip_column_ < shape_.strip_columns && run_ < shape_.runs && column_ < shape_.columns;
    size_ = has_run ? RunSize(run_) : 0;
    if constexpr (kIsNarrow) {
      const int last = size_ - 1;
      first_ = SlotAt(RunSlot(run_) + strip_column_ +
                      (arguments_.reverse ? last * shape_.strip_columns : 0));
    }
  }

  // The lane's run among the warp's, its column in the strip, and how many rows it has: none for
  // lanes that are left over.
  __device__ uint32_t run() const { return run_; }
  __device__ uint32_t strip_column() const { return strip_column_; }
  __device__ int size() const { return size_; }
  // Whether the run begins at the column's first logical row.
  __device__ bool IsFirst() const { return first_row_ == 0 && run_ == 0; }

  // Copies the warp's runs to shared memory. All lanes.
  __device__ void Load() const {
    if constexpr (kIsNarrow) {
      ForEachPiece<T>(arguments_.input, [&](const T* memory, unsigned char* slot, int count) {
        CopyIn(memory, kScanLanes, slot, count);
      });
    } else {
      CopyIn(static_cast<const T*>(arguments_.input) + Element(), pitch(), SlotAt(lane_), size_);
    }
    __pipeline_commit();
    __pipeline_wait_prior(0);
    if constexpr (kIsNarrow) __syncwarp();
  }

  // The element at the run's place k.
  __device__ T Item(int k) const { return *reinterpret_cast<const T*>(SlotOf(k)); }

  // Takes the result at place k. That of a narrow panel takes the element's place.
  __device__ void Put(int k, Out result) const {
    if constexpr (kIsNarrow) {
      *reinterpret_cast<Out*>(SlotOf(k)) = result;
    } else {
      static_cast<Out*>(arguments_.output)[Element() + k * pitch()] = result;
    }
  }

  // After the last Put: all results are in device memory, and the panel may be loaded again. All
  // lanes.
  __device__ void Flush() const {
    if constexpr (kIsNarrow) {
      __syncwarp();
      ForEachPiece<Out>(arguments_.output, [&](Out* memory, unsigned char* slot, int count) {
        CopyOut(slot, memory, count);
      });
      __syncwarp();
    }
  }

 private:
  static constexpr int kRowBytes = kScanLanes * kSlotBytes;
  static constexpr int kBatch = 8;  // Elements that are on their way together.

  __device__ unsigned char* SlotAt(uint32_t slot) const { return slots_ + slot * kSlotBytes; }
  // The run's first slot in a narrow panel.
  __device__ uint32_t RunSlot(uint32_t run) const {
    return run * (kScanColumnItems + kColumnRunGapRows) * shape_.strip_columns;
  }
  __device__ unsigned char* SlotOf(int k) const {
    if constexpr (kIsNarrow) {
      const int step = static_cast<int>(shape_.strip_columns) * kSlotBytes;
      return first_ + k * (arguments_.reverse ? -step : step);
    } else {
      return SlotAt(lane_) + k * kRowBytes;
    }
  }

  __device__ int RunSize(uint32_t run) const {
    const uint64_t begin = first_row_ + run * kScanColumnItems;
    if (begin >= shape_.rows) return 0;
    return static_cast<int>(min(shape_.rows - begin, uint64_t{kScanColumnItems}));
  }

  // Of a wide panel: the lane's first element, and the distance of the next logical row's.
  __device__ uint64_t Element() const {
    return (arguments_.reverse ? shape_.rows - 1 - first_row_ : first_row_) * shape_.columns +
           column_;
  }
  __device__ int64_t pitch() const {
    const auto columns = static_cast<int64_t>(shape_.columns);
    return arguments_.reverse ? -columns : columns;
  }

  // Of a narrow panel, calls visit(first element's memory, its slot, count) for each run, with
  // those of its elements that the lane copies: every one of kScanLanes, in memory and in slots.
  template <class V, class Memory, class Visit>
  __device__ void ForEachPiece(Memory* memory, Visit&& visit) const {
    using Pointer = std::conditional_t<std::is_const_v<Memory>, const V*, V*>;
    for (uint32_t run = 0; run < shape_.runs; ++run) {
      const int rows = RunSize(run);
      const uint64_t begin = first_row_ + run * kScanColumnItems;
      const uint64_t memory_row = arguments_.reverse ? shape_.rows - begin - rows : begin;
      const int elements = rows * static_cast<int>(shape_.strip_columns);
      const int count = (elements + kScanLanes - 1 - static_cast<int>(lane_)) / kScanLanes;
      if (rows == 0) break;
      visit(static_cast<Pointer>(memory) + memory_row * shape_.columns + lane_,
            SlotAt(RunSlot(run) + lane_), count);
    }
  }

  // Begins to copy every step-th element to every kScanLanes-th slot. Those that are too small for
  // asynchronous copies go by way of registers.
  __device__ static void CopyIn(const T* memory, int64_t step, unsigned char* slot, int count) {
    if constexpr (sizeof(T) >= 4) {
#pragma unroll 8
      for (int i = 0; i < count; ++i) {
        __pipeline_memcpy_async(slot + i * kRowBytes, memory + i * step, sizeof(T));
      }
    } else {
      constexpr int kSmallBatch = 2 * kBatch;
      for (int begin = 0; begin < count; begin += kSmallBatch) {
        T items[kSmallBatch];
#pragma unroll
        for (int i = 0; i < kSmallBatch; ++i) {
          if (begin + i < count) items[i] = memory[(begin + i) * step];
        }
#pragma unroll
        for (int i = 0; i < kSmallBatch; ++i) {
          if (begin + i < count) *reinterpret_cast<T*>(slot + (begin + i) * kRowBytes) = items[i];
        }
      }
    }
  }

  __device__ static void CopyOut(const unsigned char* slot, Out* memory, int count) {
    for (int begin = 0; begin < count; begin += kBatch) {
      Out results[kBatch];
#pragma unroll
      for (int i = 0; i < kBatch; ++i) {
        if (begin + i < count) {
          results[i] = *reinterpret_cast<const Out*>(slot + (begin + i) * kRowBytes);
        }
      }
#pragma unroll
      for (int i = 0; i < kBatch; ++i) {
        if (begin + i < count) memory[(begin + i) * kScanLanes] = results[i];
      }
    }
  }

  const ScanArguments& arguments_;
  const ColumnScanShape& shape_;
  const uint32_t lane_;
  const uint32_t warp_;
  const uint32_t run_;
  const uint32_t strip_column_;
  unsigned char* const slots_;      // Of the warp.
  unsigned char* first_ = nullptr;  // Of a narrow panel: the slot at place 0 of the lane's run.
  uint64_t first_row_ = 0;          // Of the warp's first run.
  uint64_t column_ = 0;
  int size_ = 0;
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_SCAN_COLUMN_PANEL_CUH_
