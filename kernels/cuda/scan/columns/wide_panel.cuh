// A warp's runs of a tile of a scan along axis 0, where it has one of each column of a strip, on
// their way between device memory, shared memory and registers. A lane scans the runs of
// kLaneColumns columns, kScanLanes apart.
//
// Rows are copied by the vectors of 16 bytes that cover them, which pass the first-level cache by,
// and so lie in shared memory as far behind such a vector's beginning as in device memory. Results
// go from registers to device memory, whole lines at a time.
#ifndef GRIDFOLD_KERNELS_CUDA_SCAN_COLUMNS_WIDE_PANEL_CUH_
#define GRIDFOLD_KERNELS_CUDA_SCAN_COLUMNS_WIDE_PANEL_CUH_

#include <cuda_pipeline.h>

#include <cstdint>

#include "kernels/cuda/scan/base/arguments.h"
#include "kernels/cuda/scan/columns/shape.h"
#include "kernels/cuda/scan/columns/turn.cuh"
#include "kernels/numerics/scans/tree.h"

namespace gridfold::kernels::cuda {

template <class T, class Out, int kColumnsOfLane>
class WideColumnPanel {
 public:
  static constexpr int kLaneColumns = kColumnsOfLane;
  static constexpr uint32_t kColumnsMax = kLaneColumns * kScanLanes;
  // Shared memory that a warp's runs take.
  static constexpr uint32_t kBytesMax = WideColumnPanelBytes(sizeof(T), kColumnsMax);
  __device__ static uint32_t Bytes(const ColumnScanShape&) { return kBytesMax; }

  __device__ WideColumnPanel(const ScanArguments& arguments, const ColumnScanShape& shape)
      : arguments_(arguments),
        shape_(shape),
        lane_(threadIdx.x % kScanLanes),
        warp_(threadIdx.x / kScanLanes % kScanColumnWarps),
        rows_are_even_(shape.columns * sizeof(T) % kColumnVectorBytes == 0),
        is_aligned_(rows_are_even_ &&
                    reinterpret_cast<uintptr_t>(arguments.input) % kColumnVectorBytes == 0 &&
                    shape.strip_columns * sizeof(T) % kColumnVectorBytes == 0) {
    const uint32_t strip_bytes = shape.strip_columns * static_cast<uint32_t>(sizeof(T));
    const uint32_t shift_max = is_aligned_ ? 0 : kColumnVectorBytes - sizeof(T);
    const uint32_t row_vectors = CeilDivide(strip_bytes + shift_max, kColumnVectorBytes);
    rows_together_ = kScanLanes / row_vectors;
    copied_row_ = lane_ / row_vectors;
    copied_byte_ = lane_ % row_vectors * kColumnVectorBytes;
  }

  // Begins to copy a tile of a strip to `slots`, shared memory of the warp. All lanes.
  __device__ void Load(uint32_t tile, uint32_t strip, unsigned char* slots, CopyBarrier&) const {
    if (copied_row_ >= rows_together_) return;
    const uint64_t first_row = FirstRow(tile);
    const uint64_t column = uint64_t{strip} * shape_.strip_columns;
    const int row_bytes =
        static_cast<int>(min(uint64_t{shape_.strip_columns}, shape_.columns - column) * sizeof(T));
    const int64_t pitch = Pitch() * static_cast<int64_t>(sizeof(T));
    const uint32_t count = RunSize(first_row);
    uintptr_t row = reinterpret_cast<uintptr_t>(static_cast<const T*>(arguments_.input) +
                                                Element(first_row, column)) +
                    copied_row_ * pitch;
    unsigned char* slot = slots + copied_row_ * kRowBytes + copied_byte_;
    if (is_aligned_) {
      if (static_cast<int>(copied_byte_) >= row_bytes) return;
      row += copied_byte_;
#pragma unroll 8
      for (uint32_t k = copied_row_; k < count; k += rows_together_) {
        __pipeline_memcpy_async(slot, reinterpret_cast<const void*>(row), kColumnVectorBytes);
        row += rows_together_ * pitch;
        slot += rows_together_ * kRowBytes;
      }
      return;
    }
    const bool is_inside = IsInside(row, (static_cast<int64_t>(count) - 1 - copied_row_) * pitch);
#pragma unroll 4
    for (uint32_t k = copied_row_; k < count; k += rows_together_) {
      const uint32_t shift = ShiftOf(row);
      const uintptr_t vector = row - shift + copied_byte_;
      if (static_cast<int>(copied_byte_) < row_bytes + static_cast<int>(shift)) {
        if (is_inside) {
          __pipeline_memcpy_async(slot, reinterpret_cast<const void*>(vector), kColumnVectorBytes);
        } else {
          CopyElements(vector, slot);
        }
      }
      row += rows_together_ * pitch;
      slot += rows_together_ * kRowBytes;
    }
  }

  // Goes to a tile of a strip that has been loaded.
  __device__ void MoveTo(uint32_t tile, uint32_t strip, const unsigned char* slots) {
    first_row_ = FirstRow(tile);
    const uint64_t strip_column = uint64_t{strip} * shape_.strip_columns;
    const uint64_t column = strip_column + lane_;
    columns_ =
        static_cast<uint32_t>(min(uint64_t{shape_.strip_columns}, shape_.columns - strip_column));
    size_ = has_column(0) ? static_cast<int>(RunSize(first_row_)) : 0;
    next_ = static_cast<Out*>(arguments_.output) + Element(first_row_, column);
    row_ = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(
        static_cast<const T*>(arguments_.input) + Element(first_row_, strip_column)));
    first_ = slots + lane_ * sizeof(T);
  }

