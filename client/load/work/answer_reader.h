// Takes an answer apart, and compares it with what it must be.
#ifndef GRIDFOLD_CLIENT_LOAD_WORK_ANSWER_READER_H_
#define GRIDFOLD_CLIENT_LOAD_WORK_ANSWER_READER_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "client/load/work/prepared_request.h"
#include "gridfold/execution_statistics.h"
#include "grpcpp/support/byte_buffer.h"

namespace gridfold::load {

struct Answer {
  client::ExecutionStatistics execution;
  bool is_verified = false;
  std::string difference = "";  // What is wrong with it; empty where nothing is, or nobody looked.
};

// For the messages of one call. Not thread-safe.
class AnswerReader {
 public:
  // `request` must outlive the reader, and so must `place`, where the results are to be in shared
  // memory. What stands there is made wrong, so that it will not pass for results.
  AnswerReader(const PreparedRequest& request, bool verify, const ResultPlace* place);

  // A message of the answer, in order. Streams of scans have several.
  void Add(grpc::ByteBuffer& message);

  // The array that has the results, by the answer; empty where there is none.
  const std::string& result_array() const { return result_array_; }
  // A message of that array's content, in order.
  void AddArrayContent(grpc::ByteBuffer& message);

  // After the last message of a call that succeeded. INTERNAL where the messages make no sense.
  absl::StatusOr<Answer> Finish();

 private:
  // An answer in one message: a Response to a call, or the result of a Streamed one to a stream.
  // `read` makes of it what the client library returns.
  template <typename Response, typename Streamed, typename Read>
  absl::Status AddWhole(grpc::ByteBuffer& message, Read read);
  template <typename Response, typename Read>
  absl::Status AddUnary(grpc::ByteBuffer& message, Read read);
  absl::Status AddScan(grpc::ByteBuffer& message);
  absl::Status AddScanPiece(grpc::ByteBuffer& message);
  absl::Status AddBatch(grpc::ByteBuffer& message);
  void AddResults(client::ElementType element_type, uint64_t first_element,
                  const std::string& data);

  void Compare(const client::ScanResult& result, const KnownAnswer& known);
  template <typename Result>
  void Compare(const Result& result, const KnownAnswer& known);
  void CompareInPlace(const client::ScanResult& result, const KnownScan& known);
  void Note(const std::string& difference);  // The first stays.

  const PreparedRequest& request_;
  const bool verify_;
  const ResultPlace* const place_;
  Answer answer_;
  absl::Status error_;
  bool has_message_ = false;
  std::string result_array_;
  client::ElementType result_type_ = client::ElementType::kFloat64;  // Of that array.
  uint64_t result_bytes_ = 0;  // That came in messages of their own.
};

}  // namespace gridfold::load

#endif  // GRIDFOLD_CLIENT_LOAD_WORK_ANSWER_READER_H_
