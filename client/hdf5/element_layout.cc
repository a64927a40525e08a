#include "client/hdf5/element_layout.h"

#include <bit>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"

namespace gridfold::client {
namespace {

static_assert(std::endian::native == std::endian::little, "native types are delivered");

struct FloatFields {
  size_t sign = 0, exponent = 0, exponent_bits = 0, mantissa = 0, mantissa_bits = 0;
  bool operator==(const FloatFields&) const = default;
};
constexpr FloatFields kFloat16 = {15, 10, 5, 0, 10};
constexpr FloatFields kBfloat16 = {15, 7, 8, 0, 7};

const char* NameOf(H5T_class_t type_class) {
  switch (type_class) {
    case H5T_STRING: return "text";
    case H5T_COMPOUND: return "compounds";
    case H5T_REFERENCE: return "references";
    case H5T_VLEN: return "sequences of varying length";
    case H5T_ARRAY: return "arrays in each element";
    case H5T_OPAQUE: return "opaque bytes";
    case H5T_TIME: return "times";
    default: return "of a kind that is not known";
  }
}

// FALSE and TRUE, as h5py keeps NumPy's bool.
bool IsBool(hid_t type) {
  if (H5Tget_class(type) != H5T_ENUM || H5Tget_nmembers(type) != 2) return false;
  for (unsigned member = 0; member < 2; ++member) {
    char* const name = H5Tget_member_name(type, member);
    const absl::Cleanup free_name = [name] { H5free_memory(name); };
    if (name == nullptr || std::string(name) != (member == 0 ? "FALSE" : "TRUE")) return false;
  }
  return true;
}

// A type of two bytes, as it is but little-endian; the library's own native types have none.
absl::StatusOr<ElementLayout> LayoutOfHalf(hid_t type) {
  FloatFields fields;
  if (H5Tget_fields(type, &fields.sign, &fields.exponent, &fields.exponent_bits, &fields.mantissa,
                    &fields.mantissa_bits) < 0) {
    return LibraryError("its type is damaged");
  }
  const size_t bias = H5Tget_ebias(type);
  const bool is_float16 = fields == kFloat16 && bias == 15;
  if (!is_float16 && !(fields == kBfloat16 && bias == 127)) {
    return absl::InvalidArgumentError(
        "HDF5: floating-point elements of two bytes that are neither float16 nor bfloat16");
  }
  Identifier memory_type(H5Tcopy(type));
  if (H5Tset_order(memory_type.get(), H5T_ORDER_LE) < 0) return LibraryError("its type is damaged");
  return ElementLayout{is_float16 ? "<f2" : "<V2", std::move(memory_type)};
}

}  // namespace

absl::StatusOr<ElementLayout> LayoutOf(hid_t type) {
  const H5T_class_t type_class = H5Tget_class(type);
  const bool is_float = type_class == H5T_FLOAT;
  if (is_float && H5Tget_size(type) == 2) return LayoutOfHalf(type);
  if (!is_float && type_class != H5T_INTEGER && type_class != H5T_ENUM &&
      type_class != H5T_BITFIELD) {
    return absl::InvalidArgumentError(absl::StrCat("HDF5: its elements are ", NameOf(type_class),
                                                   ", and gridfold takes numbers"));
  }
  Identifier native(H5Tget_native_type(type, H5T_DIR_ASCEND));
  if (!native.is_valid()) return LibraryError("its type is damaged");
  const size_t size_bytes = H5Tget_size(native.get());
  if (size_bytes > 8 || (is_float && size_bytes < 4)) {
    return absl::InvalidArgumentError(absl::StrCat("HDF5: its elements have ", size_bytes,
                                                   " bytes, and gridfold takes float64 at most"));
  }
  if (type_class == H5T_BITFIELD || IsBool(type)) {
    return ElementLayout{absl::StrCat(size_bytes == 1 && IsBool(type) ? "|b" : "<u", size_bytes),
                         std::move(native)};
  }
  const Identifier base(type_class == H5T_ENUM ? H5Tget_super(native.get())
                                               : H5Tcopy(native.get()));
  const bool is_signed = H5Tget_sign(base.get()) == H5T_SGN_2;
  return ElementLayout{absl::StrCat(is_float    ? "<f"
                                    : is_signed ? "<i"
                                                : "<u",
                                    size_bytes),
                       std::move(native)};
}

}  // namespace gridfold::client
