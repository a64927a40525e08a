// A warp's runs of a tile of a scan along axis 0, where columns are so few that all are one strip,
// on their way between device memory, shared memory and registers. A lane scans one run, which is
// one column's; the warp may have several runs of each.
//
// The runs lie one behind the other in memory. They are copied in bulk where they begin as vectors
// do; else lanes copy what comes next, whosever it is. Shared memory keeps the order of device
// memory, with a gap behind the rows of each run: a reverse scan's first position is its last row.
// Results that are longer than elements' places go from registers to device memory: those of four
// columns are a whole part of 32 bytes.
#ifndef GRIDFOLD_KERNELS_CUDA_SCAN_COLUMNS_NARROW_PANEL_CUH_
#define GRIDFOLD_KERNELS_CUDA_SCAN_COLUMNS_NARROW_PANEL_CUH_

#include <cuda_pipeline.h>

#include <cstdint>

#include "kernels/cuda/scan/base/arguments.h"
#include "kernels/cuda/scan/base/bulk_copy.cuh"
#include "kernels/cuda/scan/columns/shape.h"
#include "kernels/cuda/scan/columns/turn.cuh"
#include "kernels/cuda/scan/columns/vector.cuh"
#include "kernels/numerics/scans/tree.h"

namespace gridfold::kernels::cuda {

template <class T, class Out>
class NarrowColumnPanel {
 public:
  static constexpr int kLaneColumns = 1;
  static constexpr uint32_t kColumnsMax = kScanLanes;
  static constexpr int kSlotBytes = static_cast<int>(ColumnSlotBytes(sizeof(T)));
  // The most that Bytes() returns, shared memory that a warp's runs take.
  static constexpr uint32_t kBytesMax = kNarrowColumnPanelSlots * kSlotBytes;
  __device__ static uint32_t Bytes(const ColumnScanShape& shape) {
    return NarrowColumnPanelBytes(sizeof(T), shape);
  }

  __device__ NarrowColumnPanel(const ScanArguments& arguments, const ColumnScanShape& shape)
      : arguments_(arguments),
        shape_(shape),
        columns_(static_cast<int>(shape.columns)),
        run_elements_(columns_ * kScanColumnItems),
        gap_(static_cast<int>(NarrowColumnGap(shape.runs))),
        lane_(static_cast<int>(threadIdx.x % kScanLanes)),
        warp_(threadIdx.x / kScanLanes % kScanColumnWarps),
        run_(lane_ / columns_),
        strip_column_(lane_ % columns_) {}

  // Begins to copy a tile of the one strip to `slots`, shared memory of the warp, part of which
  // `copies` tells when it comes. All lanes.
  __device__ void Load(uint32_t tile, uint32_t, unsigned char* slots, CopyBarrier& copies) const {
    if constexpr (kCopiesInBulk && kResultsTakeSlots) {
      AwaitBulkStoresRead();
      __syncwarp();
    }
    const Span span = SpanOf(FirstRow(tile));
    const T* const memory = static_cast<const T*>(arguments_.input) + span.first;
    if constexpr (sizeof(T) == kSlotBytes) {
      if (TakesVectors<kVector>(span, memory)) return CopyVectorsIn(span, memory, slots, copies);
    }
    if constexpr (sizeof(T) >= 4) {
      CopyIn<1>(span, memory, slots);
    } else {
      CopyInSmall(span, memory, slots);
    }
  }

  // Goes to a tile that has been loaded.
  __device__ void MoveTo(uint32_t tile, uint32_t, unsigned char* slots) {
    slots_ = slots;
    first_row_ = FirstRow(tile);
    const uint64_t begin = first_row_ + run_ * kScanColumnItems;
    const bool has_run = run_ < static_cast<int>(shape_.runs) && begin < shape_.rows;
    size_ = has_run ? static_cast<int>(min(shape_.rows - begin, uint64_t{kScanColumnItems})) : 0;
    const int place = arguments_.reverse ? static_cast<int>(shape_.runs) - 1 - run_ : run_;
    const int row = arguments_.reverse ? kScanColumnItems - 1 : 0;
    first_ = slots + (place * (run_elements_ + gap_) + row * columns_ + strip_column_) * kSlotBytes;
    next_ = static_cast<Out*>(arguments_.output) +
            (arguments_.reverse ? shape_.rows - 1 - begin : begin) * shape_.columns + strip_column_;
  }

  // The lane's run among the warp's, its column in the strip, and how many rows it has: none for
  // lanes that are left over.
  __device__ uint32_t run() const { return run_; }
  __device__ uint32_t strip_column(int) const { return strip_column_; }
  __device__ static bool has_column(int) { return true; }
  __device__ int size() const { return size_; }
  // Whether the run begins at the column's first logical row.
  __device__ bool IsFirst() const { return first_row_ == 0 && run_ == 0; }
  __device__ static bool IsPlain() { return true; }

