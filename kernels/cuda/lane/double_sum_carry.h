// The carry of a running sum of float64 elements, whose parts are scanned as kSum or, where numbers
// are too large for that, as kUnboundedSum: each leaves a carry of its own form, and continues from
// one. A ScanCarry says in its last byte which form it has; scans leave that as it is.
#ifndef GRIDFOLD_KERNELS_CUDA_LANE_DOUBLE_SUM_CARRY_H_
#define GRIDFOLD_KERNELS_CUDA_LANE_DOUBLE_SUM_CARRY_H_

#include <cmath>
#include <cstring>

#include "kernels/contract/scan.h"
#include "kernels/numerics/arithmetic/unbounded_sum.h"
#include "kernels/numerics/scans/operator.h"

namespace gridfold::kernels::cuda {

class DoubleSumCarry {
 public:
  explicit DoubleSumCarry(const ScanCarry& carry) {
    if (carry.value.back() == kUnbounded) {
      std::memcpy(&sum_, carry.value.data(), sizeof(sum_));
    } else {
      GroupedValue<double> plain;
      std::memcpy(&plain, carry.value.data(), sizeof(plain));
      sum_ = {UnboundedSum::Of(plain.value), plain.starts_group};
    }
  }

  // Whether kSum cannot continue from it.
  bool IsLarge() const { return sum_.value.exponent != 0; }
  bool IsFinite() const { return kernels::IsFinite(sum_.value.fraction); }
  double Magnitude() const { return std::fabs(sum_.value.fraction); }

  // Puts the carry into the form that a scan continues from.
  void Store(bool is_unbounded, ScanCarry& carry) const {
    if (is_unbounded) {
      std::memcpy(carry.value.data(), &sum_, sizeof(sum_));
    } else {
      const GroupedValue<double> plain{sum_.value.fraction, sum_.starts_group};
      std::memcpy(carry.value.data(), &plain, sizeof(plain));
    }
    carry.value.back() = is_unbounded ? kUnbounded : std::byte{0};
  }

 private:
  static constexpr std::byte kUnbounded{1};

  GroupedValue<UnboundedSum> sum_;
  static_assert(sizeof(sum_) < ScanCarry::kValueBytesMax);
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_LANE_DOUBLE_SUM_CARRY_H_
