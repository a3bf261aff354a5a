// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/remote/chat/remote_run.h"

#include "engine/base/clock.h"
#include "engine/base/counted.h"
#include "engine/remote/chat/answer_reader.h"
#include "engine/remote/chat/refused_fields.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <list>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

namespace spanscope::remote {
namespace {

using Clock = std::chrono::steady_clock;

std::string lastPart(const std::string& name) {
  return name.substr(name.find_last_of('/') + 1);
}

constexpr long kOk = 200;
constexpr long kCreatedOk = 201;

std::optional<std::int64_t> contextOf(const ServerFacts& facts, const std::string& name) {
  const auto found = std::ranges::find(facts.models, name, &ServedModel::name);
  return found == facts.models.end() ? std::nullopt : found->context;
}

Error statusProblem(const HttpReply& reply) {
  std::string advice;
  if (reply.status == 401 || reply.status == 403) advice = "Give a key that the server accepts.";
  if (!reply.redirect.empty())
    advice = "Use the server's new address: the server redirects to " + shownReply(reply.redirect) + ".";
  if (reply.retryAfter) {
    advice =
        "Try again later: the server asks clients to wait for " + std::to_string(*reply.retryAfter) + " s.";
  }
  return errorAt({}, statusSentence(reply.status, errorMessage(reply.body)), std::move(advice));
}

std::string urlOf(const RemoteTarget& target, const Protocol& protocol) {
  return addressOf(target.server.url, target.facts, protocol.path);
}

/// Whether a status refuses the form of a request. The server may accept another form.
bool isRefusal(long status) {
  constexpr std::array<long, 6> kOthers{401, 402, 403, 407, 408, 429};
  constexpr long kNotThere = 501;
  const bool isOfClient = status >= 400 && status < 500;
  return status == kNotThere || (isOfClient && std::ranges::find(kOthers, status) == kOthers.end());
}

/// Returns a request with the answers that its prompt needs.
exports::ChatRequest filledIn(const exports::ChatRequest& request, const std::vector<std::string>& replies) {
  exports::ChatRequest filled = request;
  for (exports::ChatMessage& message : filled.messages) {
    if (message.answerOf) message.content = replies.at(*message.answerOf);
  }
  return filled;
}

/// Queues data of the threads that wait for answers until the running thread takes it.
class Mailbox {
 public:
  using Letter = std::function<void()>;

  void post(Letter letter) {
    {
      const std::lock_guard lock(m_mutex);
      m_letters.push_back(std::move(letter));
    }
    m_hasCome.notify_one();
  }
  /// Waits for the next message.
  Letter take() {
    std::unique_lock lock(m_mutex);
    m_hasCome.wait(lock, [this] { return !m_letters.empty(); });
    Letter letter = std::move(m_letters.front());
    m_letters.pop_front();
    return letter;
  }

 private:
  std::mutex m_mutex;
  std::condition_variable m_hasCome;
  std::deque<Letter> m_letters;
};

/// Posts the events of a request. `watcher` gets these events on the thread that calls run().
class PostingWatcher final : public RemoteWatcher {
 public:
  PostingWatcher(Mailbox& mailbox, RemoteWatcher& watcher) : m_mailbox(mailbox), m_watcher(watcher) {}
  void promptProgress(std::size_t request, const PromptProgress& progress) override {
    m_mailbox.post([this, request, progress] { m_watcher.promptProgress(request, progress); });
  }
  void text(std::size_t request, const std::string& piece) override {
    m_mailbox.post([this, request, piece] { m_watcher.text(request, piece); });
  }

 private:
  Mailbox& m_mailbox;
  RemoteWatcher& m_watcher;
};

/// The results of one body.
struct Outcome {
  std::vector<RemoteStep> steps;
  std::optional<Error> error;
  std::optional<Error>
      refusal{};  ///< The target refuses the protocol and has another protocol. There are then no steps.
  std::vector<const RefusedField*> refusedFields{};  ///< later requests to the target omit these fields
  std::exception_ptr thrown{};
};

/// Requests one answer after another. Each thread has one Asker.
class Asker {
 public:
  Asker(HttpClient& client, const std::vector<RemoteTarget>& targets, RemoteWatcher& watcher,
        const std::stop_token& stop)
      : m_client(client), m_targets(targets), m_watcher(watcher), m_stop(stop) {}