  // The lane's runs among the warp's, its columns in the strip, which of them there are, and how
  // many rows they have: none for lanes that are left over.
  __device__ static uint32_t run() { return 0; }
  __device__ uint32_t strip_column(int c) const { return lane_ + c * kScanLanes; }
  __device__ bool has_column(int c) const { return strip_column(c) < columns_; }
  __device__ int size() const { return size_; }
  // Whether the runs begin at the columns' first logical row.
  __device__ bool IsFirst() const { return first_row_ == 0; }
  // Whether all rows lie equally far behind the beginning of a vector.
  __device__ bool IsPlain() const { return rows_are_even_; }

  // The elements at the runs' place k, if there are such columns.
  __device__ void Read(int k, T (&items)[kLaneColumns]) const {
    const auto pitch = static_cast<uint32_t>(Pitch() * static_cast<int>(sizeof(T)));
    ReadSlots(k, ShiftOf(row_ + k * pitch), items);
  }
  // The elements from place `begin` on, of a plain panel.
  template <int kCount>
  __device__ void ReadPlain(int begin, T (&items)[kCount][kLaneColumns]) const {
#pragma unroll
    for (int k = 0; k < kCount; ++k) ReadSlots(begin + k, ShiftOf(row_), items[k]);
  }

  // Takes results, one place after the other.
  __device__ void Write(int, const Out (&results)[kLaneColumns]) {
#pragma unroll
    for (int c = 0; c < kLaneColumns; ++c) {
      if (c == 0 || has_column(c)) next_[c * kScanLanes] = results[c];
    }
    next_ += Pitch();
  }

  // After the last result. All lanes.
  __device__ void Flush() const {}
  // Called before the warp gives up its shared memory.
  __device__ static void Finish() {}

 private:
  static constexpr uint32_t kRowBytes = WideColumnRowBytes(sizeof(T), kColumnsMax);

  __device__ static uint32_t ShiftOf(uintptr_t address) {
    return static_cast<uint32_t>(address) % kColumnVectorBytes;
  }

  __device__ void ReadSlots(int k, uint32_t shift, T (&items)[kLaneColumns]) const {
    const T* const slots = reinterpret_cast<const T*>(first_ + k * kRowBytes + shift);
#pragma unroll
    for (int c = 0; c < kLaneColumns; ++c) {
      // Behind the last column the next warp's panel may begin, which that warp is filling.
      items[c] = c == 0 || has_column(c) ? slots[c * kScanLanes] : T{};
    }
  }

  __device__ uint64_t FirstRow(uint32_t tile) const {
    return uint64_t{tile} * shape_.tile_rows + warp_ * kScanColumnItems;
  }
  __device__ uint32_t RunSize(uint64_t first_row) const {
    if (first_row >= shape_.rows) return 0;
    return static_cast<uint32_t>(min(shape_.rows - first_row, uint64_t{kScanColumnItems}));
  }
  // The element at a logical row, and the distance of the next one's.
  __device__ uint64_t Element(uint64_t row, uint64_t column) const {
    return (arguments_.reverse ? shape_.rows - 1 - row : row) * shape_.columns + column;
  }
  __device__ int64_t Pitch() const {
    const auto columns = static_cast<int64_t>(shape_.columns);
    return arguments_.reverse ? -columns : columns;
  }

  // Whether the vectors that a lane copies, in rows from `row` to `reach` bytes on, are all the
  // array's as a whole.
  __device__ bool IsInside(uintptr_t row, int64_t reach) const {
    const auto begin = reinterpret_cast<uintptr_t>(arguments_.input);
    const uintptr_t end = begin + arguments_.element_count * sizeof(T);
    const uintptr_t low = min(row, row + reach) + copied_byte_;
    const uintptr_t high = max(row, row + reach) + copied_byte_;
    return low >= begin + kColumnVectorBytes && high + kColumnVectorBytes <= end;
  }

  // Copies the elements of a vector that are the array's, one by one.
  __device__ void CopyElements(uintptr_t memory, unsigned char* slot) const {
    const auto begin = reinterpret_cast<uintptr_t>(arguments_.input);
    const uintptr_t end = begin + arguments_.element_count * sizeof(T);
#pragma unroll 1
    for (uint32_t i = 0; i < kColumnVectorBytes; i += sizeof(T)) {
      if (memory + i < begin || memory + i >= end) continue;
      *reinterpret_cast<T*>(slot + i) = *reinterpret_cast<const T*>(memory + i);
    }
  }

  const ScanArguments& arguments_;
  const ColumnScanShape& shape_;
  const uint32_t lane_;
  const uint32_t warp_;
  const bool rows_are_even_;
  const bool is_aligned_;  // Whether vectors cover strips and nothing else.
  // The lanes copy the vectors of so many rows together; which row and where in it is the lane's.
  uint32_t rows_together_;
  uint32_t copied_row_;
  uint32_t copied_byte_;
  const unsigned char* first_ = nullptr;  // The lane's slots, but for the shift.
  Out* next_ = nullptr;                   // Where its next result goes.
  uint64_t first_row_ = 0;
  uint32_t columns_ = 0;  // Of the strip.
  uint32_t row_ = 0;      // The address of the strip's first row, modulo 2^32.
  int size_ = 0;
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_SCAN_COLUMNS_WIDE_PANEL_CUH_
