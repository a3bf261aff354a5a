// SPDX-License-Identifier: GPL-3.0-or-later
// A job of `spanq remote run`: one query for each line of a file of inputs, several at the same time, with a
// journal. A killed job continues after its last finished line.
#pragma once

#include "app/cli/command.h"
#include "engine/remote/http/http_client.h"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <functional>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

namespace spanscope::cli {

/// The result of a line.
struct LineResult {
  nlohmann::ordered_json json{};  ///< an object, without the number of the line
  std::string problem{};          ///< why the line has no answer; empty: no problem
  bool isStopped = false;         ///< a stop ended the line, so that it has no result
};

/// Sends the requests of a line. Called on any thread.
using LineTask = std::function<LineResult(remote::HttpClient& client, const std::stop_token& stop)>;

struct InputsJob {
  std::string inputs;   ///< file of JSON lines, each an object of parameter values
  std::string results;  ///< file for the results; the journal is beside it
  std::size_t atOnce = 1;
  std::string identity;  ///< different for another server, query or setting
  /// Prepares a line with its parameter values. Never called by two threads at the same time. Throws Failure.
  std::function<LineTask(const std::map<std::string, std::string>& values)> prepare;
  /// Returns the sending order of the lines that prepare() has prepared since the last call, as indices.
  /// Empty: in the order of the lines. Null: each line is prepared when it is sent.
  std::function<std::vector<std::size_t>()> schedule{};
};

/// Max number of lines that are scheduled together.
inline constexpr std::size_t kMostScheduled = 1000;

/// Does all lines without a result, and writes the results in the order of the lines.
ExitCode runInputs(const Context& context, const InputsJob& job);

}  // namespace spanscope::cli
