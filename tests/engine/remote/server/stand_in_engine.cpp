// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/engine/remote/server/stand_in_engine.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <variant>

namespace spanscope::server::test {
namespace {

class StandInHandle final : public RunHandle {
 public:
  explicit StandInHandle(std::stop_source stop) : m_stop(std::move(stop)) {}
  void stop() override { m_stop.request_stop(); }

 private:
  std::stop_source m_stop;
};

text::TurnForm turn(const char* before) {
  return {.prefix = {{.control = false, .text = before}}, .suffix = {{.control = false, .text = "\n"}}};
}

}  // namespace

void ByteTokenizer::encodeTo(std::string_view text, const std::stop_token& /*stop*/,
                             const text::TokenSink& sink) const {
  std::vector<TokenId> ids;
  for (const char byte : text) ids.push_back(static_cast<unsigned char>(byte));
  sink(ids);
}

std::string ByteTokenizer::bytes(TokenId id) const {
  return id == kEnd ? std::string() : std::string(1, static_cast<char>(id));
}

std::string ByteTokenizer::display(TokenId id) const {
  return id == kEnd ? "<end>" : std::string(1, static_cast<char>(id));
}

StandInEngine::StandInEngine()
    : m_model{.name = "stand-in",
              .fingerprint = "0123456789abcdef0123",
              .context = 4096,
              .blockSize = 16,
              .blocks = 255,
              .tokenizer = &m_tokenizer,
              .chat = &m_chat} {
  m_chat.name = "stand-in";
  m_chat.turns = {turn("S:"), turn("U:"), turn("A:")};
  m_chat.generationPrompt = {{.control = false, .text = "A:"}};
}

StandInEngine::~StandInEngine() = default;

void StandInEngine::setListener(std::function<void(const trace::Event&)> listener) {
  const std::lock_guard lock(m_mutex);
  m_listener = std::move(listener);
}

run::RunOptions StandInEngine::lastOptions() const {
  const std::lock_guard lock(m_mutex);
  return m_last.options;
}

plan::Plan StandInEngine::lastPlan() const {
  const std::lock_guard lock(m_mutex);
  return *m_last.plan;
}

std::unique_ptr<RunHandle> StandInEngine::begin(RunOrder order, std::shared_ptr<RunListener> listener) {
  const auto run = static_cast<RunId>(++m_begun);
  ++m_going;
  std::stop_source stop;
  const std::lock_guard lock(m_mutex);
  m_last = order;
  m_threads.emplace_back([this, order = std::move(order), listener = std::move(listener), run, stop] {
    carryOut(order, *listener, run, stop.get_token());
    --m_going;
  });
  return std::make_unique<StandInHandle>(stop);
}

void StandInEngine::carryOut(const RunOrder& order, RunListener& listener, RunId run,
                             const std::stop_token& stop) {
  std::uint64_t sequence = 0;
  const auto report = [&](RequestId request, trace::Payload payload) {
    trace::Event event{.sequence = ++sequence,
                       .time = 0,
                       .session = 1,
                       .run = run,
                       .request = request,
                       .node = {},
                       .payload = std::move(payload)};
    {
      const std::lock_guard lock(m_mutex);
      if (m_listener) m_listener(event);
    }
    listener.onEvent(event);
  };
  report(0, trace::RunStarted{.queryJson = order.options.queryJson, .policy = "spans", .seed = 0});
  if (!problem.empty()) {
    report(0, trace::RunFinished{.outcome = trace::RunOutcome::Failed, .answer = {}});
    listener.onEnd(
        {.how = RunEnd::How::Failed, .problem = problem, .isOfInput = problemIsOfInput, .tooLong = tooLong});
    return;
  }
  bool isStopped = false;
  for (StepIndex step = 0; step < order.plan->steps.size() && !isStopped; ++step) {
    const RequestId request = step + 1;
    report(request, trace::StepStarted{.step = step, .copy = 0});
    report(request, trace::RequestAdmitted{.promptTokens = 40, .cachedTokens = 32});
    const std::int32_t limit = order.plan->steps[step].maxTokens.value_or(0);
    const auto all = static_cast<std::int32_t>(reply.size()) + 1;
    const std::int32_t count = limit > 0 ? std::min(limit, all) : all;
    std::string text;
    for (std::int32_t i = 0; i < count; ++i) {
      const auto until = std::chrono::steady_clock::now() + perToken.load();
      while (!stop.stop_requested() && std::chrono::steady_clock::now() < until)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      if (stop.stop_requested()) {
        isStopped = true;
        break;
      }
      const bool isEnd = i + 1 == all;
      const std::string one = isEnd ? std::string() : reply.substr(static_cast<std::size_t>(i), 1);
      text += one;
      const TokenId drawn = isEnd ? ByteTokenizer::kEnd : static_cast<unsigned char>(one.front());
      if (order.options.alternatives > 0) {
        trace::TokenAlternatives likeliest{.index = i, .tokens = {{drawn, one, 0.5F}}};
        for (TokenId other = ByteTokenizer::kEnd;
             other > ByteTokenizer::kEnd + 1 - order.options.alternatives; --other)
          likeliest.tokens.push_back({other, {}, 0.25F});
        report(request, std::move(likeliest));
      }
      report(
          request,
          trace::TokenGenerated{
              .index = i, .token = drawn, .text = one, .shown = one, .probability = 0.5F, .segmentMass = {}});
    }
    report(request, trace::StepFinished{.step = step,
                                        .outcome = isStopped     ? trace::StepOutcome::Stopped
                                                   : count < all ? trace::StepOutcome::TokenLimit
                                                                 : trace::StepOutcome::EndToken,
                                        .text = text});
  }
  if (isStopped) ++m_stopped;
  report(0,
         trace::RunFinished{.outcome = isStopped ? trace::RunOutcome::Stopped : trace::RunOutcome::Finished,
                            .answer = {}});
  listener.onEnd({.how = isStopped ? RunEnd::How::Stopped : RunEnd::How::Finished});
}

}  // namespace spanscope::server::test