  // The element at the run's place k.
  __device__ void Read(int k, T (&items)[1]) const {
    items[0] = *reinterpret_cast<const T*>(SlotOf(k));
  }
  // The elements from place `begin` on, a multiple of kCount.
  template <int kCount>
  __device__ void ReadPlain(int begin, T (&items)[kCount][1]) const {
#pragma unroll
    for (int k = 0; k < kCount; ++k) Read(begin + k, items[k]);
  }

  // Takes results, one place after the other.
  __device__ void Write(int k, const Out (&results)[1]) {
    if constexpr (kResultsTakeSlots) {
      *reinterpret_cast<Out*>(SlotOf(k)) = results[0];
    } else {
      *next_ = results[0];
      next_ += arguments_.reverse ? -columns_ : columns_;
    }
  }

  // After the last result: those in slots go to device memory. All lanes.
  __device__ void Flush() const {
    if constexpr (kResultsTakeSlots) {
      __syncwarp();
      const Span span = SpanOf(first_row_);
      Out* const memory = static_cast<Out*>(arguments_.output) + span.first;
      if constexpr (sizeof(Out) == kSlotBytes) {
        if (TakesVectors<kVector>(span, memory)) return CopyVectorsOut(span, memory);
      }
      CopyOut<1>(span, memory);
    }
  }

  // Called by all lanes before the warp gives up its shared memory.
  __device__ static void Finish() { AwaitBulkStoresRead(); }

 private:
  static constexpr bool kResultsTakeSlots = sizeof(Out) <= kSlotBytes;
  static constexpr int kVector = kColumnVectorBytes / kSlotBytes;

  // The warp's runs in memory, as if all of them were whole: the first element's index, and which
  // of the elements from there on are there.
  struct Span {
    int64_t first;
    int begin;
    int end;
  };

  // Vectors of kCount elements that all lanes copy before the next ones' slots are looked for:
  // runs are a multiple of so many.
  template <int kCount>
  static constexpr int kSteps = kCount == 1 ? 2 : 1;
  template <int kCount>
  static constexpr int kStepElements = kCount* kScanLanes;

  // Where an element is in shared memory. Goes on by kSteps steps of all lanes.
  template <int kCount>
  class Cursor {
   public:
    __device__ Cursor(const NarrowColumnPanel& panel, unsigned char* slots)
        : panel_(panel),
          in_run_(panel.lane_ * kCount),
          slot_(slots + panel.lane_ * kCount * kSlotBytes) {
      PassRuns();
    }
    __device__ unsigned char* slot(int step) const {
      return slot_ + step * kStepElements<kCount> * kSlotBytes;
    }
    __device__ void Advance() {
      in_run_ += kElements;
      slot_ += kElements * kSlotBytes;
      PassRuns();
    }

   private:
    static constexpr int kElements = kSteps<kCount> * kStepElements<kCount>;

    __device__ void PassRuns() {
      static_assert(kElements <= 2 * kScanColumnItems, "a run has two columns at least");
      if (in_run_ < panel_.run_elements_) return;
      in_run_ -= panel_.run_elements_;
      slot_ += panel_.gap_ * kSlotBytes;
    }

    const NarrowColumnPanel& panel_;
    int in_run_;
    unsigned char* slot_;
  };

  __device__ uint64_t FirstRow(uint32_t tile) const {
    return uint64_t{tile} * shape_.tile_rows + warp_ * shape_.runs * kScanColumnItems;
  }
  __device__ Span SpanOf(uint64_t first_row) const {
    const int rows_max = static_cast<int>(shape_.runs) * kScanColumnItems;
    const int rows = first_row >= shape_.rows
                         ? 0
                         : static_cast<int>(min(shape_.rows - first_row, uint64_t(rows_max)));
    if (!arguments_.reverse) {
      return {static_cast<int64_t>(first_row * shape_.columns), 0, rows * columns_};
    }
    const int64_t last_rows = static_cast<int64_t>(shape_.rows - first_row) - rows_max;
    return {last_rows * columns_, (rows_max - rows) * columns_, rows_max * columns_};
  }
  template <int kCount, class V>
  __device__ bool TakesVectors(const Span& span, const V* memory) const {
    return gap_ % kCount == 0 && span.begin == 0 &&
           span.end == static_cast<int>(shape_.runs) * run_elements_ &&
           reinterpret_cast<uintptr_t>(memory) % kColumnVectorBytes == 0;
  }
  __device__ unsigned char* SlotOf(int k) const {
    const int step = columns_ * kSlotBytes;
    return first_ + k * (arguments_.reverse ? -step : step);
  }

  // Whether an element, of the vectors that begin in front of the span's end, is there. See
  // TakesVectors.
  template <int kCount>
  __device__ static bool IsIn(const Span& span, int element) {
    return (kCount > 1 || element >= span.begin) && element < span.end;
  }

