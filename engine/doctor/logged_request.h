// SPDX-License-Identifier: GPL-3.0-or-later
// A request of a log in one form for all protocols. Open this file to keep another fact of a request.
#pragma once

#include "engine/base/ids.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace spanscope::doctor {

/// A section of a message.
struct Part {
  enum class Kind : std::uint8_t { Text, Reasoning, ToolCall, ToolResult, Image };
  Kind kind = Kind::Text;
  std::string text;    ///< arguments of a tool call as JSON; the hash of an image
  std::string name{};  ///< the tool of a call
  bool operator==(const Part&) const = default;
};

struct Message {
  std::string role;  ///< "system", "user", "assistant", "tool"; kRawRole for a prompt without a template
  std::vector<Part> parts{};
  std::string sentRole{};  ///< the role in the log, if `role` has another name for it; else empty
  bool operator==(const Message&) const = default;

  const std::string& writtenRole() const { return sentRole.empty() ? role : sentRole; }
};

/// The role of a text that a server completes without a chat template.
inline constexpr const char* kRawRole = "prompt";

struct Tool {
  std::string name;
  std::string text;  ///< the whole definition as compact JSON, with its keys in the order of the log
  bool operator==(const Tool&) const = default;
};

/// The token counts that the server reported. Nothing: not reported, which is not zero.
struct Usage {
  std::optional<std::int64_t> prompt{};
  std::optional<std::int64_t> cached{};
  std::optional<std::int64_t> answer{};
  bool operator==(const Usage&) const = default;
};

/// The server of a request, as far as the log names it.
struct LoggedServer {
  std::string kind{};  ///< "llama.cpp", a name of simulator::servers() or another name; empty: unknown
  std::int32_t blockSize = 0;    ///< 0: unknown
  std::int32_t slots = 0;        ///< 0: unknown
  std::int64_t cacheTokens = 0;  ///< size of the pool; 0: unknown
  bool operator==(const LoggedServer&) const = default;
};

/// When a server worked on a request, in milliseconds of any clock that all requests of a file share.
struct RunningTime {
  std::int64_t begin = 0;
  std::int64_t end = 0;  ///< of the answer
  bool isExact = true;   ///< false: the request ran within these times, but not all of the time
  bool operator==(const RunningTime&) const = default;

  /// Programs note the end a little late, after they have passed the answer on.
  std::int64_t surelyUntil() const {
    constexpr std::int64_t kLate = 10;
    return std::max(begin, end - kLate);
  }
};

/// The place of a request in the files of a log.
struct LogPlace {
  std::size_t file = 0;     ///< index in the list of files
  std::uint64_t line = 0;   ///< from 1
  std::uint64_t begin = 0;  ///< byte offset of the record
  std::uint64_t bytes = 0;  ///< length of the record
  std::uint32_t part = 0;   ///< number of the request in the record, from 0
  /// The record is a line of a transcript. The request then is in all lines up to this one, and `begin` is 0.
  bool isTranscript = false;
};

struct LoggedRequest {
  LogPlace place{};
  std::optional<std::int64_t> time{};    ///< milliseconds since 1970
  std::optional<RunningTime> running{};  ///< nothing: unknown
  /// Whether another request of the log ran on the same server at the same time. LogReader::read() sets this
  /// after LogReader::learnTimes().
  bool isConcurrent = false;
  std::string conversation{};   ///< the id in the log; empty: none
  std::string model{};          ///< the model in the request
  std::string answeredModel{};  ///< the model in the response; empty: unknown
  std::string salt{};
  std::string adapter{};
  std::string upstream{};  ///< the server that served the request, if the log names it; empty: unknown
  std::string replica{};  ///< the server and the slot that the request asks for, for the user; empty: unknown
  std::vector<Tool> tools{};
  std::vector<Message> messages{};  ///< with the system message, if any
  std::vector<TokenId> ids{};       ///< a prompt that was sent as ids; then there are no messages
  std::optional<Message> answer{};
  Usage usage{};
  LoggedServer server{};
  /// How long the request asks the cache to keep its tokens, in milliseconds after their last use
  /// (Anthropic's cache_control). Nothing: not stated.
  std::optional<std::int64_t> timeToLive{};
  /// Why the server computed no token of the prompt: "status 400: The model is unknown". Empty: no failure.
  std::string failure{};
  std::string response{};  ///< id of the response, for later requests that continue the response.
  /// The response or conversation of the server that this request continues. The log reader adds the
  /// messages of this response or conversation. Empty: none.
  std::string previous{};
  bool hasInstructions = false;  ///< the first message is no part of the history that the server keeps
  bool isIncomplete = false;     ///< the log states that it lacks sections of the prompt

  /// The model that computed the prompt.
  const std::string& servedModel() const { return answeredModel.empty() ? model : answeredModel; }
};

/// A record that is not a readable request, or whose prompt is incomplete.
struct LogProblem {
  std::size_t file = 0;
  std::uint64_t line = 0;
  std::string found;  ///< never contains text of the log
};

}  // namespace spanscope::doctor
