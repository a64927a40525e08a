#include "server/streams/stream_intake.h"

#include <numeric>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/contract/invalid_field.h"
#include "server/base/error_reason.h"
#include "server/wire/message_codec.h"

namespace gridfold::server {

uint64_t TotalBytes(const StreamSizes& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), uint64_t{0});
}

StreamIntake::~StreamIntake() { ReleaseAll(); }

absl::Status StreamIntake::Enter(const std::string& tenant) {
  tenant_ = tenant;
  const std::optional<RoomRefusal> refusal = environment_.streams.Enter(tenant_);
  is_admitted_ = !refusal;
  if (is_admitted_) return absl::OkStatus();
  const uint64_t most = environment_.limits.stream_count_max;
  return QueueFull(*refusal == RoomRefusal::kFull
                       ? absl::StrCat(most, " streams are open already")
                       : absl::StrCat("what is left of ", most,
                                      " streams is for other tenants; this one has its share open"),
                   kRetryDelay);
}

absl::StatusOr<StreamMessage> StreamIntake::Open(grpc::ByteBuffer& message) {
  if (absl::Status size = CheckMessageSize(message.Length(), environment_.limits); !size.ok()) {
    return size;
  }
  absl::StatusOr<StreamMessage> opened = SplitMessage(message, array_count_);
  message.Clear();
  if (!opened.ok()) return opened.status();
  if (has_begun_ == opened->header.has_value()) {
    return kernels::InvalidField("request", has_begun_
                                                ? "only the first message of a stream has one"
                                                : "the first message has none");
  }
  has_begun_ = true;
  return opened;
}

absl::Status StreamIntake::CheckBegun() const {
  if (has_begun_) return absl::OkStatus();
  return kernels::InvalidField("request", "the stream has no message");
}

absl::Status StreamIntake::HoldState(uint64_t bytes) {
  if (bytes <= state_bytes_) return absl::OkStatus();
  const uint64_t more = bytes - state_bytes_;
  if (!environment_.streams.HoldWhereThereIsRoom(tenant_, more)) {
    return QueueFull(absl::StrCat("other streams leave no room for the ", bytes,
                                  " bytes that this one would hold"),
                     kRetryDelay);
  }
  state_bytes_ = bytes;
  held_bytes_ += more;
  return absl::OkStatus();
}

absl::Status StreamIntake::Add(const StreamMessage& message) {
  StreamSizes added{};
  for (size_t i = 0; i < array_count_; ++i) {
    for (const grpc::Slice& piece : message.arrays[i]) {
      pending_[i].Append(piece);
      added[i] += piece.size();
    }
  }
  // What a running job has used still counts.
  SetHeldBytes(held_bytes_ + TotalBytes(added));
  if (message.element_count) {
    absl::Status status = announced_.Announce(*message.element_count);
    if (!status.ok()) return status;
  }
  return announced_.Add(added[0], element_bytes_);
}

absl::Status StreamIntake::CheckEnd() const { return announced_.CheckEnd(element_bytes_); }

StreamSizes StreamIntake::sizes() const {
  StreamSizes sizes = SizesOf(batch_);
  for (size_t i = 0; i < sizes.size(); ++i) sizes[i] += pending_[i].size_bytes();
  return sizes;
}

bool StreamIntake::HasRoom() const {
  return TotalBytes(SizesOf(pending_)) < kStreamPendingBytes && TenantHasRoom();
}

void StreamIntake::BeginBatch() {
  for (size_t i = 0; i < array_count_; ++i) batch_[i].Append(pending_[i]);
}

uint64_t StreamIntake::batch_bytes() const { return TotalBytes(SizesOf(batch_)); }

void StreamIntake::EndBatch() { SetHeldBytes(state_bytes_ + TotalBytes(sizes())); }

void StreamIntake::ReleaseAll() {
  batch_ = {};
  pending_ = {};
  state_bytes_ = 0;
  SetHeldBytes(0);
  if (std::exchange(is_admitted_, false)) environment_.streams.Leave(tenant_);
}

void StreamIntake::SetHeldBytes(uint64_t bytes) {
  environment_.streams.Hold(tenant_, bytes);
  environment_.streams.Release(tenant_, held_bytes_);
  held_bytes_ = bytes;
}

}  // namespace gridfold::server
