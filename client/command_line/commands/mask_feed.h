// The mask of a stream, whose bytes go with the elements that they are of.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_COMMANDS_MASK_FEED_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_COMMANDS_MASK_FEED_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <variant>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gridfold/array_input.h"
#include "gridfold/element_type.h"

namespace gridfold::client {

class MaskFeed {
 public:
  // Takes `where` out of the options of a request, which a stream does not carry; it may be
  // nothing. What it views must outlive the feed. Errors: an array on the server, or of another
  // type than bool.
  static absl::StatusOr<MaskFeed> Take(std::optional<ArrayInput>& where) {
    MaskFeed feed;
    feed.is_given_ = where.has_value();
    if (!where) return feed;
    const auto* const view = std::get_if<ArrayView>(&where->source());
    if (view == nullptr) {
      return absl::InvalidArgumentError("--where-array: a stream takes a mask of a file: --where");
    }
    if (view->element_type() != ElementType::kBool) {
      return absl::InvalidArgumentError("--where: a mask is of type bool");
    }
    feed.rest_ = view->bytes();
    where.reset();
    return feed;
  }

  bool is_given() const { return is_given_; }

  // The bytes for the elements that a piece of an array completes, behind those of earlier pieces.
  std::span<const std::byte> Next(std::span<const std::byte> piece, ElementType type) {
    sent_bytes_ += piece.size();
    const uint64_t elements = sent_bytes_ / ElementSizeBytes(type);
    const std::span<const std::byte> next =
        rest_.first(std::min<uint64_t>(elements - fed_elements_, rest_.size()));
    fed_elements_ = elements;
    rest_ = rest_.subspan(next.size());
    return next;
  }

  // What no element has asked for: of a mask that is too long.
  std::span<const std::byte> rest() const { return rest_; }

 private:
  bool is_given_ = false;
  std::span<const std::byte> rest_;
  uint64_t sent_bytes_ = 0;
  uint64_t fed_elements_ = 0;
};

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_COMMANDS_MASK_FEED_H_
