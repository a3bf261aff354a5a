// SPDX-License-Identifier: GPL-3.0-or-later
// Records a request that passes the gateway as a run: its query, its text over blocks, what the upstream
// server found, and why it did not find the rest. Open this file to record more about passed requests.
#pragma once

#include "engine/remote/chat/answer_reader.h"
#include "engine/remote/chat/remote_run.h"
#include "engine/remote/chat/remote_trace.h"
#include "engine/remote/gateway/content_decoder.h"
#include "engine/remote/gateway/passage.h"
#include "engine/remote/gateway/passed_call.h"
#include "engine/remote/gateway/upstream_cache.h"
#include "engine/remote/server/served_requests.h"
#include "engine/text/chat_template.h"
#include "engine/text/conversation.h"
#include "engine/text/tokenizer.h"
#include "engine/trace/recorder.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::gateway {

/// The parts that all runs of a gateway share. All members must outlive the runs.
struct RunBook {
  std::shared_ptr<const text::Tokenizer> tokenizer;
  const text::ChatTemplate& chat;
  server::ServedRequests& requests;
  std::string program;                       ///< name and version, for traces
  std::string model;                         ///< name of the model whose tokens are counted
  std::optional<std::int64_t> tokenBytes{};  ///< CacheFacts::tokenBytes of this model
  /// Takes one line of JSON about each request after its end. May be empty. Any thread calls the function.
  std::function<void(const std::string& line)> log{};
  std::atomic<RunId> lastRun = 0;
  std::atomic<RequestId> lastRequest = 0;
};

/// The trace of one upstream server: a session with the runs that this server answers.
class UpstreamTrace {
 public:
  /// `book` must outlive the object.
  UpstreamTrace(std::string name, std::string url, RunBook& book);
  ~UpstreamTrace();
  UpstreamTrace(const UpstreamTrace&) = delete;
  UpstreamTrace& operator=(const UpstreamTrace&) = delete;

  const std::string& name() const { return m_name; }
  const std::string& url() const { return m_url; }
  const std::shared_ptr<trace::Recorder>& recorder() const { return m_recorder; }
  /// The recorder without further starts of sessions: all runs of a server are one session.
  trace::Sink& sink() { return m_sink; }
  UpstreamCache& cache() { return m_cache; }
  remote::ServerFacts facts() const;
  void setFacts(remote::ServerFacts facts);
  /// "vLLM on gpu-3"
  std::string title() const;

  /// Passes the events of a run to the request with this number in the list of requests.
  void follow(RunId run, std::uint64_t number);
  void unfollow(RunId run);

 private:
  const std::string m_name;
  const std::string m_url;
  RunBook& m_book;
  const std::shared_ptr<trace::Recorder> m_recorder;
  struct SessionSink final : trace::Sink {
    explicit SessionSink(trace::Recorder& target) : recorder(target) {}
    std::uint64_t send(RunId run, RequestId request, const NodePath& node, trace::Payload payload) override;
    trace::Recorder& recorder;
  };
  SessionSink m_sink{*m_recorder};
  UpstreamCache m_cache;
  mutable std::mutex m_mutex;
  remote::ServerFacts m_facts;
  std::map<RunId, std::uint64_t> m_numbers;
};

/// The tokens of a prompt with their messages.
struct PassedPrompt {
  text::RenderedConversation rendered{};
  std::vector<exports::ChatMessage> messages{};  ///< as sent
  std::vector<TokenId> tokens{};                 ///< empty: not known
};
/// Returns the tokens of a call.
PassedPrompt promptOf(const PassedCall& call, const RunBook& book);

/// Emits the facts and the prompt of a request, and begins the prompt in the simulated cache. The prompt has
/// sections if blocks are known. Returns the number of the prompt in the cache. 0: the tokens are not known,
/// or the server has no prefix caching.
std::uint64_t tracePrompt(UpstreamTrace& upstream, const RunBook& book, const PassedCall& call,
                          const PassedPrompt& prompt, const simulator::TracedRequest& about);
/// Ends a prompt in the simulated cache. Emits a note that compares the prediction with the server's report.
/// Or the note states that the prompt does not count as computed.
/// Returns the prediction. Nothing: the server has not computed the prompt, or there is no prediction.
std::optional<CachePrediction> traceAnswer(UpstreamTrace& upstream, const RunBook& book, std::uint64_t number,
                                           const PassedPrompt& prompt, const remote::RemoteStep& step,
                                           const simulator::TracedRequest& about);

/// A request in progress. All functions are called on the thread of the client's connection.
class PassedRun final : public PassageWatcher {
 public:
  /// The run begins with sent(). `prompt`: nothing if the tokens were not needed before. `order`: the order
  /// that was chosen. `about`: the client, the endpoint and the time.
  PassedRun(RunBook& book, UpstreamTrace& upstream, PassedCall call, std::string body,
            std::optional<PassedPrompt> prompt, std::optional<remote::SentOrder> order,
            server::ServedRequest about, std::string key);
  ~PassedRun() override;
  PassedRun(const PassedRun&) = delete;
  PassedRun& operator=(const PassedRun&) = delete;

  void sent() override;
  void waits() override;
  void begun(const UpstreamHead& head) override;
  void came(std::string_view content) override;
  /// Ends the run. If sent() was not called, no upstream server got the request, and the run only has the
  /// error. Call this function once.
  void end(const PassageEnd& end);

 private:
  using Clock = std::chrono::steady_clock;

  void startRun();
  void refuse(const std::string& problem);
  void finish(remote::RemoteStep step, const std::optional<Error>& error, server::RequestState state);
  void simulate();
  void read(std::string_view content);
  void settle();
  void readAnswer(const std::function<void()>& read);
  void writeLog(const PassageEnd& end);
  double elapsed() const;
  simulator::TracedRequest traced() const;

  RunBook& m_book;
  UpstreamTrace& m_upstream;
  PassedCall m_call;
  std::string m_body;
  std::optional<PassedPrompt> m_prompt;
  std::optional<remote::SentOrder> m_order;
  server::ServedRequest m_about;
  std::string m_key;  ///< no text of the trace contains the key

  bool m_hasBegun = false;
  RunId m_run = 0;
  RequestId m_request = 0;
  std::uint64_t m_number = 0;
  Clock::time_point m_sentAt{};
  std::optional<double> m_lastCame;  ///< seconds from sent() to the last content of the answer
  std::int64_t m_startTime = 0;      ///< when the server got the request, milliseconds since 1970; 0: never
  int m_status = 0;
  std::string m_encoding;  ///< of the content, in small letters; empty: none
  std::unique_ptr<ContentDecoder> m_decoder;
  std::vector<remote::RemoteTarget> m_targets;
  std::vector<std::size_t> m_targetOf;
  std::vector<exports::ChatRequest> m_requests;
  std::optional<remote::RemoteTrace> m_trace;
  std::vector<remote::ChatAnswer> m_answers;
  std::unique_ptr<remote::AnswerReader> m_reader;
  std::uint64_t m_cached = 0;                   ///< the prompt in the simulated cache; 0: none
  std::optional<CachePrediction> m_prediction;  ///< after the end
  std::string m_error;                          ///< the beginning of an answer with an error status
  std::string m_refusal;  ///< why the server did not compute the prompt; empty: no reason is known
  std::string m_problem;
  bool m_isNoAnswer = false;  ///< the content is no answer, for example an error with status 200
  std::optional<double> m_first;
  std::optional<double> m_last;
};

}  // namespace spanscope::gateway