  Outcome answerHere(std::size_t index, std::size_t target, const exports::ChatRequest& request) {
    std::optional<Error> error;
    const Clock::time_point begin = Clock::now();
    RemoteStep step;
    std::string came;
    const LocalWatch watch{
        .text =
            [&](const std::string& piece) {
              came += piece;
              m_watcher.text(index, piece);
            },
        .prompt = [&](const PromptProgress& progress) { m_watcher.promptProgress(index, progress); }};
    try {
      step = m_targets[target].local(request, watch, m_stop);
      if (came.empty() && !step.answer.text.empty()) m_watcher.text(index, step.answer.text);
      // A stopped answer keeps the text so far.
      if (step.answer.text.empty()) step.answer.text = came;
    } catch (const Failure& failure) {
      error = failure.error();
      step.brokenBy = error->message();
      step.answer.text = came;
    }
    step.request = index;
    step.target = target;
    step.isStopped = !error && !step.brokenBy.empty();
    step.seconds = secondsSince(begin);
    return {.steps = {std::move(step)}, .error = std::move(error)};
  }

  /// Sends one body. The response has the answers of `count` requests.
  Outcome ask(std::size_t first, std::size_t count, std::size_t target, const Protocol& protocol,
              const std::string& model, Outgoing sent) {
    const RemoteTarget& asked = m_targets[target];
    const std::string address = urlOf(asked, protocol);
    std::optional<Error> error;
    std::vector<RemoteStep> steps(count);
    for (std::size_t i = 0; i < count; ++i) {
      steps[i].request = first + i;
      steps[i].target = target;
      steps[i].counted = i == 0 ? count : 0;
    }
    std::vector<ChatAnswer> answers(count);
    const bool mayBeEmpty = sent.mayBeEmpty;
    Clock::time_point begin = Clock::now();
    const auto report = [&](std::size_t index, const std::string& piece) {
      RemoteStep& step = steps[index];
      step.timeToLastText = secondsSince(begin);
      if (!step.timeToFirstToken) step.timeToFirstToken = step.timeToLastText;
      m_watcher.text(first + index, piece);
    };
    AnswerReader reader(
        *protocol.answers, answers, asked.server.access.key,
        [&, before = std::optional<PromptProgress>()](const std::vector<AnswerText>& came) mutable {
          const std::optional<PromptProgress>& progress = answers.front().progress;
          if (progress && progress != before) m_watcher.promptProgress(first, *progress);
          before = progress;
          for (const AnswerText& text : came) report(text.answer, text.piece);
        });
    std::string brokenBy;
    bool isStopped = false;
    long status = 0;
    std::vector<const RefusedField*> refusedFields;
    const auto makeShowable = [&](Error& problem) {
      if (problem.file.empty()) problem.file = address;
      // The sent key must not appear in messages and traces.
      for (std::string* text : {&problem.place, &problem.found, &problem.expected})
        *text = withoutKey(*text, asked.server.access.key);
    };
    const auto breakBy = [&](Error problem) {
      makeShowable(problem);
      brokenBy = problem.message();
      error = std::move(problem);
    };
    try {
      const auto send = [&] {
        begin = Clock::now();
        return m_client.send({.url = address,
                              .body = sent.body,
                              .contentType = protocol.contentType,
                              .query = sent.query,
                              .patience = [&reader] { return reader.patience(); }},
                             accessIn(protocol, asked.server.access, asked.facts.kind), m_stop,
                             [&reader](std::string_view piece) { reader.add(piece); });
      };
      HttpReply reply = send();
      // A request that was refused for a field was not computed, so it is sent again without the field.
      while (const RefusedField* const field = refusedField(sent.body, reply.status, reply.body)) {
        refusedFields.push_back(field);
        sent.body = withoutField(std::move(sent.body), *field);
        reply = send();
      }
      status = reply.status;
      if (reply.isStopped) {
        isStopped = true;
        brokenBy = "a request to stop";
      } else if (&protocol != asked.otherwise && asked.otherwise != nullptr && isRefusal(reply.status)) {
        Error refusal = statusProblem(reply);
        makeShowable(refusal);
        return {.steps = {}, .error = {}, .refusal = std::move(refusal)};
      } else if (reply.status != kOk && reply.status != kCreatedOk) {
        breakBy(statusProblem(reply));
      } else if (!reply.brokenBy.empty()) {
        breakBy(errorAt({}, "an incomplete answer: " + reply.brokenBy, "a complete answer"));
        brokenBy = reply.brokenBy;
      } else {
        reader.end();
        for (std::size_t i = 0; i < count && brokenBy.empty(); ++i) {
          if (std::optional<Error> problem = problemOf(answers[i], mayBeEmpty)) breakBy(std::move(*problem));
        }
      }
    } catch (const Failure& failure) {
      breakBy(failure.error());
    }
    reader.settle();
    // The counts come at the end of an answer. An answer that was stopped before may have them in the
    // progress of its prompt.
    if (ChatAnswer& answer = answers.front(); !brokenBy.empty() && answer.progress) {
      if (!answer.cachedTokens) answer.cachedTokens = answer.progress->cached;
      if (!answer.promptTokens) answer.promptTokens = answer.progress->total;
    }
    const CacheReporting reporting = protocol.reporting(infoOf(asked.facts.kind));
    const std::string said = answers.front().model.empty() ? model : answers.front().model;
    for (std::size_t i = 0; i < count; ++i) {
      RemoteStep& step = steps[i];
      step.answer = std::move(answers[i]);
      step.seconds = secondsSince(begin);
      // In a stream of several answers, an ended answer is complete. A single answer also fails if a fault
      // follows the end of the answer.
      if (count == 1 || !step.answer.hasEnded() || problemOf(step.answer, mayBeEmpty))
        step.brokenBy = brokenBy;
      step.isStopped = isStopped && !step.brokenBy.empty();
      step.status = status;
      step.cached = cachedOf(step.answer, reporting);
      if (step.cached.isInconsistent) {
        step.warning = "The server reports " + counted(*step.answer.cachedTokens, "cached token") +
                       " of a prompt of " + counted(*step.answer.promptTokens, "token") +
                       ". These counts contradict each other.";
      }
      step.answer.model = withoutKey(said, asked.server.access.key);
      step.answer.finish = withoutKey(step.answer.finish, asked.server.access.key);
    }
    // A fault of a call breaks at least one step of the call. Requests that need the call are then not sent.
    if (!brokenBy.empty() && steps.back().brokenBy.empty()) steps.back().brokenBy = brokenBy;
    return {.steps = std::move(steps),
            .error = std::move(error),
            .refusal = {},
            .refusedFields = std::move(refusedFields)};
  }

