// A part of a job's input: consecutive bytes of it, wherever it lies.
#ifndef GRIDFOLD_KERNELS_CONTRACT_INPUT_PART_H_
#define GRIDFOLD_KERNELS_CONTRACT_INPUT_PART_H_

#include <algorithm>
#include <cstdint>
#include <variant>
#include <vector>

#include "kernels/contract/resident_memory.h"

namespace gridfold::kernels {

// Keeps the list of slices that a part of HostSlices needs; the bytes stay where they are. The span
// is valid as long as the part and the input are.
class InputPart {
 public:
  // Requires that the input has these bytes.
  InputPart(const InputSpan& input, uint64_t offset_bytes, uint64_t size_bytes) {
    if (const auto* const slices = std::get_if<HostSlices>(&input)) {
      TakeSlices(slices->slices, offset_bytes, size_bytes);
      span_ = HostSlices{slices_, size_bytes};
    } else if (const auto* const resident = std::get_if<ResidentSpan>(&input)) {
      span_ = ResidentSpan{resident->data + offset_bytes, size_bytes, resident->is_mapped};
    } else {
      span_ = HostSpan{std::get<HostSpan>(input).data + offset_bytes, size_bytes};
    }
  }
  InputPart(const InputPart&) = delete;
  InputPart& operator=(const InputPart&) = delete;

  const InputSpan& span() const { return span_; }

 private:
  void TakeSlices(std::span<const HostSpan> slices, uint64_t offset_bytes, uint64_t size_bytes) {
    for (const HostSpan& slice : slices) {
      if (size_bytes == 0) return;
      const uint64_t skipped = std::min<uint64_t>(offset_bytes, slice.size_bytes);
      const uint64_t taken = std::min<uint64_t>(size_bytes, slice.size_bytes - skipped);
      offset_bytes -= skipped;
      size_bytes -= taken;
      if (taken > 0) slices_.push_back({slice.data + skipped, taken});
    }
  }

  std::vector<HostSpan> slices_;
  InputSpan span_;
};

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_CONTRACT_INPUT_PART_H_