  // Calls visit(step, element, slot) for the next vectors that are there, and goes on.
  template <int kCount, int kBatch, class Visit>
  __device__ static void ForBatch(const Span& span, int begin, Cursor<kCount>& cursor,
                                  Visit&& visit) {
#pragma unroll
    for (int i = 0; i < kBatch; ++i) {
      const int element = begin + i * kStepElements<kCount>;
      const int step = i % kSteps<kCount>;
      if (IsIn<kCount>(span, element)) visit(i, element, cursor.slot(step));
      if (step == kSteps<kCount> - 1) cursor.Advance();
    }
  }

  // All of the warp's runs, each a lane's in bulk.
  __device__ bool CopiesRun() const { return lane_ < static_cast<int>(shape_.runs); }
  __device__ unsigned char* LaneRunSlots(unsigned char* slots) const {
    return slots + lane_ * (run_elements_ + gap_) * kSlotBytes;
  }
  __device__ uint32_t RunBytes() const { return static_cast<uint32_t>(run_elements_) * kSlotBytes; }
  __device__ void CopyVectorsIn(const Span& span, const T* memory, unsigned char* slots,
                                CopyBarrier& copies) const {
    if constexpr (kCopiesInBulk) {
      FenceSharedMemory();
      __syncwarp();
      if (!CopiesRun()) return;
      copies.BeginBulkLoad(LaneRunSlots(slots), memory + lane_ * run_elements_, RunBytes());
    } else {
      CopyIn<kVector>(span, memory, slots);
    }
  }
  __device__ void CopyVectorsOut(const Span& span, Out* memory) const {
    if constexpr (kCopiesInBulk) {
      FenceSharedMemory();
      __syncwarp();
      if (!CopiesRun()) return;
      BeginBulkStore(memory + lane_ * run_elements_, LaneRunSlots(slots_), RunBytes());
    } else {
      CopyOut<kVector>(span, memory);
    }
  }

  template <int kCount>
  __device__ void CopyIn(const Span& span, const T* memory, unsigned char* slots) const {
    constexpr int kBatch = 4;
    Cursor<kCount> cursor(*this, slots);
    for (int begin = lane_ * kCount; begin < span.end; begin += kBatch * kStepElements<kCount>) {
      ForBatch<kCount, kBatch>(span, begin, cursor, [&](int, int e, unsigned char* slot) {
        __pipeline_memcpy_async(slot, memory + e, sizeof(T) * kCount);
      });
    }
  }

  // Elements that are too small for asynchronous copies go by way of registers.
  __device__ void CopyInSmall(const Span& span, const T* memory, unsigned char* slots) const {
    constexpr int kBatch = 8;
    Cursor<1> cursor(*this, slots);
    for (int begin = lane_; begin < span.end; begin += kBatch * kScanLanes) {
      T items[kBatch];
#pragma unroll
      for (int i = 0; i < kBatch; ++i) {
        const int e = begin + i * kScanLanes;
        if (IsIn<1>(span, e)) items[i] = memory[e];
      }
      ForBatch<1, kBatch>(span, begin, cursor, [&](int i, int, unsigned char* slot) {
        *reinterpret_cast<T*>(slot) = items[i];
      });
    }
  }

  template <int kCount>
  __device__ void CopyOut(const Span& span, Out* memory) const {
    using Results = ColumnVector<Out, kCount>;
    constexpr int kBatch = 32 / kSlotBytes / (kCount == 1 ? 1 : 2);
    Cursor<kCount> cursor(*this, slots_);
    for (int begin = lane_ * kCount; begin < span.end; begin += kBatch * kStepElements<kCount>) {
      Results results[kBatch];
      ForBatch<kCount, kBatch>(span, begin, cursor, [&](int i, int, const unsigned char* slot) {
        results[i] = *reinterpret_cast<const Results*>(slot);
      });
#pragma unroll
      for (int i = 0; i < kBatch; ++i) {
        const int e = begin + i * kStepElements<kCount>;
        if (IsIn<kCount>(span, e)) *reinterpret_cast<Results*>(memory + e) = results[i];
      }
    }
  }

  const ScanArguments& arguments_;
  const ColumnScanShape& shape_;
  const int columns_;
  const int run_elements_;
  const int gap_;
  const int lane_;
  const uint32_t warp_;
  const int run_;
  const int strip_column_;
  unsigned char* slots_ = nullptr;  // Of the tile that is gone to.
  unsigned char* first_ = nullptr;  // The slot at place 0 of the lane's run.
  Out* next_ = nullptr;             // Where its next result goes, if not there.
  uint64_t first_row_ = 0;          // Of the warp's first run.
  int size_ = 0;
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_SCAN_COLUMNS_NARROW_PANEL_CUH_
