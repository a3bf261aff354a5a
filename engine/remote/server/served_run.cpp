// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/remote/server/served_run.h"

#include "engine/base/clock.h"
#include "engine/base/counted.h"
#include "engine/text/tokenizer.h"

#include <exception>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace spanscope::server {

class ServedRun::Listener final : public RunListener {
 public:
  Listener(PlannedCall call, Gate::Pass turn, ServedRequests& requests, ServedRequest about,
           ServerMetrics& metrics, std::atomic<std::size_t>& running, std::function<void(RunId)> hasBegun)
      : m_turn(std::move(turn)),
        m_call(std::move(call)),
        m_answer(*m_call.plan, m_call.stops, m_call.choicesPerPrompt, m_call.minTokens),
        m_requests(requests),
        m_metrics(metrics),
        m_running(running),
        m_hasBegun(std::move(hasBegun)),
        m_number(requests.add(std::move(about))) {
    m_metrics.setRequests(++m_running);
  }
  ~Listener() override {
    m_metrics.countSeconds(secondsSince(m_began));
    // The server waits for this count before destroying the gates.
    m_turn.reduceTo(0);
    m_metrics.setRequests(--m_running);
  }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  void onEvent(const trace::Event& event) override {
    if (m_hasBegun && std::holds_alternative<trace::RunStarted>(event.payload)) m_hasBegun(event.run);
    m_requests.take(m_number, event);
    m_answer.onEvent(event);
  }
  void onEnd(const RunEnd& end) override {
    using How = RunEnd::How;
    m_requests.end(m_number,
                   end.how == How::Finished  ? RequestState::Finished
                   : end.how == How::Stopped ? RequestState::Stopped
                                             : RequestState::Failed,
                   end.problem);
    m_answer.onEnd(end);
  }

  const PlannedCall& call() const { return m_call; }
  Answer& answer() { return m_answer; }
  Clock::time_point began() const { return m_began; }

 private:
  Gate::Pass m_turn;
  PlannedCall m_call;
  Answer m_answer;
  ServedRequests& m_requests;
  ServerMetrics& m_metrics;
  std::atomic<std::size_t>& m_running;
  std::function<void(RunId)> m_hasBegun;  ///< may be empty
  std::uint64_t m_number;
  Clock::time_point m_began = Clock::now();
};

namespace {

using Clock = std::chrono::steady_clock;

ApiError failed(const RunEnd& end) {
  if (!end.isOfInput) return {.status = 500, .message = end.problem, .type = "server_error"};
  if (!end.tooLong) return {.message = end.problem, .code = "prompt_not_possible"};
  // Clients recognize this error by OpenAI's message.
  return {.message = "This model's maximum context length is " + counted(end.tooLong->most + 1, "token") +
                     ", one of them for the answer. However, the prompt has " +
                     (end.tooLong->isAtLeast ? "more than " : "") + counted(end.tooLong->tokens, "token") +
                     ". Please shorten the prompt. (" + end.problem + ")",
          .code = "context_length_exceeded"};
}

/// Returns the reason why an answer cannot be completed; nothing: the answer may become complete.
std::optional<ApiError> problemOf(const Answer::News& news, const Answering& answering,
                                  ServedRun::Clock::time_point began) {
  if (std::optional<ApiError> error = answering.address.interruption(currentConnection(), began))
    return error;
  if (!news.end) return std::nullopt;
  return news.end->how == RunEnd::How::Stopped ? serverIsEnding() : failed(*news.end);
}

}  // namespace

void refuse(httplib::Response& reply, const ApiError& error) {
  reply.status = error.status;
  if (error.status == 429 || error.status == 503) reply.set_header("Retry-After", "1");
  if (error.status == 401) reply.set_header("WWW-Authenticate", "Bearer");
  reply.set_content(errorJson(error), "application/json");
}

ServedRun::ServedRun(PlannedCall call, Gate::Pass turn, ServedRequests& requests, ServedRequest about,
                     ServerMetrics& metrics, std::atomic<std::size_t>& running,
                     std::function<void(RunId)> hasBegun, Engine& engine) {
  RunOrder order{.plan = call.plan, .options = call.options};
  m_listener = std::make_shared<Listener>(std::move(call), std::move(turn), requests, std::move(about),
                                          metrics, running, std::move(hasBegun));
  m_handle = engine.begin(std::move(order), m_listener);
}