 private:
  HttpClient& m_client;
  const std::vector<RemoteTarget>& m_targets;
  RemoteWatcher& m_watcher;
  const std::stop_token& m_stop;
};

/// Sends a request when all needed answers have arrived. Requests are sent in the order of the query. Threads
/// wait for the answers. The thread that calls run() does everything else.
class RemoteRunner {
 public:
  RemoteRunner(HttpClient& client, const std::vector<RemoteTarget>& targets, RemoteWatcher& watcher,
               const std::vector<exports::ChatRequest>& requests,
               const std::vector<exports::ChatRequest>& messages, const std::stop_token& stop)
      : m_targets(targets),
        m_watcher(watcher),
        m_requests(requests),
        m_messages(messages.empty() ? requests : messages),
        m_replies(requests.size()),
        m_hasEnded(requests.size()),
        m_underWay(targets.size()),
        m_idle{&client},
        m_stop(stop),
        m_passStop(stop, [this] { m_stopAll.request_stop(); }) {}
  ~RemoteRunner() {
    m_stopAll.request_stop();
    for (auto& [first, thread] : m_threads) thread.join();
  }
  RemoteRunner(const RemoteRunner&) = delete;
  RemoteRunner& operator=(const RemoteRunner&) = delete;

  RemoteResult run(const std::vector<std::size_t>& targetOf, const std::vector<exports::QueryCall>& calls,
                   const std::vector<std::size_t>& order) {
    line(targetOf, calls);
    if (order.size() == m_requests.size()) {
      std::vector<std::size_t> placeOf(order.size());
      for (std::size_t place = 0; place < order.size(); ++place) placeOf.at(order[place]) = place;
      m_waiting.sort(
          [&placeOf](const Sendable& a, const Sendable& b) { return placeOf[a.first] < placeOf[b.first]; });
    }
    do {
      sendWhatIsReady();
      if (!m_threads.empty()) m_mailbox.take()();
    } while (!m_threads.empty() || (m_isReady && !m_isClosed));
    RemoteResult result;
    result.isStopped = m_stop.stop_requested();
    result.steps = std::move(m_steps);
    std::ranges::sort(result.steps, {}, &RemoteStep::request);
    if (!m_errors.empty()) result.error = m_errors.begin()->second;
    result.errors = std::move(m_errors);
    result.changed = std::move(m_changed);
    return result;
  }

