// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/remote/chat/remote_run.h"

#include "engine/remote/http/event_stream.h"

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
        const std::optional<std::string> model = servedName(asked.facts, wanted);
        if (!model) {
          result.error = Error{url(asked), filled.node, "the model \"" + wanted + "\"", names(asked)};
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
                                        .prompt = asked.prompt});
        } catch (const Failure& failure) {
          result.error = failure.error();
          if (result.error->place.empty()) result.error->place = filled.node;
          break;
        }
        steps = ask(i, call == nullptr ? 1 : call->count, target, *model, std::move(*sent), result.error);
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
    return rootOf(target.server.url) + target.protocol->path;
  }

  const exports::QueryCall* callAt(std::size_t request) const {
    const auto found =
        std::find_if(m_calls.begin(), m_calls.end(),
                     [request](const exports::QueryCall& call) { return call.first == request; });
    return found == m_calls.end() ? nullptr : &*found;
  }

  static std::string names(const RemoteTarget& target) {
    std::string list;
    for (const ServedModel& model : target.facts.models) list += (list.empty() ? "" : ", ") + model.name;
    return list.empty() ? "a model that the server has" : "one of the server's: " + list;
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
    const Clock::time_point begin = Clock::now();
    const auto tell = [&](std::size_t index, const std::string& piece) {
      RemoteStep& step = steps[index];
      step.timeToLastText = since(begin);
      if (!step.timeToFirstToken) step.timeToFirstToken = step.timeToLastText;
      m_watcher.text(first + index, piece);
    };
    EventStream stream([&](std::string_view data) {
      const std::optional<PromptProgress> before = answers.front().progress;
      const std::vector<AnswerText> came = addEvent(answers, data);
      if (answers.front().progress != before) m_watcher.promptProgress(first, *answers.front().progress);
      for (const AnswerText& text : came) tell(text.answer, text.piece);
    });
    std::string whole;
    const auto isEnded = [](const ChatAnswer& answer) { return answer.isDone || !answer.finish.empty(); };
    std::string brokenBy;
    try {
      const HttpReply reply = m_client.send({.url = address,
                                             .body = std::move(sent.body),
                                             .contentType = std::move(sent.contentType),
                                             .query = std::move(sent.query)},
                                            asked.server.access, m_stop, [&](std::string_view piece) {
                                              sent.isStreamed ? stream.add(piece) : void(whole += piece);
                                            });
      if (reply.isStopped) {
        brokenBy = "a request to stop";
      } else if (reply.status != 200) {
        const std::string said = errorMessage(reply.body);
        throw Failure({address,
                       {},
                       "status " + std::to_string(reply.status) + (said.empty() ? "" : ": " + said),
                       "status 200"});
      } else if (!reply.brokenBy.empty()) {
        brokenBy = reply.brokenBy;
        error = Error{address, {}, "an answer that breaks off: " + reply.brokenBy, "its end"};
      } else if (sent.isStreamed) {
        stream.end();
        if (!std::all_of(answers.begin(), answers.end(), isEnded)) {
          brokenBy = "the stream ended before the answer did";
          error = Error{address, {}, brokenBy, "its end"};
        }
      } else {
        readWhole(answers, whole);
        for (std::size_t i = 0; i < count; ++i) {
          if (!answers[i].text.empty()) tell(i, answers[i].text);
        }
      }
    } catch (const Failure& failure) {
      error = failure.error();
      if (error->file.empty()) error->file = address;
      brokenBy = error->message();
    }
    const CacheReporting reporting = asked.protocol->reporting(infoOf(asked.facts.kind));
    const std::string said = answers.front().model.empty() ? model : answers.front().model;
    for (std::size_t i = 0; i < count; ++i) {
      RemoteStep& step = steps[i];
      step.answer = std::move(answers[i]);
      step.seconds = since(begin);
      // Of several answers in one stream, those that came to their end are whole. A lone one is broken by
      // what came after its end, too.
      if (count == 1 || !isEnded(step.answer)) step.brokenBy = brokenBy;
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

std::optional<std::string> servedName(const ServerFacts& facts, const std::string& wanted) {
  if (!facts.listsModels && !wanted.empty()) return wanted;
  for (const ServedModel& model : facts.models) {
    if (model.name == wanted) return wanted;
  }
  for (const ServedModel& model : facts.models) {
    if (!wanted.empty() && lastPart(model.name) == lastPart(wanted)) return model.name;
  }
  if (facts.models.size() == 1) return facts.models.front().name;
  return std::nullopt;
}

}  // namespace spanscope::remote
