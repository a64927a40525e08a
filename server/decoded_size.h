// How much memory a message will take once it is decoded, found by walking over its bytes without
// decoding them: what costs two bytes on the wire may cost fifty in memory, and a request must not
// take more than was promised to it. Pure; thread-safe.
#ifndef GRIDFOLD_SERVER_DECODED_SIZE_H_
#define GRIDFOLD_SERVER_DECODED_SIZE_H_

#include <cstdint>
#include <optional>

#include "google/protobuf/descriptor.h"
#include "google/protobuf/io/zero_copy_stream.h"

namespace gridfold::server {

// An upper bound in bytes, larger than `give_up_above` as soon as it exceeds that. Nothing where
// the bytes are not a message of `type`. The messages of `type` must not be recursive.
std::optional<uint64_t> DecodedSizeBound(google::protobuf::io::ZeroCopyInputStream& bytes,
                                         const google::protobuf::Descriptor& type,
                                         uint64_t give_up_above);

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_DECODED_SIZE_H_
