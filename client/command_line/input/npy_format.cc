#include "client/command_line/input/npy_format.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/command_line/input/npy_header.h"

namespace gridfold::client {
namespace {

constexpr absl::string_view kMagic("\x93NUMPY", 6);
constexpr size_t kVersionBytes = 2;
constexpr size_t kHeaderBytesMax = size_t{1} << 20;

// NumPy pads the header so that the elements start at a multiple of this.
constexpr size_t kAlignmentBytes = 64;

// The kind and size in `descr`, without the byte order.
struct TypeCode {
  absl::string_view code;
  ElementType type;
};
constexpr std::array<TypeCode, 12> kTypeCodes = {{
    {"i1", ElementType::kInt8},
    {"i2", ElementType::kInt16},
    {"i4", ElementType::kInt32},
    {"i8", ElementType::kInt64},
    {"u1", ElementType::kUint8},
    {"u2", ElementType::kUint16},
    {"u4", ElementType::kUint32},
    {"u8", ElementType::kUint64},
    {"f2", ElementType::kFloat16},
    {"f4", ElementType::kFloat32},
    {"f8", ElementType::kFloat64},
    {"b1", ElementType::kBool},
}};

absl::Status Malformed(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(".npy: ", what));
}

// What to do about elements of a kind, by NumPy's letter for it, that gridfold does not have.
struct ForeignElements {
  char kind;
  absl::string_view advice;
};
constexpr std::array<ForeignElements, 7> kForeignElements = {{
    {'c', "complex elements; save their parts, .real and .imag"},
    {'O', "Python objects; save it .astype('f8')"},
    {'M', "dates; save it .astype('i8')"},
    {'m', "times; save it .astype('i8')"},
    {'U', "text; save it .astype('f8')"},
    {'S', "text; save it .astype('f8')"},
    {'f', "floating-point numbers of a size that gridfold does not have; save it .astype('f8')"},
}};

absl::Status ForeignType(absl::string_view descr) {
  const char kind = descr.size() > 1 ? descr[1] : '\0';
  if (descr == "<V2" || descr == "|V2" || descr == ">V2") {
    return Malformed(
        "the elements have two bytes, and the file does not say of what type: if it was saved from "
        "bfloat16, give --type bfloat16");
  }
  for (const ForeignElements& foreign : kForeignElements) {
    if (foreign.kind == kind) {
      return Malformed(absl::StrCat("element type '", descr, "': ", foreign.advice));
    }
  }
  return Malformed(absl::StrCat("element type '", descr, "' is not supported"));
}

struct ElementLayout {
  ElementType type;
  bool is_big_endian;
};

absl::StatusOr<ElementLayout> ToElementLayout(absl::string_view descr,
                                              std::optional<ElementType> wanted_type) {
  // ml_dtypes has no letter of its own.
  const bool is_bfloat16 = wanted_type == ElementType::kBfloat16;
  if (is_bfloat16 && (descr == "<V2" || descr == "|V2")) {
    return ElementLayout{ElementType::kBfloat16, false};
  }
  const absl::string_view code = descr.substr(descr.empty() ? 0 : 1);
  for (const TypeCode& known : kTypeCodes) {
    if (known.code != code) continue;
    const bool is_big_endian = descr[0] == '>' && ElementSizeBytes(known.type) > 1;
    if (absl::StrContains("<|=>", descr.substr(0, 1))) {
      return ElementLayout{known.type, is_big_endian};
    }
  }
  return ForeignType(descr);
}

// How long magic, version and length of the header are, and the header.
struct HeaderPlace {
  size_t offset = 0;
  size_t size_bytes = 0;
};

// The length of the header is little-endian, of two bytes in version 1 and four since.
absl::StatusOr<HeaderPlace> FindHeader(absl::string_view file) {
  if (!IsNpy(file)) return Malformed("the file does not begin as .npy files do");
  const size_t prefix = kMagic.size() + kVersionBytes;
  if (file.size() < prefix) return Malformed("the file ends inside its header");
  const int version = static_cast<unsigned char>(file[kMagic.size()]);
  if (version < 1 || version > 3) {
    return Malformed(absl::StrCat("version ", version, " of the format is not known"));
  }
  const size_t length_bytes = version == 1 ? 2 : 4;
  if (file.size() < prefix + length_bytes) return Malformed("the file ends inside its header");
  size_t length = 0;
  for (size_t i = 0; i < length_bytes; ++i) {
    length |= size_t{static_cast<unsigned char>(file[prefix + i])} << (8 * i);
  }
  if (length > kHeaderBytesMax) {
    return Malformed(absl::StrCat("a header of ", length, " bytes is longer than any"));
  }
  return HeaderPlace{prefix + length_bytes, length};
}

// Whether the order of the elements depends on the order of the dimensions.
bool HasOrder(const std::vector<uint64_t>& shape) {
  return std::count_if(shape.begin(), shape.end(), [](uint64_t extent) { return extent != 1; }) > 1;
}

}  // namespace

