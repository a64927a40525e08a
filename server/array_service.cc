#include "server/array_service.h"

#include <string>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/array_request_validation.h"
#include "server/exception_guard.h"
#include "server/identifier.h"
#include "server/message_codec.h"
#include "server/proto_conversion.h"
#include "server/read_array_call.h"
#include "server/rpc_status.h"
#include "server/tenant.h"
#include "server/unary_call.h"
#include "server/write_array_call.h"

namespace gridfold::server {

namespace {

// A call that is answered at once, with what `body` makes of the tenant's arrays.
template <class Request, class Response>
grpc::ServerUnaryReactor* Answer(
    CallEnvironment& environment, Rpc rpc, grpc::CallbackServerContext& context,
    const grpc::ByteBuffer& request_bytes, grpc::ByteBuffer& response_bytes,
    absl::FunctionRef<absl::Status(const Request&, const TenantArrays&, Response&)> body) {
  CallReport report(rpc, environment.next_call_id++);
  report.request_bytes = request_bytes.Length();
  const absl::Status status = CatchExceptions([&]() -> absl::Status {
    absl::StatusOr<std::string> tenant = TenantOf(context);
    if (!tenant.ok()) return tenant.status();
    Request request;
    // The buffer belongs to this call.
    absl::Status decoded =
        DecodeRequest(const_cast<grpc::ByteBuffer&>(request_bytes), environment.limits, request);
    if (!decoded.ok()) return decoded;
    Response response;
    absl::Status answered =
        body(request, TenantArrays(environment.arrays, *std::move(tenant)), response);
    if (!answered.ok()) return answered;
    return EncodeResponse(response, response_bytes);
  });
  environment.Report(report, status, response_bytes.Length());
  grpc::ServerUnaryReactor* const reactor = context.DefaultReactor();
  reactor->Finish(ToGrpcStatus(status));
  return reactor;
}

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
  return Answer<v1::GetArrayRequest, v1::GetArrayResponse>(environment_, Rpc::kGetArray, *context,
                                                           *request, *response, FillArray);
}

grpc::ServerUnaryReactor* ArrayService::ListArrays(grpc::CallbackServerContext* context,
                                                   const grpc::ByteBuffer* request,
                                                   grpc::ByteBuffer* response) {
  return Answer<v1::ListArraysRequest, v1::ListArraysResponse>(
      environment_, Rpc::kListArrays, *context, *request, *response,
      [this](const v1::ListArraysRequest& message, const TenantArrays& arrays,
             v1::ListArraysResponse& answer) -> absl::Status {
        const absl::StatusOr<PlannedPage> planned = PlanRequest(message, environment_.limits);
        if (!planned.ok()) return planned.status();
        return FillPage(*planned, arrays, answer);
      });
}

grpc::ServerUnaryReactor* ArrayService::DeleteArray(grpc::CallbackServerContext* context,
                                                    const grpc::ByteBuffer* request,
                                                    grpc::ByteBuffer* response) {
  return Answer<v1::DeleteArrayRequest, v1::DeleteArrayResponse>(
      environment_, Rpc::kDeleteArray, *context, *request, *response,
      [](const v1::DeleteArrayRequest& message, const TenantArrays& arrays,
         v1::DeleteArrayResponse&) -> absl::Status {
        absl::Status status = ValidateArrayName(message.name(), "name");
        return status.ok() ? arrays.Remove(message.name()) : status;
      });
}

}  // namespace gridfold::server
