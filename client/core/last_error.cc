#include "client/core/last_error.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"
#include "kernels/contract/invalid_field.h"

namespace gridfold::core {

namespace {

// Text of a fixed size, for which memory never lacks; what is longer is cut off.
template <size_t kSize>
class Text {
 public:
  void Set(absl::string_view text) {
    const size_t size = std::min(text.size(), kSize - 1);
    std::memcpy(characters_, text.data(), size);
    characters_[size] = '\0';
  }
  const char* c_str() const { return characters_; }

 private:
  char characters_[kSize] = "";
};

struct LastError {
  Text<1024> message;
  Text<128> field;
};

thread_local LastError last_error;

gridfold_status Report(gridfold_status code, absl::string_view message, absl::string_view field) {
  last_error.message.Set(message);
  last_error.field.Set(field);
  return code;
}

gridfold_status CodeOf(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk: return GRIDFOLD_OK;
    case absl::StatusCode::kOutOfRange: return GRIDFOLD_OUT_OF_RANGE;
    case absl::StatusCode::kInvalidArgument:
      return kernels::IsAboveLimit(status) ? GRIDFOLD_TOO_LARGE : GRIDFOLD_INVALID_ARGUMENT;
    case absl::StatusCode::kResourceExhausted:
      return kernels::IsAboveLimit(status) ? GRIDFOLD_TOO_LARGE : GRIDFOLD_NO_MEMORY;
    default: return GRIDFOLD_INTERNAL;
  }
}

}  // namespace

gridfold_status ReportStatus(const absl::Status& status) {
  if (status.ok()) return GRIDFOLD_OK;
  return Report(CodeOf(status), status.message(), kernels::FieldOf(status));
}

gridfold_status ReportNoMemory() noexcept {
  return Report(GRIDFOLD_NO_MEMORY, "there is no memory for this", "");
}

gridfold_status ReportFault(const char* message) noexcept {
  return Report(GRIDFOLD_INTERNAL, message, "");
}

absl::Status RequireArgument(const void* argument, absl::string_view name) {
  return argument != nullptr ? absl::OkStatus() : kernels::InvalidField(name, "must not be null");
}

absl::Status CheckElement(const void* result, uint64_t i, uint64_t count, const void* out,
                          absl::string_view name) {
  absl::Status status = RequireArgument(result, "result");
  if (status.ok()) status = RequireArgument(out, name);
  if (!status.ok() || i < count) return status;
  return kernels::InvalidField("i", absl::StrCat(i, ", where there are ", count));
}

}  // namespace gridfold::core

const char* gridfold_last_message(void) { return gridfold::core::last_error.message.c_str(); }
const char* gridfold_last_field(void) { return gridfold::core::last_error.field.c_str(); }
const char* gridfold_core_version(void) { return GRIDFOLD_CORE_VERSION; }
