// Arrays that commands send piece by piece.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_COMMANDS_OUTGOING_ARRAY_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_COMMANDS_OUTGOING_ARRAY_H_

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "client/command_line/exit_code.h"
#include "client/command_line/input/array_stream.h"
#include "client/command_line/session.h"

namespace gridfold::client {

// An array on its way from a file to a server. Errors of the file end the program with
// kInputOutput.
class OutgoingArray {
 public:
  // Reads and sends `chunk_bytes` at a time.
  static absl::StatusOr<OutgoingArray> Open(const InputOptions& options, size_t chunk_bytes) {
    absl::StatusOr<std::unique_ptr<ArrayStream>> stream = ArrayStream::Open(options);
    if (!stream.ok()) return WithExitCode(stream.status(), ExitCode::kInputOutput);
    return OutgoingArray(options, *std::move(stream), chunk_bytes);
  }

  // In place of `chunk_bytes`.
  void SetChunkElements(size_t count) {
    buffer_.resize(count * ElementSizeBytes(stream_->element_type()));
  }

  const ArrayStream& stream() const { return *stream_; }
  ArrayStream& stream() { return *stream_; }

  // Of what was read so far.
  InputDescription Describe() const {
    return {.source = options_.path,
            .element_type = stream_->file_element_type(),
            .shape = stream_->shape(),
            .missing_count = stream_->missing_count()};
  }

  // The next piece, which is overwritten by the one after it; empty at the end.
  absl::StatusOr<std::span<const std::byte>> Next() {
    auto piece = stream_->Next({buffer_.data(), buffer_.size()});
    if (!piece.ok()) return WithExitCode(piece.status(), ExitCode::kInputOutput);
    return piece;
  }

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

  // Runs `call` as Session::Ask does, and describes the array as it was when the call had ended.
  template <typename Call>
  auto Ask(const Session& session, Call call) {
    auto answer = session.Ask(Describe(), stream_->size_bytes().value_or(0), std::move(call));
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
};

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_COMMANDS_OUTGOING_ARRAY_H_
