// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/remote/chat/remote_run.h"

#include "engine/remote/chat/answer_reader.h"
#include "engine/remote/http/shown_reply.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

namespace spanscope::remote {
namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

std::string lastPart(const std::string& name) {
  return name.substr(name.find_last_of('/') + 1);
}

constexpr long kOk = 200;
constexpr long kCreatedOk = 201;

std::optional<std::int64_t> contextOf(const ServerFacts& facts, const std::string& name) {
  const auto found = std::find_if(facts.models.begin(), facts.models.end(),
                                  [&name](const ServedModel& model) { return model.name == name; });
  return found == facts.models.end() ? std::nullopt : found->context;
}

Error statusProblem(const HttpReply& reply) {
  const std::string said = errorMessage(reply.body);
  std::string expected = "status 200";
  if (!reply.redirect.empty())
    expected = "the server's new address: it sends its clients to " + shownReply(reply.redirect);
  if (reply.retryAfter) {
    expected = "a server that is ready: it asks to wait for " + std::to_string(*reply.retryAfter) + " s";
  }
  return errorAt({}, "status " + std::to_string(reply.status) + (said.empty() ? "" : ": " + said),
                 std::move(expected));
}

/// A request with the replies that its prompt needs.
exports::ChatRequest filledIn(const exports::ChatRequest& request, const std::vector<std::string>& replies) {
  exports::ChatRequest filled = request;
  for (exports::ChatMessage& message : filled.messages) {
    if (message.replyOf) message.content = replies.at(*message.replyOf);
  }
  return filled;
}

class RemoteRunner {
 public:
  RemoteRunner(HttpClient& client, const std::vector<RemoteTarget>& targets, RemoteWatcher& watcher,
               const std::vector<exports::QueryCall>& calls, const std::stop_token& stop)
      : m_client(client), m_targets(targets), m_watcher(watcher), m_calls(calls), m_stop(stop) {}

  RemoteResult run(const std::vector<exports::ChatRequest>& requests,
                   const std::vector<std::size_t>& targetOf) {
    RemoteResult result;
    std::vector<std::string> replies(requests.size());
    for (std::size_t i = 0; i < requests.size();) {
      if (m_stop.stop_requested()) {
        result.isStopped = true;
        break;
      }
      const std::size_t target = targetOf.empty() ? 0 : targetOf[i];
      const RemoteTarget& asked = m_targets.at(target);
      const exports::ChatRequest filled = filledIn(requests[i], replies);
      std::vector<RemoteStep> steps;
      if (asked.local) {
        steps.push_back(answerHere(i, target, filled, result.error));
      } else {
        const std::string wanted = asked.server.model.empty() ? filled.model : asked.server.model;
        const std::optional<std::string> model = servedName(asked, filled.model);
        if (!model) {
          result.error = Error{url(asked), filled.node, "the model \"" + wanted + "\"",
                               namesOr(asked.facts, "the name of a model that the server has")};
          break;
        }
        const exports::QueryCall* const call = asked.protocol->takesCalls ? callAt(i) : nullptr;
        std::optional<Outgoing> sent;
        try {
          sent = asked.protocol->write({.request = filled,
                                        .call = call,
                                        .replies = replies,
                                        .model = *model,
                                        .kind = infoOf(asked.facts.kind),
                                        .prompt = asked.prompt,
                                        .context = contextOf(asked.facts, *model)});
        } catch (const Failure& failure) {
          result.error = failure.error();
          if (result.error->place.empty()) result.error->place = filled.node;
          break;
        }
        const bool hasLimit = filled.maxTokens.has_value();
        steps = ask(i, call == nullptr ? 1 : call->count, target, *model, std::move(*sent), result.error);
        for (RemoteStep& step : steps) {
          if (!hasLimit && step.brokenBy.empty() && isTokenLimit(step.answer.finish))
            step.warning = "The server ended the answer at its own limit. Max tokens of the query raise it.";
        }
      }
      bool isBroken = false;
      for (RemoteStep& step : steps) {
        isBroken |= !step.brokenBy.empty();
        replies[step.request] = step.answer.text;
        m_watcher.stepEnds(step);
      }
      if (m_stop.stop_requested()) result.isStopped = true;
      if (result.error && result.error->place.empty()) result.error->place = requests[i].node;
      i += steps.size();
      std::move(steps.begin(), steps.end(), std::back_inserter(result.steps));
      if (isBroken) break;
    }
    return result;
  }

 private:
  static std::string url(const RemoteTarget& target) {
    return addressOf(target.server.url, target.facts, target.protocol->path);
  }

  const exports::QueryCall* callAt(std::size_t request) const {
    const auto found =
        std::find_if(m_calls.begin(), m_calls.end(),
                     [request](const exports::QueryCall& call) { return call.first == request; });
    return found == m_calls.end() ? nullptr : &*found;
  }

  static std::string namesOr(const ServerFacts& facts, const std::string& otherwise) {
    const std::string names = modelNames(facts);
    return names.empty() ? otherwise : "one of the server's: " + names;
  }

  RemoteStep answerHere(std::size_t index, std::size_t target, const exports::ChatRequest& request,
                        std::optional<Error>& error) {
    m_watcher.stepBegins(index);
    m_watcher.sends(index, target, request.model, 0);
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
      // What came of an answer that was stopped stays.
      if (step.answer.text.empty()) step.answer.text = came;
    } catch (const Failure& failure) {
      error = failure.error();
      step.brokenBy = error->message();
      step.answer.text = came;
    }
    step.request = index;
    step.target = target;
    step.seconds = since(begin);
    return step;
  }