 private:
  /// One body: a request, or a call with several answers.
  struct Sendable {
    std::size_t first = 0;
    std::size_t count = 1;
    std::size_t target = 0;
    const exports::QueryCall* call = nullptr;
    std::vector<std::size_t> needs{};
    bool hasBegun = false;  ///< the request was sent before, in another protocol
  };
  using Question = std::function<Outcome(Asker& asker)>;

  const Protocol& protocolOf(std::size_t target) const {
    const auto changed = m_changed.find(target);
    return changed == m_changed.end() ? *m_targets[target].protocol : *changed->second;
  }

  void line(const std::vector<std::size_t>& targetOf, const std::vector<exports::QueryCall>& calls) {
    for (std::size_t i = 0; i < m_requests.size(); i += m_waiting.back().count) {
      Sendable body{.first = i, .target = targetOf.empty() ? 0 : targetOf[i]};
      const RemoteTarget& asked = m_targets.at(body.target);
      const auto call = std::ranges::find(calls, i, &exports::QueryCall::first);
      if (!asked.local && asked.protocol->takesCalls && call != calls.end()) {
        body.call = &*call;
        body.count = std::max<std::size_t>(1, call->count);
      }
      for (std::size_t own = i; own < std::min(i + body.count, m_requests.size()); ++own) {
        for (const exports::ChatMessage& message : m_requests[own].messages) {
          if (message.answerOf) body.needs.push_back(*message.answerOf);
        }
      }
      m_waiting.push_back(std::move(body));
    }
  }

  bool canSend(const Sendable& body) const {
    const RemoteTarget& target = m_targets[body.target];
    const std::size_t most = target.local ? 1 : std::max<std::size_t>(1, target.atOnce);
    return m_underWay[body.target] < most &&
           std::ranges::all_of(body.needs, [this](std::size_t need) { return m_hasEnded.at(need); });
  }

  void sendWhatIsReady() {
    if (!m_isReady) return;
    m_isReady = false;
    for (auto body = m_waiting.begin(); body != m_waiting.end();) {
      if (m_isClosed || m_stop.stop_requested()) return;
      if (!canSend(*body)) {
        ++body;
        continue;
      }
      const Sendable own = std::move(*body);
      body = m_waiting.erase(body);
      send(own);
    }
  }

  void send(const Sendable& body) {
    const RemoteTarget& asked = m_targets[body.target];
    const Protocol& protocol = protocolOf(body.target);
    const auto& requests = m_changed.contains(body.target) ? m_messages : m_requests;
    exports::ChatRequest filled = filledIn(requests[body.first], m_replies);
    if (asked.local) {
      sends(body, filled.model, 0);
      waitFor(body, [first = body.first, target = body.target, filled](Asker& asker) {
        return asker.answerHere(first, target, filled);
      });
      return;
    }
    const std::string wanted = asked.server.model.empty() ? filled.model : asked.server.model;
    const std::optional<std::string> model = servedName(asked, filled.model);
    if (!model)
      return fail(body.first,
                  {urlOf(asked, protocol), filled.node, "the model \"" + wanted + "\"",
                   namesOr(asked.facts, "the name of a model that the server has") +
                       (asked.server.model.empty() ? "" : ". To use another model, allow unlisted models")});
    std::optional<SentOrder> order;
    if (asked.arrange && body.call == nullptr) order = asked.arrange(body.first, filled);
    std::optional<Outgoing> sent;
    try {
      sent = protocol.write({.request = filled,
                             .call = body.call,
                             .replies = m_replies,
                             .model = *model,
                             .kind = infoOf(asked.facts.kind),
                             .prompt = asked.prompt,
                             .context = contextOf(asked.facts, *model),
                             .countTokens = counterFor(asked, *model)});
    } catch (const Failure& failure) {
      Error problem = failure.error();
      if (problem.file.empty()) problem.file = urlOf(asked, protocol);
      return fail(body.first, std::move(problem));
    }
    const std::vector<const RefusedField*> refused = m_refusedFields[body.target];
    for (const RefusedField* field : refused) sent->body = withoutField(std::move(sent->body), *field);
    sends(body, *model, sent->body.size());
    if (order) m_watcher.orders(body.first, *order);
    waitFor(body, [body, &protocol, refused, model = *model, sent = std::move(*sent),
                   hasLimit = filled.maxTokens.has_value()](Asker& asker) {
      Outcome outcome = asker.ask(body.first, body.count, body.target, protocol, model, sent);
      for (RemoteStep& step : outcome.steps) {
        const auto warn = [&step](const std::string& text) {
          step.warning += (step.warning.empty() ? "" : " ") + text;
        };
        for (const std::vector<const RefusedField*>& fields : {refused, outcome.refusedFields})
          for (const RefusedField* field : fields)
            if (field->warning != nullptr) warn(field->warning);
        if (!hasLimit && step.brokenBy.empty() && isTokenLimit(step.answer.finish))
          warn("The answer ended at a limit of the server or of the context. The query sets no max tokens.");
        if (step.brokenBy.empty() && !step.answer.noText.empty())
          warn("The answer also has content that is not text: " + step.answer.noText + ".");
      }
      return outcome;
    });
  }

