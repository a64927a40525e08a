#include "kernels/accumulators/bytes.h"

#include <algorithm>
#include <array>
#include <bit>

#include "absl/strings/str_cat.h"
#include "kernels/contract/invalid_field.h"
#include "kernels/numerics/arithmetic/limbs.h"
#include "kernels/numerics/sums/exact_sum.h"

namespace gridfold::kernels {

namespace {

constexpr absl::string_view kMagic = "GFAC";
constexpr size_t kVersionBytes = 2;
constexpr uint64_t kVersion = 1;
constexpr size_t kOpeningBytes = kMagic.size() + kVersionBytes + 1;
constexpr size_t kChecksumBytes = 8;

constexpr uint8_t kFlagBits = kSawNan | kSawOtherThanNegativeZero;
constexpr uint8_t kNegativeBit = 8;

constexpr std::array<uint64_t, 256> ChecksumTable() {
  constexpr uint64_t kReversedPolynomial = 0xC96C'5795'D787'0F42;
  std::array<uint64_t, 256> table{};
  for (uint64_t byte = 0; byte < table.size(); ++byte) {
    uint64_t rest = byte;
    for (int bit = 0; bit < 8; ++bit) {
      rest = (rest >> 1) ^ ((rest & 1) != 0 ? kReversedPolynomial : 0);
    }
    table[byte] = rest;
  }
  return table;
}

// CRC-64/XZ.
uint64_t ChecksumOf(absl::string_view bytes) {
  static constexpr std::array<uint64_t, 256> kTable = ChecksumTable();
  uint64_t checksum = ~uint64_t{0};
  for (const char byte : bytes) {
    checksum = kTable[(checksum ^ static_cast<uint8_t>(byte)) & 0xFF] ^ (checksum >> 8);
  }
  return ~checksum;
}

uint64_t LoadFixed(absl::string_view bytes) {
  uint64_t value = 0;
  for (size_t i = bytes.size(); i > 0; --i) {
    value = (value << 8) | static_cast<uint8_t>(bytes[i - 1]);
  }
  return value;
}

}  // namespace

AccumulatorWriter::AccumulatorWriter(AccumulatorKind kind) : bytes_(kMagic) {
  Fixed(kVersion, kVersionBytes);
  Byte(static_cast<uint8_t>(kind));
}

void AccumulatorWriter::Fixed(uint64_t bits, size_t size) {
  char little_endian[sizeof(bits)];
  for (size_t i = 0; i < sizeof(bits); ++i) little_endian[i] = static_cast<char>(bits >> (8 * i));
  bytes_.append(little_endian, size);
}

void AccumulatorWriter::Double(double value) { Fixed(std::bit_cast<uint64_t>(value), 8); }

void AccumulatorWriter::Integer(uint64_t value) {
  const size_t size = (static_cast<size_t>(std::bit_width(value)) + 7) / 8;
  Byte(static_cast<uint8_t>(size));
  Fixed(value, size);
}

void AccumulatorWriter::Number(uint32_t flags, bool negative, const uint64_t* magnitude,
                               int limb_count) {
  const int end = SignificantLimbs(magnitude, limb_count);
  int lowest = 0;
  while (lowest < end && magnitude[lowest] == 0) ++lowest;
  Byte(static_cast<uint8_t>(flags | (negative ? kNegativeBit : 0)));
  Byte(static_cast<uint8_t>(lowest));
  Byte(static_cast<uint8_t>(end - lowest));
  for (int i = lowest; i < end; ++i) Fixed(magnitude[i], 8);
}

std::string AccumulatorWriter::Finish() && {
  Fixed(ChecksumOf(bytes_), kChecksumBytes);
  return std::move(bytes_);
}

void AccumulatorReader::Fail() {
  ok_ = false;
  rest_.remove_prefix(rest_.size());
}

uint8_t AccumulatorReader::Byte() { return static_cast<uint8_t>(Fixed(1)); }

uint8_t AccumulatorReader::PeekByte() {
  Require(!rest_.empty());
  return ok_ ? static_cast<uint8_t>(rest_.front()) : 0;
}

bool AccumulatorReader::Bool() {
  const uint8_t value = Byte();
  Require(value <= 1);
  return value == 1;
}

uint64_t AccumulatorReader::Fixed(size_t size) {
  if (size > rest_.size()) {
    Fail();
    return 0;
  }
  const uint64_t value = LoadFixed(rest_.substr(0, size));
  rest_.remove_prefix(size);
  return value;
}

double AccumulatorReader::Double() { return std::bit_cast<double>(Fixed(8)); }

uint64_t AccumulatorReader::Integer() {
  const size_t size = Byte();
  if (size > 8) {
    Fail();
    return 0;
  }
  const uint64_t value = Fixed(size);
  Require((static_cast<size_t>(std::bit_width(value)) + 7) / 8 == size);
  return value;
}

AccumulatorReader::NumberForm AccumulatorReader::Number(uint64_t* magnitude, int limb_count,
                                                        int addend_bits, uint64_t addend_count) {
  std::fill_n(magnitude, limb_count, 0);
  const uint8_t form = Byte();
  const int lowest = Byte();
  const int count = Byte();
  Require((form & ~(kFlagBits | kNegativeBit)) == 0 && lowest + count <= limb_count);
  const bool negative = (form & kNegativeBit) != 0;
  // What is 0 has no sign and no place, and what is not finite has no number.
  Require(count > 0 ? (form & kSawNan) == 0 : !negative && lowest == 0);
  if (!ok_) return {};
  for (int i = lowest; i < lowest + count; ++i) magnitude[i] = Fixed(8);
  if (count > 0) {
    Require(magnitude[lowest] != 0 && magnitude[lowest + count - 1] != 0);
    Require(BitsFrom(magnitude, limb_count, addend_bits) < addend_count);
  }
  return {uint32_t{form} & kFlagBits, negative};
}

absl::StatusOr<AccumulatorBody> OpenAccumulator(absl::string_view accumulator) {
  const auto invalid = [](const auto&... description) {
    return absl::InvalidArgumentError(absl::StrCat(description...));
  };
  if (accumulator.substr(0, kMagic.size()) != kMagic) return invalid("not an accumulator");
  if (accumulator.size() < kOpeningBytes + kChecksumBytes) return invalid("cut short");
  const uint64_t version = LoadFixed(accumulator.substr(kMagic.size(), kVersionBytes));
  if (version != kVersion) {
    return invalid("version ", version, ", where version ", kVersion, " is known");
  }
  const absl::string_view checked = accumulator.substr(0, accumulator.size() - kChecksumBytes);
  if (ChecksumOf(checked) != LoadFixed(accumulator.substr(checked.size()))) {
    return invalid("damaged: the checksum is not that of the bytes");
  }
  const auto kind = static_cast<AccumulatorKind>(checked[kOpeningBytes - 1]);
  if (kind < AccumulatorKind::kReduction || kind > AccumulatorKind::kKeyedReduction) {
    return invalid("kind ", static_cast<int>(kind), " is not known");
  }
  return AccumulatorBody{kind, checked.substr(kOpeningBytes)};
}

absl::Status DamagedAccumulator() {
  return absl::InvalidArgumentError(
      "its bytes do not follow the format, or no data have led to what they say");
}

absl::Status AccumulatorError(Combination combination, size_t i, const absl::Status& status) {
  if (combination == Combination::kMerge) {
    return InvalidField(absl::StrCat("accumulators[", i, "]"), status.message());
  }
  if (i == 0) return InvalidField("minuend", status.message());
  return InvalidField(absl::StrCat("subtrahends[", i - 1, "]"), status.message());
}

}  // namespace gridfold::kernels
