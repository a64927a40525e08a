#include "server/calls/announced_count.h"

#include "absl/strings/str_cat.h"
#include "kernels/contract/invalid_field.h"

namespace gridfold::server {

namespace {

constexpr char kCountField[] = "element_count";

}  // namespace

absl::Status AnnouncedCount::Announce(uint64_t element_count) {
  if (element_count_.value_or(element_count) != element_count) {
    return kernels::InvalidField(
        kCountField, absl::StrCat(element_count, " elements, where an earlier ", "message says ",
                                  *element_count_));
  }
  element_count_ = element_count;
  return absl::OkStatus();
}

absl::Status AnnouncedCount::Add(uint64_t size_bytes, uint64_t element_bytes) {
  received_bytes_ += size_bytes;
  // Rounded up: a part of an element is one too many as well.
  const uint64_t begun = received_bytes_ / element_bytes + (received_bytes_ % element_bytes != 0);
  return element_count_ && begun > *element_count_ ? WrongCount(element_bytes) : absl::OkStatus();
}

absl::Status AnnouncedCount::CheckEnd(uint64_t element_bytes) const {
  const bool is_short = element_count_ && received_bytes_ / element_bytes < *element_count_;
  return is_short ? WrongCount(element_bytes) : absl::OkStatus();
}

absl::Status AnnouncedCount::WrongCount(uint64_t element_bytes) const {
  return kernels::InvalidField(
      kCountField, absl::StrCat(received_bytes_, " bytes have come, where ", *element_count_,
                                " elements of ", element_bytes, " bytes are announced"));
}

}  // namespace gridfold::server
