#include "server/services/array_service.h"

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/base/identifier.h"
#include "server/calls/immediate_call.h"
#include "server/compute/unary_call.h"
#include "server/planning/array_request_validation.h"
#include "server/streams/read_array_call.h"
#include "server/streams/write_array_call.h"
#include "server/wire/description_conversion.h"

namespace gridfold::server {

namespace {

absl::Status FillArray(const v1::GetArrayRequest& request, const TenantArrays& arrays,
                       v1::GetArrayResponse& response) {
  if (absl::Status status = ValidateArrayName(request.name(), "name"); !status.ok()) return status;
  const absl::StatusOr<ArrayInfo> array = arrays.Get(request.name());
  if (array.ok()) *response.mutable_array() = ToWire(*array);
  return array.status();
}

absl::Status FillPage(const PlannedPage& planned, const TenantArrays& arrays,
                      v1::ListArraysResponse& response) {
  const ArrayPage page = arrays.List(planned.after, planned.count_max);
  for (const ArrayInfo& array : page.arrays) *response.add_arrays() = ToWire(array);
  if (!page.is_last) response.set_next_page_token(page.arrays.back().name);
  return absl::OkStatus();
}

}  // namespace

// A call deletes itself when gRPC is done with it.

grpc::ServerUnaryReactor* ArrayService::CreateArray(grpc::CallbackServerContext* context,
                                                    const grpc::ByteBuffer* request,
                                                    grpc::ByteBuffer* response) {
  using Call = UnaryCall<v1::CreateArrayRequest, PlannedCreation, v1::CreateArrayResponse>;
  return (new Call(environment_, Rpc::kCreateArray, *context, *request, *response))->Start();
}

grpc::ServerReadReactor<grpc::ByteBuffer>* ArrayService::WriteArray(
    grpc::CallbackServerContext* context, grpc::ByteBuffer* response) {
  return (new WriteArrayCall(environment_, *context, *response))->Start();
}

grpc::ServerWriteReactor<grpc::ByteBuffer>* ArrayService::ReadArray(
    grpc::CallbackServerContext* context, const grpc::ByteBuffer* request) {
  return (new ReadArrayCall(environment_, *context, *request))->Start();
}

grpc::ServerUnaryReactor* ArrayService::GetArray(grpc::CallbackServerContext* context,
                                                 const grpc::ByteBuffer* request,
                                                 grpc::ByteBuffer* response) {
  return AnswerAtOnce<v1::GetArrayRequest, v1::GetArrayResponse>(
      environment_, Rpc::kGetArray, *context, *request, *response,
      [](const v1::GetArrayRequest& message, const TenantStores& stores,
         v1::GetArrayResponse& answer) { return FillArray(message, stores.arrays, answer); });
}

grpc::ServerUnaryReactor* ArrayService::ListArrays(grpc::CallbackServerContext* context,
                                                   const grpc::ByteBuffer* request,
                                                   grpc::ByteBuffer* response) {
  return AnswerAtOnce<v1::ListArraysRequest, v1::ListArraysResponse>(
      environment_, Rpc::kListArrays, *context, *request, *response,
      [this](const v1::ListArraysRequest& message, const TenantStores& stores,
             v1::ListArraysResponse& answer) -> absl::Status {
        const absl::StatusOr<PlannedPage> planned = PlanRequest(message, environment_.limits);
        if (!planned.ok()) return planned.status();
        return FillPage(*planned, stores.arrays, answer);
      });
}

grpc::ServerUnaryReactor* ArrayService::DeleteArray(grpc::CallbackServerContext* context,
                                                    const grpc::ByteBuffer* request,
                                                    grpc::ByteBuffer* response) {
  return AnswerAtOnce<v1::DeleteArrayRequest, v1::DeleteArrayResponse>(
      environment_, Rpc::kDeleteArray, *context, *request, *response,
      [](const v1::DeleteArrayRequest& message, const TenantStores& stores,
         v1::DeleteArrayResponse&) -> absl::Status {
        absl::Status status = ValidateArrayName(message.name(), "name");
        if (!status.ok()) return status;
        return stores.arrays.Remove(message.name());
      });
}

}  // namespace gridfold::server
