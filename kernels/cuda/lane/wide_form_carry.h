// The carry of a scan whose parts are made with a plain operator or with its wide form
// (numerics/scans/operator.h): each leaves a carry of its own form, and continues from one. A
// ScanCarry says in its last byte which form it has; scans leave that as it is.
#ifndef GRIDFOLD_KERNELS_CUDA_LANE_WIDE_FORM_CARRY_H_
#define GRIDFOLD_KERNELS_CUDA_LANE_WIDE_FORM_CARRY_H_

#include <cstring>

#include "kernels/contract/scan.h"
#include "kernels/numerics/scans/operator.h"

namespace gridfold::kernels::cuda {

// `Wide`: the wide form's operator.
template <class Wide>
class WideFormCarry {
 public:
  using Value = typename Wide::Value;

  WideFormCarry() : carried_{Wide::Identity(), false} {}  // Of no elements.
  explicit WideFormCarry(const ScanCarry& carry) {
    if (carry.value.back() == kWide) {
      std::memcpy(&carried_, carry.value.data(), sizeof(carried_));
    } else {
      GroupedValue<double> plain;
      std::memcpy(&plain, carry.value.data(), sizeof(plain));
      carried_ = {Value::Of(plain.value), plain.starts_group};
    }
  }

  const Value& value() const { return carried_.value; }

  // Puts the carry into the form that a scan continues from.
  void Store(bool is_wide, ScanCarry& carry) const {
    if (is_wide) {
      std::memcpy(carry.value.data(), &carried_, sizeof(carried_));
    } else {
      const GroupedValue<double> plain{carried_.value.Rounded(), carried_.starts_group};
      std::memcpy(carry.value.data(), &plain, sizeof(plain));
    }
    carry.value.back() = is_wide ? kWide : std::byte{0};
  }

 private:
  static constexpr std::byte kWide{1};

  GroupedValue<Value> carried_;
  static_assert(sizeof(carried_) < ScanCarry::kValueBytesMax);
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_LANE_WIDE_FORM_CARRY_H_
