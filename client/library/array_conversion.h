// Resident arrays to and from the wire.
#ifndef GRIDFOLD_CLIENT_LIBRARY_ARRAY_CONVERSION_H_
#define GRIDFOLD_CLIENT_LIBRARY_ARRAY_CONVERSION_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/library/bulk_message.h"
#include "client/library/unary_call.h"
#include "client/library/wire_message.h"
#include "gridfold/array_view.h"
#include "gridfold/resident_array.h"
#include "gridfold/v1/array_service.pb.h"
#include "grpcpp/channel.h"

namespace gridfold::client {

WireMessage ToWire(const NewArray& array);

// Message `index` of a stream that writes `elements` from `first_element` on, in chunks of up to
// `chunk_elements`; nothing after the last. There is one also where there are no elements.
std::optional<WireMessage> WriteMessage(const std::string& name, uint64_t first_element,
                                        const ArrayView& elements, uint64_t chunk_elements,
                                        uint64_t index);

// One attempt of WriteArray over `channel`, in messages of up to `chunk_elements`.
absl::Status WriteArrayOnce(const std::shared_ptr<grpc::Channel>& channel, const CallHead& head,
                            const std::string& name, uint64_t first_element,
                            const ArrayView& elements, uint64_t chunk_elements);

// One attempt of ReadArray over `channel`: calls `add` with each message of the answer and its
// elements, which the message itself lacks, and ends with the first error of `add`.
absl::Status ReadArrayOnce(
    const std::shared_ptr<grpc::Channel>& channel, const CallHead& head, const ResidentArray& array,
    absl::FunctionRef<absl::Status(const v1::ReadArrayResponse& message, const BulkBytes& data)>
        add);

// Puts the answers of a stream that reads `array` together, one after the other.
class ArrayReader {
 public:
  explicit ArrayReader(const ResidentArray& array) : array_(array) {}

  // INTERNAL where the message does not continue the ones before.
  absl::Status Add(const v1::ReadArrayResponse& message, const BulkBytes& data);

  // INTERNAL where elements are missing.
  absl::StatusOr<ArrayData> Finish() &&;

 private:
  const ResidentArray& array_;
  bool has_begun_ = false;
  uint64_t expected_bytes_ = 0;
  ArrayData result_;
};

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_LIBRARY_ARRAY_CONVERSION_H_
