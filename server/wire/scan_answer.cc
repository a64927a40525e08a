#include "server/wire/scan_answer.h"

#include <utility>

namespace gridfold::server {

absl::Status EncodeResponse(ScanAnswer answer, grpc::ByteBuffer& bytes) {
  if (!answer.response.has_inline_array()) return EncodeResponse(answer.response, bytes);
  const v1::InlineArray array = std::move(*answer.response.mutable_inline_array());
  answer.response.clear_inline_array();
  bytes = EncodeChunk(answer.response, v1::ScanArrayResponse::kInlineArrayFieldNumber, array,
                      v1::InlineArray::kDataFieldNumber, std::move(answer.data));
  return absl::OkStatus();
}

}  // namespace gridfold::server
