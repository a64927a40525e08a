// The byte format of accumulators, version 1, which carries the states of a reduction or a
// histogram from one server to another. Written and read here, in state.h and in
// *_accumulator*.cc only.
//
// Everything is little-endian. Equal states have equal bytes: every number has one form, and
// readers accept no other.
//
//   accumulator   magic "GFAC"; version (2 bytes); kind (1 byte); body; checksum (8 bytes)
//   kind          1 reduction, 2 histogram, 3 reduction by found keys
//   checksum      CRC-64/XZ of all bytes before it
//
//   integer       length n in bytes, 0 to 8 (1 byte); n bytes, the last of them not 0
//   number        flags (1 byte): bits 0 to 2 as kSaw... of numerics/sums/exact_sum.h (0 for
//                 integers), bit 3: negative; lowest limb (1 byte); limb count n (1 byte); n limbs
//                 (8 bytes each), the first and the last of them not 0. The number's magnitude is
//                 the limbs from the lowest one on, in units of the smallest number of the format
//                 (ExactSum::kLowestExponent) or of 1. 0, and what is not finite, have n = 0 and
//                 lowest limb 0. A sum of m addends that have b bits is below m * 2^b
//   element       its bits, in the compute type (numerics/arithmetic/element.h); every NaN is the
//                 quiet one
//   element type  1 byte: 0 int8, 1 int16, ... 11 float64, in the order of types/element_type.h
//
// A reduction's body:
//   header        element type; NaN policy (0 propagate, 1 ignore); overflow policy (0 error,
//                 1 wrap), 1 byte each; delta degrees of freedom (integer); number of statistics
//                 (1 byte) and statistics (1 byte each, as types/statistic.h has them); number of
//                 groups (integer)
//   each group    (of a reduction by key: each key of the range or each bin, in order; the keys
//                 themselves are not part of it, but where they are found: see below)
//                 number of elements (integer, below 2^63); where that is not 0, those of the parts
//                 below that the statistics need (PartsOf of
//                 numerics/statistics/statistic_value.h), in this order:
//     sum         number
//     squares     number
//     extremes    0 (1 byte) where every element is an ignored NaN; else 1, smallest element, its
//                 index (integer), largest element, its index (integer)
//     tally       numbers of elements other than 0, of NaNs, of infinities (integers)
//     magnitudes  number
//     product     1 (1 byte) where a factor is 0; else, where its magnitude is 2^64 or more, 2 and
//                 the product modulo 2^64 (8 bytes); else 4 (negative) or 0 and the magnitude
//                 (8 bytes)
//     bits        and, or, exclusive or (an element each)
//
// The body of a reduction by found keys:
//   header        as a reduction's
//   keys          their element type (1 byte); how many there may be at most (integer, 0 where that
//   is
//                 not said); where there are groups, the least key (8 bytes, two's complement, or
//                 unsigned where the type is), and of each further one how much more it is than the
//                 one before (integer, not 0)
//   each group    in the order of the keys, as a reduction's; none is without elements
//
// A histogram's body:
//   header        element type; out-of-range policy (0 drop, 1 clamp); two-dimensional (0 or 1);
//                 sparse answer (0 or 1); weighted (0 or 1), 1 byte each; weights' element type
//                 (1 byte, 0 where not weighted); channels (integer); number of quantiles (integer)
//                 and quantiles (float64 each); number of layouts (integer: 1 where all channels or
//                 axes have the same, else one for each); layouts
//   layout        kind (1 byte: 0 even, 1 table, 2 integer, 3 integer from 2^63 on); number of bins
//                 b (integer); then of even bins lower and upper bound (float64), of a table b + 1
//                 edges (float64), of integer bins the integer of bin 0 (8 bytes, two's complement;
//                 unsigned where the kind is 3)
//   samples       number of samples, all channels together (integer, below 2^63)
//   each channel  underflow, overflow and NaN count (integers)
//   bins          of all channels, one after the other, in row-major order in two dimensions: the
//                 count (integer), or the sum of the weights (number); for a longest run of bins
//                 that are 0 instead: 0x00, or 0x80 in the place of a number's flags, and the
//                 length of the run (integer). So few bins that are not 0 take little room, and
//                 many take no more than their values. (Read, but no longer written: a number that
//                 is 0 with a flag that says that weights other than -0.0 made it)
#ifndef GRIDFOLD_KERNELS_ACCUMULATORS_BYTES_H_
#define GRIDFOLD_KERNELS_ACCUMULATORS_BYTES_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace gridfold::kernels {

