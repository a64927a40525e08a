// Requests as they go over the wire, made once and sent any number of times.
#ifndef GRIDFOLD_CLIENT_LOAD_WORK_PREPARED_REQUEST_H_
#define GRIDFOLD_CLIENT_LOAD_WORK_PREPARED_REQUEST_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "client/load/work/known_answer.h"
#include "client/load/work/scenario.h"
#include "gridfold/array_input.h"
#include "grpcpp/support/byte_buffer.h"

namespace gridfold::load {

// Immutable once made; any number of calls may send it at once.
struct PreparedRequest {
  size_t kind_index = 0;  // In the scenario.
  RequestKind kind;
  std::string method;                      // "/package.Service/Method"
  std::vector<grpc::ByteBuffer> messages;  // One, but for streams.
  uint64_t array_bytes = 0;                // What the server is to read.
  KnownAnswer known;

  bool is_stream() const { return kind.transport == ArrayTransport::kStream; }
};

// The method and the message of a request for `array`.
void AddUnaryMessage(const client::ArrayInput& array, PreparedRequest& request);

// The method and the messages of a stream that sends `elements` in messages of up to `chunk_bytes`.
void AddStreamMessages(const std::string& elements, uint64_t chunk_bytes, PreparedRequest& request);

// What answers are checked against.
client::HistogramOptions HistogramOptionsOf(const RequestKind& kind);

}  // namespace gridfold::load

#endif  // GRIDFOLD_CLIENT_LOAD_WORK_PREPARED_REQUEST_H_
