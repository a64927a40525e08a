// A message of very many small parts, all in one arena: allocated and freed at a fraction of what
// the heap takes for each of them.
#ifndef GRIDFOLD_SERVER_WIRE_ARENA_MESSAGE_H_
#define GRIDFOLD_SERVER_WIRE_ARENA_MESSAGE_H_

#include <google/protobuf/arena.h>

#include <cstddef>
#include <memory>

namespace gridfold::server {

// Move-only. A moved-from message may only be destroyed. As thread-safe as the message.
template <class Message>
class ArenaMessage {
 public:
  ArenaMessage()
      : arena_(std::make_unique<google::protobuf::Arena>(Options())),
        message_(google::protobuf::Arena::CreateMessage<Message>(arena_.get())) {}

  Message* operator->() const { return message_; }
  // NOLINTNEXTLINE(google-explicit-constructor): it stands for the message.
  operator Message&() const { return *message_; }

 private:
  static constexpr size_t kFirstBlockBytes = 4096;
  static constexpr size_t kBlockBytesMax = 65536;

  static google::protobuf::ArenaOptions Options() {
    google::protobuf::ArenaOptions options;
    options.start_block_size = kFirstBlockBytes;
    options.max_block_size = kBlockBytesMax;
    return options;
  }

  std::unique_ptr<google::protobuf::Arena> arena_;
  Message* message_;
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_WIRE_ARENA_MESSAGE_H_