  void sends(const Sendable& body, const std::string& model, std::size_t bytes) {
    for (std::size_t i = 0; i < body.count; ++i) {
      if (!body.hasBegun) m_watcher.stepBegins(body.first + i);
      m_watcher.sends(body.first + i, body.target, model, i == 0 ? bytes : 0);
    }
  }

  void waitFor(const Sendable& body, Question question) {
    if (m_idle.empty()) m_idle.push_back(m_clients.emplace_back(std::make_unique<HttpClient>()).get());
    HttpClient* const client = m_idle.back();
    m_idle.pop_back();
    ++m_underWay[body.target];
    m_threads.emplace(body.first, [this, client, body, question = std::move(question)] {
      Outcome outcome;
      try {
        const std::stop_token stop = m_stopAll.get_token();
        Asker asker(*client, m_targets, m_posting, stop);
        outcome = question(asker);
      } catch (...) {
        outcome.thrown = std::current_exception();
      }
      m_mailbox.post([this, client, body, outcome = std::move(outcome)] { end(body, *client, outcome); });
    });
  }

  void end(const Sendable& body, HttpClient& client, const Outcome& outcome) {
    const auto thread = m_threads.find(body.first);
    thread->second.join();
    m_threads.erase(thread);
    --m_underWay[body.target];
    m_idle.push_back(&client);
    m_isReady = true;
    if (outcome.thrown) std::rethrow_exception(outcome.thrown);
    std::vector<const RefusedField*>& refused = m_refusedFields[body.target];
    for (const RefusedField* field : outcome.refusedFields)
      if (std::ranges::find(refused, field) == refused.end()) refused.push_back(field);
    if (outcome.refusal) return useOtherProtocol(body, *outcome.refusal);
    if (outcome.error) {
      const auto isBroken = [](const RemoteStep& step) { return !step.brokenBy.empty(); };
      const auto broken = std::ranges::find_if(outcome.steps, isBroken);
      // An error of the whole body does not belong to one copy.
      const bool isOfAll = body.count > 1 && std::ranges::all_of(outcome.steps, isBroken);
      fail(broken == outcome.steps.end() ? body.first : broken->request, *outcome.error, !isOfAll);
    }
    for (const RemoteStep& step : outcome.steps) {
      m_isClosed |= !step.brokenBy.empty();
      m_replies[step.request] = step.answer.text;
      m_hasEnded[step.request] = true;
      m_watcher.stepEnds(step);
      m_steps.push_back(step);
    }
  }

  /// From now on, requests to this target use the other protocol, which takes no calls.
  void useOtherProtocol(const Sendable& refused, const Error& refusal) {
    const std::size_t target = refused.target;
    if (!m_changed.contains(target)) {
      m_changed[target] = m_targets[target].otherwise;
      m_watcher.changesProtocol(refused.first, target, refusal, *m_targets[target].otherwise);
    }
    m_waiting.push_front(refused);
    m_waiting.front().hasBegun = true;
    for (auto body = m_waiting.begin(); body != m_waiting.end(); ++body) {
      if (body->target != target) continue;
      body->call = nullptr;
      for (; body->count > 1; --body->count) {
        Sendable last = *body;
        last.first += body->count - 1;
        last.count = 1;
        m_waiting.insert(std::next(body), std::move(last));
      }
    }
  }

