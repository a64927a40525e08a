// The trees of floating-point products and scans, built as numerics/arithmetic/product_tree.h and
// numerics/scans/tree.h describe them in words, sharing none of their code or constants: the
// answers of every engine must have these bits.
#ifndef GRIDFOLD_KERNELS_CONFORMANCE_FLOAT_TREES_H_
#define GRIDFOLD_KERNELS_CONFORMANCE_FLOAT_TREES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gridfold::kernels::conformance {

// A float64 number whose exponent has no bounds: fraction * 2^exponent, with any fraction.
struct UnboundedFloat {
  double fraction;
  int64_t exponent;

  static UnboundedFloat Of(double x) { return {x, 0}; }
  // Rounded to 53 bits; sums to what float64 has below the normal range.
  UnboundedFloat Times(UnboundedFloat other) const;
  UnboundedFloat Plus(UnboundedFloat other) const;
  // To the nearest float64, ties to even.
  double Rounded() const;

 private:
  // A fraction from a half to below 1, unless it is 0 or not finite, which the exponent goes with.
  UnboundedFloat Normalised() const;
};

double ProductByTree(const std::vector<double>& factors);

// The operation of a floating-point scan.
struct FloatOperation {
  bool is_product;

  UnboundedFloat Identity() const { return UnboundedFloat::Of(is_product ? 1.0 : -0.0); }
  double EmptyResult() const { return is_product ? 1.0 : 0.0; }
  UnboundedFloat Join(UnboundedFloat a, UnboundedFloat b) const;
};

// Running values at logical positions; starts_group[p] says whether a group starts at p.
std::vector<double> ScanByTree(const std::vector<double>& values,
                               const std::vector<bool>& starts_group, FloatOperation operation,
                               bool exclusive);

// The same for one of the `columns` columns of a matrix scanned along axis 0.
std::vector<double> ScanColumnByTree(const std::vector<double>& values, size_t columns,
                                     FloatOperation operation, bool exclusive);

}  // namespace gridfold::kernels::conformance

#endif  // GRIDFOLD_KERNELS_CONFORMANCE_FLOAT_TREES_H_
