// SPDX-License-Identifier: GPL-3.0-or-later
// Reads transcripts of coding agents, which have messages and no requests. Open this file to read the
// transcripts of another agent.
#pragma once

#include "engine/doctor/logged_request.h"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace spanscope::doctor {

/// Converts the lines of a file to requests. Each answer of the model is a request, whose prompt has all
/// earlier messages. The transcripts do not contain the system message of Claude Code, or the tools.
/// - Claude Code: ~/.claude/projects/*/*.jsonl
/// - Codex: ~/.codex/sessions/*/*/*/rollout-*.jsonl
class Transcript {
 public:
  using Take = std::function<void(LoggedRequest&&)>;

  /// `only`: passes only the request that begins in this line.
  explicit Transcript(Take take, std::optional<std::uint64_t> only = {})
      : m_take(std::move(take)), m_only(only) {}

  /// Whether a line could belong to a transcript. Fast.
  bool couldBe(std::string_view line) const;
  /// Takes a line, from the byte 0 of its file to `place.begin + place.bytes`. Returns false if this is no
  /// line of a transcript. Throws Failure if the messages are too large.
  bool add(const nlohmann::ordered_json& line, const LogPlace& place);
  /// Passes the last requests.
  void finish();

 private:
  using Json = nlohmann::ordered_json;

  /// The request that is being answered. Its prompt has the first `prompt` messages of the history, and its
  /// answer is the next message.
  struct Open {
    std::string id;
    std::size_t prompt = 0;
    LoggedRequest request;
  };
  struct Session {
    std::string id;
    std::string model;
    std::string instructions;
    std::vector<Message> history;
    std::size_t bytes = 0;                                ///< of the history
    std::unordered_map<std::string, std::size_t> places;  ///< messages of the history up to a line, by its id
    std::optional<Open> open;
    bool hasInput = false;  ///< Codex: an input came after the last item of the model
  };

  bool addClaude(const Json& line, const LogPlace& place);
  bool addCodex(const Json& line, const LogPlace& place);
  void addItem(Session& session, const Json& item, const Json& line, const LogPlace& place);
  void begin(Session& session, std::string id, const Json& line, const LogPlace& place);
  void end(Session& session);
  void cut(Session& session, std::size_t messages);
  void count(Session& session, const Message& message);

  Take m_take;
  std::optional<std::uint64_t> m_only;
  bool m_isActive = false;
  std::map<std::string, Session> m_sessions;
  std::unordered_map<std::string, std::string> m_sidechains;  ///< the session of a line, by the line's id
};

}  // namespace spanscope::doctor
