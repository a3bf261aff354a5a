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

/// A request with the replies that its prompt needs, as this kind of server is asked to stream it.
std::string bodyFor(const exports::ChatRequest& request, const std::vector<std::string>& replies,
                    const std::string& model, const ServerKindInfo& kind) {
  exports::ChatRequest filled = request;
  filled.model = model;
  for (exports::ChatMessage& message : filled.messages) {
    if (message.replyOf) message.content = replies.at(*message.replyOf);
  }
  nlohmann::ordered_json body = nlohmann::ordered_json::parse(exports::chatBody(filled));
  body["stream"] = true;
  body["stream_options"] = {{"include_usage", true}};
  if (kind.sendsProgress) body["return_progress"] = true;
  return body.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

class RemoteRunner {
 public:
  RemoteRunner(HttpClient& client, const RemoteServer& server, const ServerFacts& facts,
               RemoteWatcher& watcher, const std::stop_token& stop)
      : m_client(client), m_server(server), m_facts(facts), m_watcher(watcher), m_stop(stop) {}

  RemoteResult run(const std::vector<exports::ChatRequest>& requests) {
    RemoteResult result;
    std::vector<std::string> replies(requests.size());
    for (std::size_t i = 0; i < requests.size(); ++i) {
      if (m_stop.stop_requested()) {
        result.isStopped = true;
        break;
      }
      const std::string wanted = m_server.model.empty() ? requests[i].model : m_server.model;
      const std::optional<std::string> model = servedName(m_facts, wanted);
      if (!model) {
        result.error = Error{url(), requests[i].node, "the model \"" + wanted + "\"", names()};
        break;
      }
      const RemoteStep& step = result.steps.emplace_back(
          ask(i, bodyFor(requests[i], replies, *model, infoOf(m_facts.kind)), result.error));
      replies[i] = step.answer.text;
      m_watcher.stepEnds(step);
      if (m_stop.stop_requested()) result.isStopped = true;
      if (result.error && result.error->place.empty()) result.error->place = requests[i].node;
      if (!step.brokenBy.empty()) break;
    }
    return result;
  }

 private:
  std::string url() const { return rootOf(m_server.url) + "/v1/chat/completions"; }

  std::string names() const {
    std::string list;
    for (const ServedModel& model : m_facts.models) list += (list.empty() ? "" : ", ") + model.name;
    return list.empty() ? "a model that the server has" : "one of the server's: " + list;
  }

  RemoteStep ask(std::size_t index, std::string body, std::optional<Error>& error) {
    RemoteStep step;
    step.request = index;
    m_watcher.stepBegins(index);
    const Clock::time_point begin = Clock::now();
    EventStream stream([&](std::string_view data) {
      const std::optional<PromptProgress> before = step.answer.progress;
      const std::string piece = step.answer.add(data);
      if (step.answer.progress != before) m_watcher.promptProgress(index, *step.answer.progress);
      if (piece.empty()) return;
      if (!step.timeToFirstToken) step.timeToFirstToken = since(begin);
      m_watcher.text(index, piece);
    });
    try {
      const HttpReply reply = m_client.send({.url = url(), .body = std::move(body)}, m_server.access, m_stop,
                                            [&](std::string_view piece) { stream.add(piece); });
      if (reply.isStopped) {
        step.brokenBy = "a request to stop";
      } else if (reply.status != 200) {
        const std::string said = errorMessage(reply.body);
        throw Failure({url(),
                       {},
                       "status " + std::to_string(reply.status) + (said.empty() ? "" : ": " + said),
                       "status 200"});
      } else if (!reply.brokenBy.empty()) {
        step.brokenBy = reply.brokenBy;
        error = Error{url(), {}, "an answer that breaks off: " + reply.brokenBy, "its end"};
      } else {
        stream.end();
        if (!step.answer.isDone && step.answer.finish.empty()) {
          step.brokenBy = "the stream ended before the answer did";
          error = Error{url(), {}, step.brokenBy, "its end"};
        }
      }
    } catch (const Failure& failure) {
      error = failure.error();
      if (error->file.empty()) error->file = url();
      step.brokenBy = error->message();
    }
    step.seconds = since(begin);
    step.cached = cachedOf(step.answer, infoOf(m_facts.kind));
    return step;
  }

  HttpClient& m_client;
  const RemoteServer& m_server;
  const ServerFacts& m_facts;
  RemoteWatcher& m_watcher;
  const std::stop_token& m_stop;
};

}  // namespace

RemoteResult runRemotely(HttpClient& client, const RemoteServer& server, const ServerFacts& facts,
                         const std::vector<exports::ChatRequest>& requests, RemoteWatcher& watcher,
                         const std::stop_token& stop) {
  return RemoteRunner(client, server, facts, watcher, stop).run(requests);
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