enum class AccumulatorKind : uint8_t { kReduction = 1, kHistogram = 2, kKeyedReduction = 3 };

// Opens with magic, version and kind; takes the body; closes with the checksum.
class AccumulatorWriter {
 public:
  explicit AccumulatorWriter(AccumulatorKind kind);
  // Takes a piece of a body, for another writer.
  AccumulatorWriter() = default;

  void Byte(uint8_t value) { bytes_.push_back(static_cast<char>(value)); }
  // The `size` lowest bytes of `bits`.
  void Fixed(uint64_t bits, size_t size);
  void Double(double value);
  void Integer(uint64_t value);
  void Number(uint32_t flags, bool negative, const uint64_t* magnitude, int limb_count);
  void Append(const AccumulatorWriter& piece) { bytes_ += piece.bytes_; }
  // What was written so far.
  absl::string_view bytes() const { return bytes_; }

  std::string Finish() &&;

 private:
  std::string bytes_;
};

// Reads a body. Bytes that do not follow the format make ok() false for good, and everything read
// from then on 0. Reads nothing but the bytes it was given, and takes no memory.
class AccumulatorReader {
 public:
  explicit AccumulatorReader(absl::string_view body) : begin_(body.data()), rest_(body) {}

  bool ok() const { return ok_; }
  void Fail();
  // Fails unless `condition` holds.
  void Require(bool condition) {
    if (!condition) Fail();
  }

  uint8_t Byte();
  uint8_t PeekByte();
  bool Bool();
  uint64_t Fixed(size_t size);
  double Double();
  uint64_t Integer();

  // A number into `magnitude`, which has `limb_count` limbs. It is 0 or, as a sum of so many
  // addends of so many bits each, below addend_count * 2^addend_bits. What is added of such numbers
  // is one again, so that merging never leaves the range.
  struct NumberForm {
    uint32_t flags = 0;
    bool negative = false;
  };
  NumberForm Number(uint64_t* magnitude, int limb_count, int addend_bits, uint64_t addend_count);

  // Bytes read so far, and those that are left.
  absl::string_view consumed() const {
    return {begin_, static_cast<size_t>(rest_.data() - begin_)};
  }
  size_t rest_size() const { return rest_.size(); }

 private:
  const char* begin_;
  absl::string_view rest_;
  bool ok_ = true;
};

struct AccumulatorBody {
  AccumulatorKind kind;
  absl::string_view bytes;  // Points into the accumulator.
};

// Checks magic, version, kind and checksum. Errors: INVALID_ARGUMENT that says which, without a
// field.
absl::StatusOr<AccumulatorBody> OpenAccumulator(absl::string_view accumulator);

// INVALID_ARGUMENT for a body that does not follow the format; without a field.
absl::Status DamagedAccumulator();

// What is made of several accumulators: all are merged; or what all but the first stand for is
// taken out of the first, in which it was.
enum class Combination : uint8_t { kMerge, kSubtract };

// The error of one of several accumulators: `status` with the field accumulators[i]; of a
// subtraction, minuend (of the first) or subtrahends[i - 1].
absl::Status AccumulatorError(Combination combination, size_t i, const absl::Status& status);

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_ACCUMULATORS_BYTES_H_