  /// One body, whose answer is that of `count` requests.
  std::vector<RemoteStep> ask(std::size_t first, std::size_t count, std::size_t target,
                              const std::string& model, Outgoing sent, std::optional<Error>& error) {
    const RemoteTarget& asked = m_targets[target];
    const std::string address = url(asked);
    std::vector<RemoteStep> steps(count);
    for (std::size_t i = 0; i < count; ++i) {
      steps[i].request = first + i;
      steps[i].target = target;
      steps[i].counted = i == 0 ? count : 0;
      m_watcher.stepBegins(first + i);
      m_watcher.sends(first + i, target, model, i == 0 ? sent.body.size() : 0);
    }
    std::vector<ChatAnswer> answers(count);
    const bool mayBeEmpty = sent.mayBeEmpty;
    const Clock::time_point begin = Clock::now();
    const auto tell = [&](std::size_t index, const std::string& piece) {
      RemoteStep& step = steps[index];
      step.timeToLastText = since(begin);
      if (!step.timeToFirstToken) step.timeToFirstToken = step.timeToLastText;
      m_watcher.text(first + index, piece);
    };
    AnswerReader reader(
        answers, asked.server.access.key,
        [&, before = std::optional<PromptProgress>()](const std::vector<AnswerText>& came) mutable {
          const std::optional<PromptProgress>& progress = answers.front().progress;
          if (progress && progress != before) m_watcher.promptProgress(first, *progress);
          before = progress;
          for (const AnswerText& text : came) tell(text.answer, text.piece);
        });
    std::string brokenBy;
    const auto breakBy = [&](Error problem) {
      if (problem.file.empty()) problem.file = address;
      // What was sent must not come back in messages and traces.
      for (std::string* text : {&problem.place, &problem.found, &problem.expected})
        *text = withoutKey(*text, asked.server.access.key);
      brokenBy = problem.message();
      error = std::move(problem);
    };
    try {
      const HttpReply reply = m_client.send({.url = address,
                                             .body = std::move(sent.body),
                                             .contentType = std::move(sent.contentType),
                                             .query = std::move(sent.query),
                                             .patience = [&reader] { return reader.patience(); }},
                                            asked.server.access, m_stop,
                                            [&reader](std::string_view piece) { reader.add(piece); });
      if (reply.isStopped) {
        brokenBy = "a request to stop";
      } else if (reply.status != kOk && reply.status != kCreatedOk) {
        breakBy(statusProblem(reply));
      } else if (!reply.brokenBy.empty()) {
        breakBy(errorAt({}, "an answer that breaks off: " + reply.brokenBy, "its end"));
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
    const CacheReporting reporting = asked.protocol->reporting(infoOf(asked.facts.kind));
    const std::string said = answers.front().model.empty() ? model : answers.front().model;
    for (std::size_t i = 0; i < count; ++i) {
      RemoteStep& step = steps[i];
      step.answer = std::move(answers[i]);
      step.seconds = since(begin);
      // Of several answers in one stream, those that came to their end are whole. A lone one is broken by
      // what came after its end, too.
      if (count == 1 || !step.answer.hasEnded() || problemOf(step.answer, mayBeEmpty))
        step.brokenBy = brokenBy;
      step.cached = cachedOf(step.answer, reporting);
      step.answer.model = said;
    }
    // Whatever breaks a call breaks one of its steps, so that nothing is sent that follows it.
    if (!brokenBy.empty() && steps.back().brokenBy.empty()) steps.back().brokenBy = brokenBy;
    return steps;
  }

  HttpClient& m_client;
  const std::vector<RemoteTarget>& m_targets;
  RemoteWatcher& m_watcher;
  const std::vector<exports::QueryCall>& m_calls;
  const std::stop_token& m_stop;
};

}  // namespace

std::string titleOf(const RemoteTarget& target) {
  if (target.local) return target.name;
  return std::string(infoOf(target.facts.kind).title) + " on " + target.name;
}

std::string protocolText(const RemoteTarget& target) {
  return target.protocol->title + (target.promptForm.empty() ? std::string() : ", " + target.promptForm);
}

RemoteResult runRemotely(HttpClient& client, const std::vector<RemoteTarget>& targets,
                         const std::vector<std::size_t>& targetOf,
                         const std::vector<exports::ChatRequest>& requests, RemoteWatcher& watcher,
                         const std::stop_token& stop, const std::vector<exports::QueryCall>& calls) {
  return RemoteRunner(client, targets, watcher, calls, stop).run(requests, targetOf);
}

std::optional<std::string> servedName(const ServerFacts& facts, const std::string& wanted, bool isChosen) {
  if (!facts.listsModels && !wanted.empty()) return wanted;
  for (const ServedModel& model : facts.models) {
    if (model.name == wanted) return wanted;
  }
  for (const ServedModel& model : facts.models) {
    if (wanted.empty()) break;
    // Ollama adds the tag.
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

std::string modelNames(const ServerFacts& facts) {
  constexpr std::size_t kMost = 10;
  std::string names;
  for (std::size_t i = 0; i < facts.models.size() && i < kMost; ++i)
    names += (names.empty() ? "" : ", ") + shownReply(facts.models[i].name);
  if (facts.models.size() > kMost) names += " and " + std::to_string(facts.models.size() - kMost) + " more";
  return names;
}

}  // namespace spanscope::remote
