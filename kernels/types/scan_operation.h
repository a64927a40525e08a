// What device code knows of scans (contract/scan.h).
#ifndef GRIDFOLD_KERNELS_TYPES_SCAN_OPERATION_H_
#define GRIDFOLD_KERNELS_TYPES_SCAN_OPERATION_H_

#include <cstdint>

namespace gridfold::kernels {

enum class ScanOperation : uint8_t {
  kSum,
  kProduct,
  kMin,
  kMax,
  kMean,
  // No plan has these; kernels do (numerics/scans/operator.h). Extremes of floating-point elements
  // whose NaNs are ignored; sums of float64 elements that are so large that parts of the tree
  // overflow; and products of floating-point elements of which a running one comes near an end of
  // the range.
  kMaxOfNumbers,
  kUnboundedSum,
  kScaledProduct
};

// Sums of 32-bit integers accumulate in 64 bits, which 2^32 of them cannot overflow.
inline constexpr uint64_t kScanElementsMax = uint64_t{1} << 32;

// Where an array may be cut that is scanned part by part: at multiples of so many elements. There
// the tree of numerics/scans/tree.h has come to one value, so the bits are those of one scan.
inline constexpr uint64_t kScanCarryElements = 131072;

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_TYPES_SCAN_OPERATION_H_
