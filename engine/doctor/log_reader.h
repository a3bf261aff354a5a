// SPDX-License-Identifier: GPL-3.0-or-later
// Reads logs of requests in pieces, so that memory does not grow with the size of a file. Open this file to
// read another kind of file; open request_reading.cpp to read another protocol.
#pragma once

#include "engine/doctor/logged_request.h"

#include <cstddef>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::doctor {

/// Max size of a record in bytes, max depth of its JSON, and max members of an object.
inline constexpr std::size_t kMaxRecordBytes = std::size_t{64} << 20U;
inline constexpr std::size_t kMaxRecordDepth = 128;
inline constexpr std::size_t kMaxMembers = 1024;

/// A file, or a text that is in memory (standard input).
struct LogSource {
  std::string name;  ///< for the user
  std::string path{};
  std::string text{};  ///< if there is no path
};

/// The forms of logs:
/// - JSON lines, one record per line, and commands of curl between them;
/// - one JSON document: a request, a list of records, a HAR file, or spans of OpenTelemetry (OTLP).
///
/// A record is a request, or an object with a request and its response, at any of the usual names. The known
/// protocols are:
/// - OpenAI: chat, responses, completions
/// - Anthropic: messages
/// - Ollama: chat, generate
/// - OpenTelemetry: the attributes gen_ai.*
class LogReader {
 public:
  explicit LogReader(std::vector<LogSource> sources) : m_sources(std::move(sources)) {}

  const std::vector<LogSource>& sources() const { return m_sources; }

  /// Calls `take` for each request in order, and `problem` for each record that is no request. Throws Failure
  /// if a file cannot be read. Returns early after a stop request.
  void read(const std::function<void(LoggedRequest&&)>& take,
            const std::function<void(const LogProblem&)>& problem, const std::stop_token& stop = {}) const;

  /// Reads one request again. Throws Failure if the file has changed.
  LoggedRequest again(const LogPlace& place) const;

 private:
  std::vector<LogSource> m_sources;
};

/// Returns the requests of a record (JSON or a curl command). Sets `problem` if there is none. The places
/// have only the numbers of the parts.
std::vector<LoggedRequest> requestsOf(std::string_view record, std::string& problem);

/// Returns the form of a tool definition that all protocols share.
std::string toolText(const std::string& name, std::string_view description, std::string_view parameters);

/// Returns the request as a line of JSON in the form of OpenAI's chat completions, without secrets.
std::string chatLineOf(const LoggedRequest& request);

}  // namespace spanscope::doctor
