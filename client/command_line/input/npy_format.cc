#include "client/command_line/input/npy_format.h"

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

// NumPy pads the header so that the elements start at a multiple of this.
constexpr size_t kAlignmentBytes = 64;

// The kind and size in `descr`, without the byte order.
struct TypeCode {
  absl::string_view code;
  ElementType type;
};
constexpr std::array<TypeCode, 11> kTypeCodes = {{
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
}};

absl::Status Malformed(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(".npy: ", what));
}

absl::StatusOr<ElementType> ToElementType(absl::string_view descr) {
  if (descr == "|b1") return Malformed("bool arrays are not supported; save it .astype('u1')");
  const absl::string_view code = descr.substr(descr.empty() ? 0 : 1);
  for (const TypeCode& known : kTypeCodes) {
    if (known.code != code) continue;
    if (descr[0] == '<' || descr[0] == '|' || descr[0] == '=') return known.type;
    if (descr[0] == '>') {
      if (ElementSizeBytes(known.type) == 1) return known.type;
      return Malformed(
          absl::StrCat("big-endian arrays are not supported; save it .astype('<", code, "')"));
    }
  }
  return Malformed(absl::StrCat("element type '", descr, "' is not supported"));
}

// The length of the header, little-endian, two bytes in version 1 and four since.
absl::StatusOr<absl::string_view> HeaderText(absl::string_view file) {
  const size_t prefix = kMagic.size() + kVersionBytes;
  if (file.size() < prefix) return Malformed("the file ends inside its header");
  const int version = static_cast<unsigned char>(file[kMagic.size()]);
  if (version < 1 || version > 3) {
    return Malformed(absl::StrCat("version ", version, " of the format is not known"));
  }
  const size_t length_bytes = version == 1 ? 2 : 4;
  size_t length = 0;
  if (file.size() < prefix + length_bytes) return Malformed("the file ends inside its header");
  for (size_t i = 0; i < length_bytes; ++i) {
    length |= size_t{static_cast<unsigned char>(file[prefix + i])} << (8 * i);
  }
  file.remove_prefix(prefix + length_bytes);
  if (file.size() < length) return Malformed("the file ends inside its header");
  return file.substr(0, length);
}

// Whether `bytes` are exactly the elements of `shape`, without overflow on the way.
bool HoldsExactly(uint64_t bytes, const std::vector<uint64_t>& shape, ElementType type) {
  uint64_t expected = ElementSizeBytes(type);
  for (uint64_t extent : shape) {
    if (__builtin_mul_overflow(expected, extent, &expected)) return false;
  }
  return bytes == expected;
}

}  // namespace

bool IsNpy(absl::string_view bytes) { return absl::StartsWith(bytes, kMagic); }

absl::StatusOr<NpyPreamble> ParseNpyPreamble(absl::string_view bytes) {
  if (!IsNpy(bytes)) return Malformed("the file does not begin as .npy files do");
  const absl::StatusOr<absl::string_view> text = HeaderText(bytes);
  if (!text.ok()) return text.status();
  absl::StatusOr<NpyDictionary> header = ParseNpyDictionary(*text);
  if (!header.ok()) return header.status();
  const absl::StatusOr<ElementType> type = ToElementType(header->descr);
  if (!type.ok()) return type.status();
  if (header->shape.size() > 2) {
    return Malformed(absl::StrCat("the array has ", header->shape.size(),
                                  " dimensions; gridfold takes one or two (numpy.ravel flattens)"));
  }
  if (header->fortran_order && header->shape.size() == 2) {
    return Malformed("Fortran order is not supported; save numpy.ascontiguousarray of it");
  }
  if (header->shape.empty()) header->shape = {1};
  const size_t size_bytes = static_cast<size_t>(text->data() - bytes.data()) + text->size();
  return NpyPreamble{*type, std::move(header->shape), size_bytes};
}

absl::Status CheckNpyElements(const NpyPreamble& preamble, uint64_t element_bytes) {
  if (HoldsExactly(element_bytes, preamble.shape, preamble.element_type)) return absl::OkStatus();
  return Malformed(absl::StrCat("the header promises ", absl::StrJoin(preamble.shape, " x "), " ",
                                ElementTypeName(preamble.element_type), " elements, but ",
                                element_bytes, " bytes follow"));
}

absl::StatusOr<HostArray> ParseNpy(std::string file) {
  absl::StatusOr<NpyPreamble> preamble = ParseNpyPreamble(file);
  if (!preamble.ok()) return preamble.status();
  const size_t offset = preamble->size_bytes;
  absl::Status status = CheckNpyElements(*preamble, file.size() - offset);
  if (!status.ok()) return status;
  return HostArray{preamble->element_type, std::move(preamble->shape), std::move(file), offset};
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
