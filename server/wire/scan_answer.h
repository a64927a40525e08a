// The answer of a scan, whose inline results are sent from where they were computed to.
#ifndef GRIDFOLD_SERVER_WIRE_SCAN_ANSWER_H_
#define GRIDFOLD_SERVER_WIRE_SCAN_ANSWER_H_

#include <grpcpp/support/byte_buffer.h>

#include "absl/status/status.h"
#include "gridfold/v1/compute_service.pb.h"
#include "server/wire/message_codec.h"

namespace gridfold::server {

struct ScanAnswer {
  v1::ScanArrayResponse response;  // Its inline array, where there is one, lacks its data:
  ChunkData data;
};

// Errors: those of EncodeResponse of a message.
absl::Status EncodeResponse(ScanAnswer answer, grpc::ByteBuffer& bytes);

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_WIRE_SCAN_ANSWER_H_
