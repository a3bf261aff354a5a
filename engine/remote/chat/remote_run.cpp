// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/remote/chat/remote_run.h"

#include "engine/remote/http/event_stream.h"

#include <nlohmann/json.hpp>

#include <chrono>
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

/// As this kind of server is asked to stream it.
std::string bodyFor(exports::ChatRequest filled, const std::string& model, const ServerKindInfo& kind) {
  filled.model = model;
  nlohmann::ordered_json body = nlohmann::ordered_json::parse(exports::chatBody(filled));
  body["stream"] = true;
  body["stream_options"] = {{"include_usage", true}};
  if (kind.sendsProgress) body["return_progress"] = true;
  return body.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

class RemoteRunner {
 public:
  RemoteRunner(HttpClient& client, const std::vector<RemoteTarget>& targets, RemoteWatcher& watcher,
               const std::stop_token& stop)
      : m_client(client), m_targets(targets), m_watcher(watcher), m_stop(stop) {}

  RemoteResult run(const std::vector<exports::ChatRequest>& requests,
                   const std::vector<std::size_t>& targetOf) {
    RemoteResult result;
    std::vector<std::string> replies(requests.size());
    for (std::size_t i = 0; i < requests.size(); ++i) {
      if (m_stop.stop_requested()) {
        result.isStopped = true;
        break;
      }
      const std::size_t target = targetOf.empty() ? 0 : targetOf[i];
      const RemoteTarget& asked = m_targets.at(target);
      exports::ChatRequest filled = filledIn(requests[i], replies);
      if (asked.local) {
        result.steps.push_back(answerHere(i, target, filled, result.error));
      } else {
        const std::string wanted = asked.server.model.empty() ? filled.model : asked.server.model;
        const std::optional<std::string> model = servedName(asked.facts, wanted);
        if (!model) {
          result.error = Error{url(asked), filled.node, "the model \"" + wanted + "\"", names(asked)};
          break;
        }
        result.steps.push_back(ask(
            i, target, *model, bodyFor(std::move(filled), *model, infoOf(asked.facts.kind)), result.error));
      }
      const RemoteStep& step = result.steps.back();
      replies[i] = step.answer.text;
      m_watcher.stepEnds(step);
      if (m_stop.stop_requested()) result.isStopped = true;
      if (result.error && result.error->place.empty()) result.error->place = requests[i].node;
      if (!step.brokenBy.empty()) break;
    }
    return result;
  }

 private:
  static std::string url(const RemoteTarget& target) {
    return rootOf(target.server.url) + "/v1/chat/completions";
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
    try {
      step = m_targets[target].local(request, m_stop);
      if (!step.answer.text.empty()) m_watcher.text(index, step.answer.text);
    } catch (const Failure& failure) {
      error = failure.error();
      step.brokenBy = error->message();
    }
    step.request = index;
    step.target = target;
    step.seconds = since(begin);
    return step;
  }

  RemoteStep ask(std::size_t index, std::size_t target, const std::string& model, std::string body,
                 std::optional<Error>& error) {
    const RemoteTarget& asked = m_targets[target];
    const std::string address = url(asked);
    RemoteStep step;
    step.request = index;
    step.target = target;
    m_watcher.stepBegins(index);
    m_watcher.sends(index, target, model, body.size());
    const Clock::time_point begin = Clock::now();
    EventStream stream([&](std::string_view data) {
      const std::optional<PromptProgress> before = step.answer.progress;
      const std::string piece = step.answer.add(data);
      if (step.answer.progress != before) m_watcher.promptProgress(index, *step.answer.progress);
      if (piece.empty()) return;
      step.timeToLastText = since(begin);
      if (!step.timeToFirstToken) step.timeToFirstToken = step.timeToLastText;
      m_watcher.text(index, piece);
    });
    try {
      const HttpReply reply = m_client.send({.url = address, .body = std::move(body)}, asked.server.access,
                                            m_stop, [&](std::string_view piece) { stream.add(piece); });
      if (reply.isStopped) {
        step.brokenBy = "a request to stop";
      } else if (reply.status != 200) {
        const std::string said = errorMessage(reply.body);
        throw Failure({address,
                       {},
                       "status " + std::to_string(reply.status) + (said.empty() ? "" : ": " + said),
                       "status 200"});
      } else if (!reply.brokenBy.empty()) {
        step.brokenBy = reply.brokenBy;
        error = Error{address, {}, "an answer that breaks off: " + reply.brokenBy, "its end"};
      } else {
        stream.end();
        if (!step.answer.isDone && step.answer.finish.empty()) {
          step.brokenBy = "the stream ended before the answer did";
          error = Error{address, {}, step.brokenBy, "its end"};
        }
      }
    } catch (const Failure& failure) {
      error = failure.error();
      if (error->file.empty()) error->file = address;
      step.brokenBy = error->message();
    }
    step.seconds = since(begin);
    step.cached = cachedOf(step.answer, infoOf(asked.facts.kind));
    if (step.answer.model.empty()) step.answer.model = model;
    return step;
  }

  HttpClient& m_client;
  const std::vector<RemoteTarget>& m_targets;
  RemoteWatcher& m_watcher;
  const std::stop_token& m_stop;
};

}  // namespace

std::string titleOf(const RemoteTarget& target) {
  if (target.local) return target.name;
  return std::string(infoOf(target.facts.kind).title) + " on " + target.name;
}

RemoteResult runRemotely(HttpClient& client, const std::vector<RemoteTarget>& targets,
                         const std::vector<std::size_t>& targetOf,
                         const std::vector<exports::ChatRequest>& requests, RemoteWatcher& watcher,
                         const std::stop_token& stop) {
  return RemoteRunner(client, targets, watcher, stop).run(requests, targetOf);
}

std::optional<std::string> servedName(const ServerFacts& facts, const std::string& wanted) {
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
