// Arrays that commands send piece by piece.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_COMMANDS_OUTGOING_ARRAY_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_COMMANDS_OUTGOING_ARRAY_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/command_line/input/array_stream.h"
#include "client/command_line/session.h"

namespace gridfold::client {

// An array on its way from a file to a server. Errors of the file end the program with
// kInputOutput. Move-only; not thread-safe.
class OutgoingArray {
 public:
  // Reads and sends `chunk_bytes` at a time.
  static absl::StatusOr<OutgoingArray> Open(const InputOptions& options, size_t chunk_bytes);

  // In place of `chunk_bytes`.
  void SetChunkElements(size_t count) {
    buffer_.resize(count * ElementSizeBytes(stream_->element_type()));
  }

  const ArrayStream& stream() const { return *stream_; }
  ArrayStream& stream() { return *stream_; }

  // Of what was read so far.
  InputDescription Describe() const;

  // Reads, before the first Next, until the array has ended or more than `bytes_max` of it are held
  // in memory, from where Next takes them.
  absl::Status ReadAhead(const Session& session, uint64_t bytes_max);
  // The same until the number of elements is known. RESOURCE_EXHAUSTED where it is in no header and
  // they are more than can be held.
  absl::Status LearnSize(const Session& session);

  // All elements where they lie in a file, instead of Next; nothing where they do not, or where
  // some have been read ahead.
  std::optional<InputArray> Map();

  // Whether all that there is has been read ahead.
  bool is_whole() const { return is_whole_; }
  // Bytes of all elements, where they are known.
  std::optional<uint64_t> size_bytes() const {
    return is_whole_ ? held_.size() : stream_->size_bytes();
  }
  // Requires is_whole() and no Next. Tells about it, as TellAbout.
  HostArray TakeWhole(const Session& session);

  // The next piece, which is overwritten by the one after it; empty at the end.
  absl::StatusOr<std::span<const std::byte>> Next() {
    return NextInto({buffer_.data(), buffer_.size()});
  }
  // The next piece in `buffer`, which has room for an element at least. Full but for the last one.
  absl::StatusOr<std::span<const std::byte>> NextInto(std::span<char> buffer);

  // Gives all pieces to `write`, until it returns an error.
  template <typename Write>
  absl::Status SendAll(Write write) {
    while (true) {
      const absl::StatusOr<std::span<const std::byte>> piece = Next();
      if (!piece.ok()) return piece.status();
      if (piece->empty()) return absl::OkStatus();
      if (absl::Status status = write(*piece); !status.ok()) return status;
    }
  }

  // Runs `call` as Session::Ask does, shows how much of the array it has taken, and describes the
  // array as it was when the call had ended.
  template <typename Call>
  auto Ask(const Session& session, Call call) {
    auto answer = session.Ask(Describe(), size_bytes().value_or(0), std::nullopt,
                              [&](Client& client, const CallOptions& call_options) {
                                progress_ = call_options.progress;
                                total_bytes_ = size_bytes();
                                return call(client, call_options);
                              });
    progress_ = nullptr;
    if (!answer.ok()) return answer;
    answer->input = Describe();
    TellAbout(session);
    return answer;
  }

  // Session::TellAbout what was read.
  void TellAbout(const Session& session) const { session.TellAbout(options_, Describe()); }

 private:
  OutgoingArray(InputOptions options, std::unique_ptr<ArrayStream> stream, size_t chunk_bytes)
      : options_(std::move(options)), stream_(std::move(stream)), buffer_(chunk_bytes) {}

  InputOptions options_;
  std::unique_ptr<ArrayStream> stream_;
  std::vector<char> buffer_;
  std::string held_;         // Read ahead.
  size_t handed_bytes_ = 0;  // Of `held_`.
  bool is_whole_ = false;
  std::function<void(uint64_t, uint64_t)> progress_;  // Told of the bytes taken, and of all.
  uint64_t taken_bytes_ = 0;
  std::optional<uint64_t> total_bytes_;  // As it was known before any was taken.
};

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_COMMANDS_OUTGOING_ARRAY_H_
