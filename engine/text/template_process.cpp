// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/template_process.h"

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <system_error>
#include <utility>

namespace spanscope::text {
namespace {

/// Max delay of a stop.
constexpr int kStopMilliseconds = 50;
/// Max time until the process can take a request. Reading Python's modules can take long on a busy machine.
constexpr std::chrono::seconds kStartTime{30};
/// Time until a missing Python is searched again.
constexpr std::chrono::seconds kSearchPause{5};

/// Long conversations take longer, and short ones do not.
std::chrono::milliseconds timeFor(std::size_t bytes) {
  constexpr std::size_t kBytesPerSecond = std::size_t{2} << 20U;
  return std::chrono::milliseconds(1000 * (bytes / kBytesPerSecond));
}

Error templateError(std::string found, std::string expected) {
  return errorAt("chat template", std::move(found), std::move(expected));
}

std::vector<std::string> interpreters() {
  if (const char* chosen = std::getenv(kPythonVariable); chosen != nullptr && *chosen != '\0')
    return {chosen};
  std::vector<std::string> paths = {"/usr/bin/python3"};
  const char* folders = std::getenv("PATH");
  std::istringstream list(folders == nullptr ? "" : folders);
  std::error_code error;
  for (std::string folder; std::getline(list, folder, ':');) {
    std::string path = (std::filesystem::path(folder) / "python3").string();
    if (path.front() == '/' && std::filesystem::exists(path, error) &&
        std::find(paths.begin(), paths.end(), path) == paths.end())
      paths.push_back(std::move(path));
  }
  return paths;
}

/// Python gets nothing of this program's environment, which can contain keys of servers.
std::vector<std::string> environmentOfPython() {
  const char* folders = std::getenv("PATH");
  return {"LC_ALL=C.UTF-8", std::string("PATH=") + (folders == nullptr ? "/usr/bin:/bin" : folders)};
}

/// JSON that keeps the order of fields: templates write tools in this order.
using Json = nlohmann::ordered_json;

Json messageJson(const TemplateMessage& message) {
  Json json = {{"role", message.role}, {"content", message.content}};
  if (!message.fields.empty()) json.update(Json::parse(message.fields));
  return json;
}

std::string requestOf(std::string_view source, const Json& variables,
                      std::span<const TemplateConversation> conversations, std::size_t mostBytes) {
  Json renders = Json::array();
  for (const TemplateConversation& conversation : conversations) {
    Json messages = Json::array();
    for (const TemplateMessage& message : conversation.messages) messages.push_back(messageJson(message));
    Json own = variables;
    own["add_generation_prompt"] = conversation.generationPrompt;
    renders.push_back({{"messages", std::move(messages)}, {"variables", std::move(own)}});
  }
  const Json request = {{"template", source},
                        {"now", kTemplateDate},
                        {"mostBytes", mostBytes},
                        {"renders", std::move(renders)}};
  return request.dump(-1, ' ', true, Json::error_handler_t::replace) + "\n";
}

Rendering renderingOf(const Json& json) {
  using Outcome = Rendering::Outcome;
  for (const auto& [key, outcome] :
       {std::pair{"text", Outcome::Text}, {"raised", Outcome::Raised}, {"failed", Outcome::Failed}}) {
    if (json.contains(key) && json[key].is_string()) return {outcome, json[key].get<std::string>()};
  }
  return {Outcome::Failed, "an answer without a text"};
}

}  // namespace

TemplateProcess& sharedTemplateProcess() {
  static TemplateProcess process;
  return process;
}

bool TemplateProcess::isMissing() const {
  const std::scoped_lock lock(m_mutex);
  return m_missing.has_value();
}

int TemplateProcess::processNumber() const {
  const std::scoped_lock lock(m_mutex);
  return m_process.number();
}

void TemplateProcess::end() {
  m_process.end();
  m_connection = Descriptor(-1);
  m_received.clear();
}

Error TemplateProcess::tooSlow() {
  end();
  return templateError("a template that runs longer than " + std::to_string(m_limits.time.count()) + " ms",
                       "a template that ends (some templates loop without end)");
}

std::optional<Error> TemplateProcess::startWith(const std::string& python) {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return templateError("no connection (" + std::generic_category().message(errno) + ")",
                         "a free descriptor");
  m_connection = Descriptor(ends[0]);
  const Descriptor other(ends[1]);
  fcntl(m_connection.number(), F_SETFL, O_NONBLOCK);
  const std::string seconds = std::to_string(m_limits.time.count() / 1000 + 2);
  const int failed = m_process.start({python, "-I", helperProgram(SPANSCOPE_TEMPLATE_PROGRAM).string(),
                                      std::to_string(m_limits.memory), seconds},
                                     other.number(), other.number(), environmentOfPython());
  if (failed != 0) return templateError(python + ": " + std::generic_category().message(failed), "Python 3");
  return std::nullopt;
}

std::optional<Error> TemplateProcess::start() {
  if (m_process.isRunning()) return std::nullopt;
  if (m_missing && Clock::now() < m_missingSince + kSearchPause) return m_missing;
  m_missing.reset();
  std::string reasons;
  for (const std::string& python : interpreters()) {
    end();
    std::string reason;
    if (auto error = startWith(python)) {
      reason = error->found;
    } else {
      const auto hello = receive(Clock::now() + kStartTime, {});
      const std::string* line = std::get_if<std::string>(&hello);
      const Json json = line == nullptr ? Json() : Json::parse(*line, nullptr, false);
      if (json.is_object() && json.contains("ready")) return std::nullopt;
      reason = python + ": ";
      if (json.is_object() && json.contains("missing") && json["missing"].is_string())
        reason += json["missing"].get<std::string>();
      else
        reason += "the program ended";
    }
    end();
    reasons += (reasons.empty() ? "" : "; ") + reason;
  }
  m_missing = templateError("no Python with Jinja (" + reasons + ")",
                            /*id:install-jinja*/
                            "the Debian package python3-jinja2, or a chat template "
                            "that you choose by name");
  m_missingSince = Clock::now();
  return m_missing;
}

std::optional<Error> TemplateProcess::send(std::string_view request, Clock::time_point last,
                                           const std::stop_token& stop) {
  while (!request.empty()) {
    pollfd waiting{.fd = m_connection.number(), .events = POLLOUT, .revents = 0};
    poll(&waiting, 1, kStopMilliseconds);
    if (stop.stop_requested()) {
      end();
      return templateError("The rendering was stopped.", {});
    }
    if (Clock::now() > last) return tooSlow();
    const ssize_t count = ::send(m_connection.number(), request.data(), request.size(), MSG_NOSIGNAL);
    if (count > 0) request.remove_prefix(static_cast<std::size_t>(count));
    if (count < 0 && errno != EINTR && errno != EAGAIN) break;  // receive() notices the end of the process
  }
  return std::nullopt;
}

std::variant<std::string, Error> TemplateProcess::receive(Clock::time_point last,
                                                          const std::stop_token& stop) {
  std::vector<char> buffer(std::size_t{1} << 16U);
  std::size_t searched = 0;
  for (;;) {
    const std::size_t lineEnd = m_received.find('\n', searched);
    if (lineEnd != std::string::npos) {
      std::string line = m_received.substr(0, lineEnd);
      m_received.erase(0, lineEnd + 1);
      return line;
    }
    searched = m_received.size();
    pollfd waiting{.fd = m_connection.number(), .events = POLLIN, .revents = 0};
    poll(&waiting, 1, kStopMilliseconds);
    if (stop.stop_requested()) {
      end();
      return templateError("The rendering was stopped.", {});
    }
    if (Clock::now() > last) return tooSlow();
    const ssize_t count = recv(m_connection.number(), buffer.data(), buffer.size(), 0);
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count <= 0) return std::string();
    m_received.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

std::variant<std::vector<Rendering>, Error> TemplateProcess::render(
    std::string_view source, std::string_view variables, std::span<const TemplateConversation> conversations,
    const std::stop_token& stop) {
  std::string request;
  try {
    const Json values = variables.empty() ? Json::object() : Json::parse(variables);
    if (!values.is_object())
      return templateError("template variables that are not a JSON object", "a JSON object");
    request = requestOf(source, values, conversations, m_limits.output);
  } catch (const Json::exception& error) {
    return templateError(std::string("template variables that are not JSON: ") + error.what(),
                         "a JSON object");
  }
  const std::scoped_lock lock(m_mutex);
  for (const bool isFirst : {true, false}) {
    const bool wasRunning = m_process.isRunning();
    if (auto error = start()) return std::move(*error);
    const Clock::time_point last = Clock::now() + m_limits.time + timeFor(request.size());
    if (auto error = send(request, last, stop)) return std::move(*error);
    auto received = receive(last, stop);
    if (auto* error = std::get_if<Error>(&received)) return std::move(*error);
    const std::string& line = std::get<std::string>(received);
    if (line.empty()) {
      const std::optional<int> status = m_process.wait();
      end();
      // A process that ended between two calls says nothing about this template.
      if (isFirst && wasRunning) continue;
      std::string found = "a template that ended its renderer";
      if (status && WIFSIGNALED(*status)) found += " by signal " + std::to_string(WTERMSIG(*status));
      return templateError(std::move(found), "a template that needs less memory and time");
    }
    const Json json = Json::parse(line, nullptr, false);
    if (json.is_object() && json.contains("failed") && json["failed"].is_string())
      return templateError(json["failed"].get<std::string>(), "a template that Jinja can render");
    if (!json.is_object() || !json.contains("renders") || !json["renders"].is_array() ||
        json["renders"].size() != conversations.size()) {
      end();
      return templateError("an answer that is not from the renderer of templates", "a complete installation");
    }
    std::vector<Rendering> renderings;
    for (const Json& each : json["renders"]) renderings.push_back(renderingOf(each));
    return renderings;
  }
  return templateError("The program that renders chat templates ended.", "Install Spanscope again.");
}

}  // namespace spanscope::text
