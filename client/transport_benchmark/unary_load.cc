#include "client/transport_benchmark/unary_load.h"

#include <grpcpp/alarm.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/transport_benchmark/connection.h"

namespace gridfold::transport_benchmark {

namespace {

using Clock = std::chrono::steady_clock;

// What one thread has seen.
struct Tally {
  std::vector<float> answered_us;
  std::vector<float> refused_us;
  uint64_t failed = 0;
  std::string first_error;
};

double Percentile(std::vector<float>& values, double part) {
  if (values.empty()) return 0;
  const auto nth = values.begin() + static_cast<ptrdiff_t>(part * (values.size() - 1));
  std::nth_element(values.begin(), nth, values.end());
  return *nth;
}

// One call after the other, or one in each period.
class CallLoop {
 public:
  CallLoop(const UnaryLoad& load, const std::shared_ptr<grpc::Channel>& channel,
           grpc::CompletionQueue& queue, Clock::duration period, Clock::time_point first)
      : load_(load),
        stub_(channel),
        queue_(queue),
        request_(BufferOf(load.request)),
        period_(period),
        next_(first) {}

  void Begin() {
    if (period_ == Clock::duration::zero()) {
      Send();
    } else {
      Wait();
    }
  }

  // A call is over, or it is time for the next one.
  void OnEvent(Clock::time_point counted_from, Tally& tally) {
    if (waiting_) {
      Send();
      return;
    }
    if (sent_at_ >= counted_from) Count(tally);
    Begin();
  }

 private:
  void Send() {
    waiting_ = false;
    context_.emplace();
    sent_at_ = Clock::now();
    reader_ = stub_.PrepareUnaryCall(&*context_, load_.method, request_, &queue_);
    reader_->StartCall();
    reader_->Finish(&response_, &status_, this);
  }

  void Wait() {
    waiting_ = true;
    const Clock::duration left = std::max(next_ - Clock::now(), Clock::duration::zero());
    next_ += period_;
    alarm_.Set(&queue_, std::chrono::system_clock::now() + left, this);
  }

  void Count(Tally& tally) const {
    const float us = std::chrono::duration<float, std::micro>(Clock::now() - sent_at_).count();
    if (status_.ok()) {
      tally.answered_us.push_back(us);
    } else if (status_.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED) {
      tally.refused_us.push_back(us);
    } else if (tally.failed++ == 0) {
      tally.first_error = absl::StrCat(status_.error_code(), ": ", status_.error_message());
    }
  }

  const UnaryLoad& load_;
  grpc::GenericStub stub_;
  grpc::CompletionQueue& queue_;
  const grpc::ByteBuffer request_;
  const Clock::duration period_;
  Clock::time_point next_;
  bool waiting_ = false;
  grpc::Alarm alarm_;
  std::optional<grpc::ClientContext> context_;
  Clock::time_point sent_at_;
  std::unique_ptr<grpc::GenericClientAsyncResponseReader> reader_;
  grpc::ByteBuffer response_;
  grpc::Status status_;
};

// A thread's share of the connections.
void RunLoops(const UnaryLoad& load, int connections, Clock::time_point begin, Tally& tally) {
  grpc::CompletionQueue queue;
  std::vector<std::unique_ptr<CallLoop>> loops;
  const int loop_count = load.connections * load.calls_per_connection;
  Clock::duration period{};
  if (load.calls_per_second > 0) {
    period = std::chrono::duration_cast<Clock::duration>(
        std::chrono::duration<double>(loop_count / load.calls_per_second));
  }
  const int share = connections * load.calls_per_connection;
  for (int i = 0; i < connections; ++i) {
    const std::shared_ptr<grpc::Channel> channel = OpenConnection(load.target);
    for (int k = 0; k < load.calls_per_connection; ++k) {
      const auto first = Clock::now() + period * static_cast<int>(loops.size()) / share;
      loops.push_back(std::make_unique<CallLoop>(load, channel, queue, period, first));
    }
  }
  for (const auto& loop : loops) loop->Begin();
  const Clock::time_point end = begin + load.duration;
  size_t under_way = loops.size();
  void* tag = nullptr;
  bool ok = false;
  while (under_way > 0 && queue.Next(&tag, &ok)) {
    if (Clock::now() < end) {
      static_cast<CallLoop*>(tag)->OnEvent(begin, tally);
    } else {
      --under_way;
    }
  }
  queue.Shutdown();
  while (queue.Next(&tag, &ok)) {
  }
}

}  // namespace

UnaryFigures RunUnaryLoad(const UnaryLoad& load) {
  const int thread_count = std::min(load.connections, kUnaryThreadsMax);
  std::vector<Tally> tallies(thread_count);
  std::vector<std::thread> threads;
  const Clock::time_point begin = Clock::now() + load.warm_up;
  for (int t = 0; t < thread_count; ++t) {
    const int share = load.connections / thread_count + (t < load.connections % thread_count);
    threads.emplace_back([&, share, t] { RunLoops(load, share, begin, tallies[t]); });
  }
  for (std::thread& thread : threads) thread.join();

  UnaryFigures figures;
  std::vector<float> answered;
  std::vector<float> refused;
  for (Tally& tally : tallies) {
    answered.insert(answered.end(), tally.answered_us.begin(), tally.answered_us.end());
    refused.insert(refused.end(), tally.refused_us.begin(), tally.refused_us.end());
    figures.failed += tally.failed;
    if (figures.first_error.empty()) figures.first_error = tally.first_error;
  }
  figures.answered = answered.size();
  figures.refused = refused.size();
  figures.calls_per_second =
      static_cast<double>(answered.size()) / std::chrono::duration<double>(load.duration).count();
  figures.p50_us = Percentile(answered, 0.5);
  figures.p99_us = Percentile(answered, 0.99);
  figures.refused_p50_us = Percentile(refused, 0.5);
  figures.refused_p99_us = Percentile(refused, 0.99);
  return figures;
}

}  // namespace gridfold::transport_benchmark
