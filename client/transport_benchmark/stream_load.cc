#include "client/transport_benchmark/stream_load.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <chrono>
#include <latch>
#include <memory>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/transport_benchmark/connection.h"

namespace gridfold::transport_benchmark {

namespace {

// Field 2, of bytes.
constexpr uint32_t kDataTag = 2 << 3 | 2;

// A message of data alone; all of them share one piece of memory.
grpc::ByteBuffer ChunkOf(const std::string& data) {
  std::string head;
  {
    google::protobuf::io::StringOutputStream stream(&head);
    google::protobuf::io::CodedOutputStream out(&stream);
    out.WriteTag(kDataTag);
    out.WriteVarint64(data.size());
  }
  const grpc::Slice slices[] = {grpc::Slice(head),
                                grpc::Slice(data.data(), data.size(), grpc::Slice::STATIC_SLICE)};
  return grpc::ByteBuffer(slices, 2);
}

// One stream, driven by one thread: writes as fast as it may and reads whatever
// comes.
class Stream {
 public:
  Stream(const StreamLoad& load, const grpc::ByteBuffer& chunk)
      : load_(load),
        chunk_(chunk),
        channel_(OpenConnection(load.target)),
        stub_(channel_),
        call_(stub_.PrepareCall(&context_, load.method, &queue_)) {}

  // The handshake is not part of what is measured.
  bool Connect() {
    return channel_->WaitForConnected(std::chrono::system_clock::now() + std::chrono::seconds(20));
  }

  grpc::Status Run() {
    call_->StartCall(Tag(kStart));
    void* tag = nullptr;
    bool ok = false;
    while (queue_.Next(&tag, &ok)) {
      switch (static_cast<Event>(reinterpret_cast<intptr_t>(tag))) {
        case kStart:
          call_->Write(BufferOf(load_.header), Tag(kWrite));
          call_->Read(&received_, Tag(kRead));
          break;
        case kWrite:
          if (ok) WriteNext();
          break;
        case kRead:
          if (ok) {
            received_bytes_ += received_.Length();
            received_.Clear();
            call_->Read(&received_, Tag(kRead));
          } else {
            call_->Finish(&status_, Tag(kFinish));
          }
          break;
        case kWritesDone: break;
        case kFinish: queue_.Shutdown(); break;
      }
    }
    return status_;
  }

  uint64_t received_bytes() const { return received_bytes_; }

 private:
  enum Event : intptr_t { kStart = 1, kWrite, kRead, kWritesDone, kFinish };
  static void* Tag(Event event) { return reinterpret_cast<void*>(static_cast<intptr_t>(event)); }

  void WriteNext() {
    if (written_ == load_.chunk_count) {
      call_->WritesDone(Tag(kWritesDone));
      return;
    }
    ++written_;
    call_->Write(chunk_, Tag(kWrite));
  }

  const StreamLoad& load_;
  const grpc::ByteBuffer& chunk_;
  std::shared_ptr<grpc::Channel> channel_;
  grpc::GenericStub stub_;
  grpc::ClientContext context_;
  grpc::CompletionQueue queue_;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> call_;
  uint64_t written_ = 0;
  grpc::ByteBuffer received_;
  uint64_t received_bytes_ = 0;
  grpc::Status status_;
};

}  // namespace

StreamFigures RunStreamLoad(const StreamLoad& load) {
  // Small numbers, so that no sum of any type overflows.
  std::string data(load.chunk_bytes, '\0');
  for (size_t i = 3; i < data.size(); i += 4) data[i] = static_cast<char>(60 + i / 4 % 4);
  const grpc::ByteBuffer chunk = ChunkOf(data);
  std::vector<grpc::Status> statuses(load.connections);
  std::vector<uint64_t> received(load.connections);
  std::vector<std::thread> threads;
  std::latch connected(load.connections + 1);
  for (int i = 0; i < load.connections; ++i) {
    threads.emplace_back([&, i] {
      Stream stream(load, chunk);
      stream.Connect();
      connected.arrive_and_wait();
      statuses[i] = stream.Run();
      received[i] = stream.received_bytes();
    });
  }
  connected.arrive_and_wait();
  const auto begin = std::chrono::steady_clock::now();
  for (std::thread& thread : threads) thread.join();
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();

  StreamFigures figures;
  figures.sent_bytes_per_second =
      static_cast<double>(load.chunk_bytes * load.chunk_count * load.connections) / seconds;
  for (int i = 0; i < load.connections; ++i) {
    figures.received_bytes += received[i];
    if (!statuses[i].ok() && figures.first_error.empty()) {
      figures.first_error =
          absl::StrCat(statuses[i].error_code(), ": ", statuses[i].error_message());
    }
  }
  return figures;
}

}  // namespace gridfold::transport_benchmark
