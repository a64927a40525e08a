// Requests as they go over the wire, made once and sent any number of times.
#ifndef GRIDFOLD_CLIENT_LOAD_WORK_PREPARED_REQUEST_H_
#define GRIDFOLD_CLIENT_LOAD_WORK_PREPARED_REQUEST_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "client/load/work/known_answer.h"
#include "client/load/work/operation_options.h"
#include "client/load/work/result_places.h"
#include "client/load/work/scenario.h"
#include "gridfold/batch.h"
#include "grpcpp/support/byte_buffer.h"

namespace gridfold::load {

// Immutable once made; any number of calls may send it at once.
struct PreparedRequest {
  size_t kind_index = 0;  // In the scenario.
  RequestKind kind;
  std::string method;                      // "/package.Service/Method"
  std::vector<grpc::ByteBuffer> messages;  // One, but for streams.
  uint64_t array_bytes = 0;                // What the server is to read.
  // One, but for batches. Requests about the same array share it.
  std::vector<std::shared_ptr<const KnownAnswer>> known = {};
  // Of scans with results in shared memory: where, of which each call takes one place and adds the
  // field that names it to the message.
  ResultPlaces* result_places = nullptr;

  bool is_batch() const { return kind.batch_size > 0; }
  bool is_stream() const { return kind.transport == ArrayTransport::kStream; }
};

// The method and the message of a request: of one operation, or of a batch of them.
void AddUnaryMessage(const std::vector<OperationInput>& operations, PreparedRequest& request);

// The arrays of an operation as bytes; empty where there are none.
struct StreamedInput {
  std::string elements;
  std::string y_elements = "";
  std::string weights = "";
  std::string keys = "";
  std::string mask = "";
  std::vector<uint64_t> segment_offsets = {};
};

// The method and the messages of a stream that sends up to `chunk_bytes` of each array in each.
void AddStreamMessages(const StreamedInput& input, uint64_t chunk_bytes, PreparedRequest& request);

// What the answer to a batch is read by, with arrays that stand for those of the request.
client::Batch BatchToRead(const RequestKind& kind);

}  // namespace gridfold::load

#endif  // GRIDFOLD_CLIENT_LOAD_WORK_PREPARED_REQUEST_H_
