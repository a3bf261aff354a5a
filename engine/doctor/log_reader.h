// SPDX-License-Identifier: GPL-3.0-or-later
// Reads logs of requests in pieces, so that memory does not grow with the size of a file. Open this file to
// read another kind of file, records/record_formats.h to read another form of record, and records/bodies.h to
// read another protocol.
#pragma once

#include "engine/doctor/logged_request.h"

#include <cstddef>
#include <functional>
#include <memory>
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
/// - one JSON document: a request, a list of records, a HAR file, or spans of OpenTelemetry (OTLP);
/// - transcripts of coding agents (engine/doctor/transcript.h);
/// - traces that the gateway recorded.
///
/// A record is a request, or an object with a request and its response, at any of the usual names. The known
/// protocols are:
/// - OpenAI: chat, responses, completions
/// - Anthropic: messages
/// - Ollama: chat, generate
/// - OpenTelemetry: the attributes gen_ai.*
class LogReader {
 public:
  explicit LogReader(std::vector<LogSource> sources);

  const std::vector<LogSource>& sources() const { return m_sources; }

  /// Reads the log once for the times of its requests. Then read() passes the requests of a file in the order
  /// of their starts. It also knows which requests ran at the same time. Logs without times are not read to
  /// their end. Throws like read().
  void learnTimes(const std::stop_token& stop = {}) const;

  /// Calls `take` for each request in order, and `problem` for each record that is no request. Throws Failure
  /// if a file cannot be read. Returns early after a stop request. A request that continues a response of the
  /// log gets the messages of this response.
  void read(const std::function<void(LoggedRequest&&)>& take,
            const std::function<void(const LogProblem&)>& problem, const std::stop_token& stop = {}) const;

  /// Reads one request again, after read() has passed it. Throws Failure if the file has changed.
  LoggedRequest again(const LogPlace& place) const;

 private:
  class Responses;
  struct Times;
  class Sorter;
  void readAsWritten(const std::function<void(LoggedRequest&&)>& take,
                     const std::function<void(const LogProblem&)>& problem,
                     const std::stop_token& stop) const;
  /// The request without the messages of the response that it continues.
  LoggedRequest asWritten(const LogPlace& place) const;
  void continueResponse(LoggedRequest& request) const;

  std::vector<LogSource> m_sources;
  std::shared_ptr<Responses> m_responses;  ///< never null; copies of a reader share it
  std::shared_ptr<Times> m_times;          ///< the same
};

/// Returns the first name of a model in the first requests of a log. Empty: there is none. Throws like
/// LogReader::read().
std::string modelNameOf(const LogReader& log, const std::stop_token& stop = {});

/// Returns the requests of a record (JSON or a curl command). Sets `problem` if there is none. The places
/// have only the numbers of the parts.
std::vector<LoggedRequest> requestsOf(std::string_view record, std::string& problem);

/// Returns the form of a tool definition that all protocols share.
std::string toolText(const std::string& name, std::string_view description, std::string_view parameters);

/// Returns the request as a line of JSON in the form of OpenAI's chat completions, without secrets.
std::string chatLineOf(const LoggedRequest& request);

}  // namespace spanscope::doctor
