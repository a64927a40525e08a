#include "client/command_line/input/load_array.h"

#include <algorithm>
#include <concepts>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/command_line/input/array_stream.h"
#include "client/command_line/input/element_dispatch.h"

namespace gridfold::client {
namespace {

// The largest message of protocol buffers; an array is a little less.
constexpr uint64_t kArrayBytesMax = (uint64_t{1} << 31) - 1;

// A size that a file claims is given so much room before the elements are seen.
constexpr uint64_t kTrustedBytesMax = uint64_t{256} << 20;

// How much an array of unknown size grows by at first.
constexpr size_t kGrowthStepBytes = size_t{4} << 20;
constexpr size_t kSpareBytes = 8;

absl::Status TooLarge(const InputOptions& options) {
  return NamingFile(options.path,
                    absl::ResourceExhaustedError(absl::StrCat(
                        "more than the ", kArrayBytesMax, " bytes that one request can carry")));
}

// Reads to the end. A size that is known is given room at once; one that is not, as it comes.
absl::StatusOr<std::string> ReadAll(const InputOptions& options, ArrayStream& stream) {
  const std::optional<uint64_t> size_bytes = stream.size_bytes();
  if (size_bytes && *size_bytes > kArrayBytesMax) return TooLarge(options);
  std::string bytes;
  size_t used = 0;
  while (true) {
    // One element more than there should be, to meet the end.
    const size_t step = size_bytes && *size_bytes - used <= kTrustedBytesMax
                            ? static_cast<size_t>(*size_bytes) - used + kSpareBytes
                            : std::max(used, kGrowthStepBytes);
    bytes.resize(used + step);
    const absl::StatusOr<std::span<const std::byte>> piece =
        stream.Next({bytes.data() + used, step});
    if (!piece.ok()) return piece.status();
    if (piece->empty()) break;
    used += piece->size();
    if (used > kArrayBytesMax) return TooLarge(options);
  }
  bytes.resize(used);
  return bytes;
}

}  // namespace

absl::StatusOr<HostArray> LoadArray(const InputOptions& options, const ReadProgress& progress) {
  const absl::StatusOr<std::unique_ptr<ArrayStream>> stream = ArrayStream::Open(options, progress);
  if (!stream.ok()) return stream.status();
  absl::StatusOr<std::string> bytes = ReadAll(options, **stream);
  if (!bytes.ok()) return bytes.status();
  return HostArray{.element_type = (*stream)->element_type(),
                   .shape = (*stream)->shape(),
                   .bytes = *std::move(bytes),
                   .missing_count = (*stream)->missing_count()};
}

absl::StatusOr<std::vector<uint64_t>> ToOffsets(const HostArray& array) {
  using Result = absl::StatusOr<std::vector<uint64_t>>;
  return DispatchElementType(array.element_type, [&](auto tag) -> Result {
    using T = typename decltype(tag)::Type;
    if constexpr (std::integral<T>) {
      std::vector<uint64_t> offsets(array.element_count());
      for (size_t i = 0; i < offsets.size(); ++i) {
        const T offset = ElementAt<T>(array.view(), i);
        if (offset < T{0}) return absl::InvalidArgumentError("segment offsets cannot be negative");
        offsets[i] = static_cast<uint64_t>(offset);
      }
      return offsets;
    } else {
      return absl::InvalidArgumentError("segment offsets must be integers");
    }
  });
}

}  // namespace gridfold::client
