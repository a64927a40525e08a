// What tests do with the streams of ComputeService. Blocking.
#ifndef GRIDFOLD_SERVER_TESTING_STREAM_CALLER_H_
#define GRIDFOLD_SERVER_TESTING_STREAM_CALLER_H_

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "gridfold/v1/compute_service.grpc.pb.h"
#include "server/testing/test_server.h"

namespace gridfold::server {

inline v1::ArraySource Streamed(v1::ElementType type, uint64_t column_count = 0) {
  v1::ArraySource source;
  source.mutable_streamed_array()->set_element_type(type);
  source.mutable_streamed_array()->set_column_count(column_count);
  return source;
}

// Pieces that `bytes` are cut into at random: empty ones, of one byte, of all.
inline std::vector<std::string> RandomPieces(const std::string& bytes, std::mt19937_64& random) {
  std::vector<size_t> ends = {bytes.size()};
  for (uint64_t i = random() % 30; i > 0; --i) {
    const size_t end = random() % (bytes.size() + 1);
    ends.push_back(end);
    if (random() % 2 == 0) ends.push_back(std::min(bytes.size(), end + random() % 2));
  }
  std::sort(ends.begin(), ends.end());
  std::vector<std::string> pieces;
  size_t begin = 0;
  for (const size_t end : ends) {
    pieces.push_back(bytes.substr(begin, end - begin));
    begin = end;
  }
  return pieces;
}

// Sends the messages as they are.
inline grpc::Status Send(TestServer& server, const std::vector<v1::ReduceStreamRequest>& messages,
                         v1::ReduceStreamResponse& response) {
  grpc::ClientContext context;
  const auto writer = server.compute().ReduceStream(&context, &response);
  for (const v1::ReduceStreamRequest& message : messages) {
    if (!writer->Write(message)) break;
  }
  writer->WritesDone();
  return writer->Finish();
}
inline grpc::Status Send(TestServer& server,
                         const std::vector<v1::HistogramStreamRequest>& messages,
                         v1::HistogramStreamResponse& response) {
  grpc::ClientContext context;
  const auto writer = server.compute().HistogramStream(&context, &response);
  for (const v1::HistogramStreamRequest& message : messages) {
    if (!writer->Write(message)) break;
  }
  writer->WritesDone();
  return writer->Finish();
}
inline grpc::Status Send(TestServer& server,
                         const std::vector<v1::ReduceByKeyStreamRequest>& messages,
                         v1::ReduceByKeyStreamResponse& response) {
  grpc::ClientContext context;
  const auto writer = server.compute().ReduceByKeyStream(&context, &response);
  for (const v1::ReduceByKeyStreamRequest& message : messages) {
    if (!writer->Write(message)) break;
  }
  writer->WritesDone();
  return writer->Finish();
}

// Sends the messages while another thread takes the answers, which are left in `answers`.
inline grpc::Status Send(TestServer& server, const std::vector<v1::ScanStreamRequest>& messages,
                         std::vector<v1::ScanStreamResponse>& answers) {
  grpc::ClientContext context;
  const auto stream = server.compute().ScanStream(&context);
  std::thread sender([&] {
    for (const v1::ScanStreamRequest& message : messages) {
      if (!stream->Write(message)) return;
    }
    stream->WritesDone();
  });
  v1::ScanStreamResponse answer;
  while (stream->Read(&answer)) answers.push_back(answer);
  sender.join();
  return stream->Finish();
}

// Messages of a reduction's header and pieces.
inline std::vector<v1::ReduceStreamRequest> Messages(const v1::ReduceArrayRequest& header,
                                                     const std::vector<std::string>& pieces) {
  std::vector<v1::ReduceStreamRequest> messages(1);
  *messages[0].mutable_request() = header;
  for (const std::string& piece : pieces) messages.emplace_back().set_data(piece);
  return messages;
}

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_TESTING_STREAM_CALLER_H_
