#include "client/command_line/commands/outgoing_array.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "client/command_line/exit_code.h"
#include "client/command_line/output/number_format.h"

namespace gridfold::client {
namespace {

constexpr size_t kLargestElementBytes = 8;
// How much what is held grows by at first.
constexpr uint64_t kHeldStepBytes = uint64_t{4} << 20;
// What is held of an array whose size is in no header.
constexpr uint64_t kUnsizedBytesMax = uint64_t{2} << 30;

}  // namespace

absl::StatusOr<OutgoingArray> OutgoingArray::Open(const InputOptions& options, size_t chunk_bytes) {
  absl::StatusOr<std::unique_ptr<ArrayStream>> stream = ArrayStream::Open(options);
  if (!stream.ok()) return WithExitCode(stream.status(), ExitCode::kInputOutput);
  return OutgoingArray(options, *std::move(stream), chunk_bytes);
}

InputDescription OutgoingArray::Describe() const {
  return {.source = options_.path,
          .column = options_.csv.column.value_or(""),
          .element_type = stream_->file_element_type(),
          .shape = stream_->shape(),
          .missing_count = stream_->missing_count()};
}

absl::Status OutgoingArray::ReadAhead(const Session& session, uint64_t bytes_max) {
  const std::unique_ptr<Progress> progress = session.ShowProgress();
  progress->Begin(
      absl::StrCat("reading ", options_.path == "-" ? "standard input" : options_.path));
  while (!is_whole_ && held_.size() <= bytes_max) {
    const size_t used = held_.size();
    // One element more than there should be, to meet the end.
    const uint64_t wanted = std::min(bytes_max, stream_->size_bytes().value_or(bytes_max));
    const uint64_t step = std::min(wanted - std::min<uint64_t>(used, wanted) + kLargestElementBytes,
                                   std::max<uint64_t>(used, kHeldStepBytes));
    held_.resize(used + step);
    const auto piece = stream_->Next({held_.data() + used, static_cast<size_t>(step)});
    if (!piece.ok()) return WithExitCode(piece.status(), ExitCode::kInputOutput);
    held_.resize(used + piece->size());
    is_whole_ = piece->empty();
    progress->Update(held_.size(), stream_->size_bytes());
  }
  return absl::OkStatus();
}

absl::Status OutgoingArray::LearnSize(const Session& session) {
  if (size_bytes()) return absl::OkStatus();
  if (absl::Status status = ReadAhead(session, kUnsizedBytesMax); !status.ok()) return status;
  if (is_whole_) return absl::OkStatus();
  return WithExitCode(
      NamingFile(
          options_.path,
          absl::ResourceExhaustedError(absl::StrCat(
              "has more than ", FormatBytes(kUnsizedBytesMax),
              " and does not say how much beforehand; save it as .npy, or as raw elements"))),
      ExitCode::kInputOutput);
}

std::optional<InputArray> OutgoingArray::Map() {
  if (!held_.empty() || is_whole_) return std::nullopt;
  const std::shared_ptr<const FileMapping> mapping = stream_->Map();
  if (!mapping) return std::nullopt;
  const ElementType type = stream_->element_type();
  ArrayView view(type, mapping->bytes().data(), mapping->bytes().size() / ElementSizeBytes(type));
  const std::vector<uint64_t> shape = stream_->shape();
  if (shape.size() != 1) view = view.WithShape(shape);
  return InputArray{.description = Describe(), .array = view, .owner = mapping};
}

HostArray OutgoingArray::TakeWhole(const Session& session) {
  TellAbout(session);
  return {.element_type = stream_->element_type(),
          .shape = stream_->shape(),
          .bytes = std::move(held_),
          .missing_count = stream_->missing_count()};
}

absl::StatusOr<std::span<const std::byte>> OutgoingArray::NextInto(std::span<char> buffer) {
  const size_t held_bytes = std::min(held_.size() - handed_bytes_, buffer.size());
  std::memcpy(buffer.data(), held_.data() + handed_bytes_, held_bytes);
  handed_bytes_ += held_bytes;
  if (handed_bytes_ == held_.size()) {
    held_ = std::string();
    handed_bytes_ = 0;
  }
  const std::span<char> rest = buffer.subspan(held_bytes);
  size_t read_bytes = 0;
  if (!is_whole_ && rest.size() >= ElementSizeBytes(stream_->element_type())) {
    const absl::StatusOr<std::span<const std::byte>> read = stream_->Next(rest);
    if (!read.ok()) return WithExitCode(read.status(), ExitCode::kInputOutput);
    read_bytes = read->size();
  }
  taken_bytes_ += held_bytes + read_bytes;
  if (progress_) progress_(taken_bytes_, total_bytes_.value_or(0));
  return std::as_bytes(buffer.first(held_bytes + read_bytes));
}

}  // namespace gridfold::client