ServedRun::~ServedRun() {
  if (m_handle) m_handle->stop();
}

const PlannedCall& ServedRun::call() const {
  return m_listener->call();
}

Answer& ServedRun::answer() {
  return m_listener->answer();
}

ServedRun::Clock::time_point ServedRun::began() const {
  return m_listener->began();
}

void answerWhole(ServedRun& run, ReplyHead head, const Answering& answering, httplib::Response& reply) {
  Answer& replies = run.answer();
  WholeReply whole(std::move(head), replies.choices(), run.call().logprobs, answering.tokenizer);
  while (true) {
    const Answer::News news = replies.wait(kCheckPeriod);
    for (const AnswerPiece& piece : news.pieces) whole.take(piece);
    if (news.isComplete) break;
    const std::optional<ApiError> error = problemOf(news, answering, run.began());
    if (!error) continue;
    if (error->status == kClientGone) answering.metrics.countGone();
    return refuse(reply, *error);
  }
  reply.set_content(whole.json(replies.usage()), "application/json");
}

void answerInPieces(std::shared_ptr<ServedRun> run, ReplyHead head, const Answering& answering,
                    httplib::Response& reply) {
  // A failure before the first text becomes an answer with an error status.
  Answer::News first;
  while (true) {
    first = run->answer().wait(kCheckPeriod);
    if (!first.pieces.empty() || first.isComplete) break;
    const std::optional<ApiError> error = problemOf(first, answering, run->began());
    if (!error) continue;
    if (error->status == kClientGone) answering.metrics.countGone();
    return refuse(reply, *error);
  }
  struct Stream {
    StreamedReply text;
    std::optional<Answer::News> news;  ///< taken before the stream begins
    bool hasBegun = false;
    Clock::time_point last = Clock::now();
  };
  auto stream = std::make_shared<Stream>(
      Stream{.text = StreamedReply(std::move(head), run->answer().choices(), run->call().logprobs,
                                   run->call().includesUsage, answering.tokenizer),
             .news = std::move(first)});
  reply.set_header("Cache-Control", "no-cache");
  reply.set_header("X-Accel-Buffering", "no");
  const auto write = [answering, run, stream](httplib::DataSink& sink) {
    constexpr std::chrono::seconds kSilence{15};
    Answer& replies = run->answer();
    const Answer::News news = stream->news ? *std::exchange(stream->news, std::nullopt) : replies.wait(kCheckPeriod);
    std::string text;
    if (!std::exchange(stream->hasBegun, true)) text = stream->text.begin();
    for (const AnswerPiece& piece : news.pieces) text += stream->text.take(piece);
    std::optional<ApiError> error;
    if (!news.isComplete) error = problemOf(news, answering, run->began());
    if (error && error->status == kClientGone) {
      answering.metrics.countGone();
      return false;
    }
    if (news.isComplete) text += stream->text.end(replies.usage());
    if (error) text += eventOf(errorJson(*error)) + kDone;
    // A comment, which clients ignore, shows whether the client is still connected.
    if (text.empty() && Clock::now() - stream->last > kSilence) text = ": still computing\n\n";
    if (!text.empty()) {
      stream->last = Clock::now();
      if (!sink.write(text.data(), text.size())) {
        answering.metrics.countGone();
        return false;
      }
    }
    if (news.isComplete || error) sink.done();
    return true;
  };
  const auto provide = [write](std::size_t, httplib::DataSink& sink) {
    std::string last;
    try {
      return write(sink);
    } catch (const std::bad_alloc&) {
      last = eventOf(errorJson(outOfMemory())) + kDone;
    } catch (const std::exception& exception) {
      last = eventOf(errorJson({.status = 500, .message = exception.what(), .type = "server_error"})) + kDone;
    }
    if (!sink.write(last.data(), last.size())) return false;
    sink.done();
    return true;
  };
  if (!currentConnection()->head().isOld)
    return reply.set_chunked_content_provider("text/event-stream", provide);
  // HTTP/1.0 has no chunks: the end of the connection ends the answer.
  currentConnection()->closeAfterwards();
  reply.set_content_provider("text/event-stream", provide);
}

}  // namespace spanscope::server