  /// Requests in progress are completed. No further request is sent.
  void fail(std::size_t request, Error error, bool namesCopy = true) {
    const NodePath& node = m_requests[request].node;
    if (!node.empty() && !error.place.starts_with('/')) error.place = node;
    // All copies of a node have the same place.
    const std::string copy = namesCopy ? copyText(copyOf(m_requests, request)) : std::string();
    if (node.empty() && !copy.empty()) error.place = "the root";
    error.place += copy;
    m_isClosed = true;
    m_watcher.fails(request, m_errors.insert_or_assign(request, std::move(error)).first->second);
  }

  std::function<std::optional<std::int64_t>(const std::string&)> counterFor(const RemoteTarget& asked,
                                                                            const std::string& model) {
    const ServerKind kind = asked.facts.kind;
    if (kind != ServerKind::Vllm && kind != ServerKind::Sglang) return {};
    return [this, &asked, model](const std::string& text) {
      return countTokens(m_counting, asked.server.url, asked.server.access, model, text, m_stop);
    };
  }

  static std::string namesOr(const ServerFacts& facts, const std::string& otherwise) {
    const std::string names = modelNames(facts);
    return names.empty() ? otherwise : "one of the models of the server: " + names;
  }

  const std::vector<RemoteTarget>& m_targets;
  RemoteWatcher& m_watcher;
  const std::vector<exports::ChatRequest>& m_requests;
  const std::vector<exports::ChatRequest>& m_messages;  ///< the same requests, for protocols without calls
  std::map<std::size_t, const Protocol*> m_changed;     ///< by target
  std::map<std::size_t, std::vector<const RefusedField*>> m_refusedFields;  ///< by target
  std::list<Sendable> m_waiting;
  std::vector<std::string> m_replies;
  std::vector<bool> m_hasEnded;  ///< whether the answer of a request has arrived
  std::vector<RemoteStep> m_steps;
  std::map<std::size_t, Error> m_errors;  ///< by request
  bool m_isReady = true;                  ///< a waiting request can be sent now
  bool m_isClosed = false;                ///< no further request is sent
  std::vector<std::size_t> m_underWay;    ///< number of bodies in progress, by target
  HttpClient m_counting;                  ///< counts tokens of prompts
  std::vector<std::unique_ptr<HttpClient>> m_clients;
  std::vector<HttpClient*> m_idle;
  Mailbox m_mailbox;
  PostingWatcher m_posting{m_mailbox, m_watcher};
  std::map<std::size_t, std::thread> m_threads;  ///< by the first request
  const std::stop_token& m_stop;
  std::stop_source m_stopAll;
  std::stop_callback<std::function<void()>> m_passStop;
};

}  // namespace

std::string titleOf(const RemoteTarget& target) {
  if (target.local) return target.name;
  return std::string(infoOf(target.facts.kind).title) + " on " + target.name;
}

bool isComputed(const RemoteStep& step) {
  return step.brokenBy.empty() || step.isStopped || !step.answer.text.empty();
}

bool SentOrder::isMoved() const {
  return !std::ranges::is_sorted(messages);
}

namespace {

/// Returns the name of a node or of its nearest node above; empty: there is none.
std::string nameAt(NodePath node, const NodeNames& names) {
  while (true) {
    const auto found = names.find(node);
    if (found != names.end()) return found->second;
    if (node.empty()) return {};
    node.resize(node.rfind('/'));
  }
}

/// Returns the names of all children; empty: a child has no name, or two children have the same name, which
/// is then the name of a node above them.
std::vector<std::string> namesOf(const std::vector<SentChild>& children, const NodeNames& names) {
  std::vector<std::string> result;
  for (const SentChild& child : children) {
    std::string name = nameAt(child.node, names);
    if (name.empty() || std::ranges::find(result, name) != result.end()) return {};
    result.push_back(std::move(name));
  }
  return result;
}

}  // namespace

std::string childrenText(const SentChildren& children, const NodeNames& names) {
  std::string text;
  for (const std::vector<SentChild>& group : children) {
    const std::vector<std::string> known = namesOf(group, names);
    if (!text.empty()) text += "; ";
    for (std::size_t i = 0; i < group.size(); ++i) {
      text += i == 0 ? "" : ", ";
      text += known.empty() ? "child " + std::to_string(group[i].number) : known[i];
      if (known.empty() && !group[i].beginning.empty()) text += " (“" + group[i].beginning + "”)";
    }
  }
  return text;
}

std::string orderText(const SentOrder& order, const NodeNames& names) {
  std::string text = order.isMoved() ? "Sent order: " + childrenText(order.sent, names)
                                     : std::string("Sent in the written order");
  text +=
      ". Predicted cached tokens: " + std::to_string(order.cached) + " of " + std::to_string(order.tokens);
  if (order.isMoved()) text += ", or " + std::to_string(order.asWritten) + " in the written order";
  if (order.isMoved() && order.cached <= order.asWritten)
    text += /*id:order-for-later*/ ". Later prompts with the same children get the same order";
  if (!order.isExact) text += ". A better order may exist";
  if (order.noteTokens > 0)
    text += ". The note about the written order has " + counted(order.noteTokens, "token");
  return text;
}

std::string protocolText(const RemoteTarget& target) {
  return target.protocol->title + (target.promptForm.empty() ? std::string() : ", " + target.promptForm);
}

RemoteResult runRemotely(HttpClient& client, const std::vector<RemoteTarget>& targets,
                         const std::vector<std::size_t>& targetOf,
                         const std::vector<exports::ChatRequest>& requests, RemoteWatcher& watcher,
                         const std::stop_token& stop, const std::vector<exports::QueryCall>& calls,
                         const std::vector<exports::ChatRequest>& messages,
                         const std::vector<std::size_t>& order) {
  return RemoteRunner(client, targets, watcher, requests, messages, stop).run(targetOf, calls, order);
}

std::string changeText(const RemoteTarget& target, const Error& refusal, const Protocol& now) {
  return "The server " + target.name + " refuses " + target.protocol->title + ". " + refusal.found +
         " The server now gets " + now.title + ".";
}

std::optional<std::string> servedName(const ServerFacts& facts, const std::string& wanted, bool isChosen) {
  if (!facts.listsModels && !wanted.empty()) return wanted;
  for (const ServedModel& model : facts.models) {
    if (model.name == wanted) return wanted;
  }
  for (const ServedModel& model : facts.models) {
    if (wanted.empty()) break;
    // Ollama adds a tag to the name.
    if (lastPart(model.name) == lastPart(wanted) || model.name == wanted + ":latest") return model.name;
  }
  const bool isFree = !isChosen || wanted.empty();
  if (facts.models.size() == 1 && isFree) return facts.models.front().name;
  return std::nullopt;
}

std::optional<std::string> servedName(const RemoteTarget& target, const std::string& queryModel) {
  const std::string& chosen = target.server.model;
  if (chosen.empty()) return servedName(target.facts, queryModel);
  const std::optional<std::string> served = servedName(target.facts, chosen, true);
  return served || !target.server.isUnlisted ? served : chosen;
}

CopyNumber copyOf(const std::vector<exports::ChatRequest>& requests, std::size_t request) {
  const auto isCopy = [&node = requests[request].node](const exports::ChatRequest& each) {
    return each.node == node;
  };
  const auto at = requests.begin() + static_cast<std::ptrdiff_t>(request);
  const auto before = static_cast<std::size_t>(std::count_if(requests.begin(), at, isCopy));
  const auto after = static_cast<std::size_t>(std::count_if(at, requests.end(), isCopy));
  return {.number = before + 1, .all = before + after};
}

std::string copyText(const CopyNumber& copy) {
  if (copy.all == 1) return {};
  return " (copy " + std::to_string(copy.number) + " of " + std::to_string(copy.all) + ")";
}

std::string modelNames(const ServerFacts& facts) {
  constexpr std::size_t kMost = 10;
  std::string names;
  for (std::size_t i = 0; i < facts.models.size() && i < kMost; ++i)
    names += (names.empty() ? "" : ", ") + shownReply(facts.models[i].name);
  if (facts.models.size() > kMost) names += " and " + std::to_string(facts.models.size() - kMost) + " more";
  return names;
}

}  // namespace spanscope::remote