bool IsNpy(absl::string_view bytes) { return absl::StartsWith(bytes, kMagic); }

absl::StatusOr<size_t> NpyPreambleBytes(absl::string_view bytes) {
  const absl::StatusOr<HeaderPlace> header = FindHeader(bytes);
  if (!header.ok()) return header.status();
  return header->offset + header->size_bytes;
}

absl::StatusOr<NpyPreamble> ParseNpyPreamble(absl::string_view bytes,
                                             std::optional<ElementType> wanted_type) {
  const absl::StatusOr<HeaderPlace> place = FindHeader(bytes);
  if (!place.ok()) return place.status();
  const size_t size_bytes = place->offset + place->size_bytes;
  if (bytes.size() < size_bytes) return Malformed("the file ends inside its header");
  absl::StatusOr<NpyDictionary> header =
      ParseNpyDictionary(bytes.substr(place->offset, place->size_bytes));
  if (!header.ok()) return header.status();
  const absl::StatusOr<ElementLayout> layout = ToElementLayout(header->descr, wanted_type);
  if (!layout.ok()) return layout.status();
  const bool is_column_major = header->fortran_order && HasOrder(header->shape);
  return NpyPreamble{.element_type = layout->type,
                     .shape = std::move(header->shape),
                     .is_big_endian = layout->is_big_endian,
                     .is_column_major = is_column_major,
                     .size_bytes = size_bytes};
}

absl::Status WrongNpyElements(const NpyPreamble& preamble, absl::string_view what) {
  return Malformed(absl::StrCat("the header promises ", absl::StrJoin(preamble.shape, " x "),
                                preamble.shape.empty() ? "one " : " ",
                                ElementTypeName(preamble.element_type), " elements, but ", what));
}

std::optional<uint64_t> NpyElementBytes(const NpyPreamble& preamble) {
  uint64_t size_bytes = ElementSizeBytes(preamble.element_type);
  for (const uint64_t extent : preamble.shape) {
    if (extent == 0) return 0;
  }
  for (const uint64_t extent : preamble.shape) {
    if (__builtin_mul_overflow(size_bytes, extent, &size_bytes)) return std::nullopt;
  }
  return size_bytes;
}

absl::StatusOr<std::string> NpyHeader(ElementType element_type, std::span<const uint64_t> shape) {
  absl::string_view code;
  for (const TypeCode& known : kTypeCodes) {
    if (known.type == element_type) code = known.code;
  }
  if (code.empty()) {
    return Malformed(absl::StrCat("the format has no ", ElementTypeName(element_type)));
  }
  std::string dictionary =
      absl::StrCat("{'descr': '", ElementSizeBytes(element_type) == 1 ? "|" : "<", code,
                   "', 'fortran_order': False, 'shape': (", absl::StrJoin(shape, ", "),
                   shape.size() == 1 ? ",), }" : "), }");
  const size_t prefix = kMagic.size() + kVersionBytes + 2;
  const size_t unpadded = prefix + dictionary.size() + 1;
  const size_t padded = (unpadded + kAlignmentBytes - 1) / kAlignmentBytes * kAlignmentBytes;
  dictionary.append(padded - unpadded, ' ');
  dictionary.push_back('\n');
  std::string header(kMagic);
  header += '\x01';
  header += '\x00';
  header += static_cast<char>(dictionary.size() & 0xFF);
  header += static_cast<char>(dictionary.size() >> 8);
  return header + dictionary;
}

}  // namespace gridfold::client
