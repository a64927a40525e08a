#include "server/base/identifier.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "kernels/contract/invalid_field.h"
#include "server/base/fixed_limits.h"

namespace gridfold::server {

namespace {

bool IsAllowed(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '_' || c == '-' ||
         c == '/';
}

}  // namespace

absl::Status ValidateIdentifier(absl::string_view name, uint64_t bytes_max,
                                absl::string_view field) {
  if (name.empty()) return kernels::InvalidField(field, "no name is given");
  if (name.size() > bytes_max) {
    return kernels::InvalidField(field, absl::StrCat(name.size(), " characters are more than the ",
                                                     bytes_max, " of the longest name"));
  }
  if (!std::all_of(name.begin(), name.end(), IsAllowed)) {
    return kernels::InvalidField(field, "names have letters, digits and the characters ._-/ only");
  }
  return absl::OkStatus();
}

absl::Status ValidateArrayName(absl::string_view name, absl::string_view field) {
  return ValidateIdentifier(name, kArrayNameBytesMax, field);
}

}  // namespace gridfold::server
