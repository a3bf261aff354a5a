// SPDX-License-Identifier: GPL-3.0-or-later
// What `spanq explain --predict --as SERVER` says: what that server's cache would find of the prompts of the
// queries if they are sent to it one after the other.
#pragma once

#include "app/cli/command.h"
#include "app/cli/predicted_reuse.h"
#include "engine/twin/servers.h"
#include "engine/workbench/servers/twin_forecast.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace spanscope::cli {

struct TwinOptions {
  std::string server;                 ///< empty: none
  std::optional<std::int32_t> slots;  ///< of llama-server
  std::optional<std::int32_t> chunk;  ///< its --cache-reuse
  std::string trace;                  ///< file in which what its cache does is told; empty: none
};

/// Adds --as, --slots and --cache-reuse. --as implies a prediction.
void addTwinOptions(CLI::App& command, TwinOptions& options);

/// A prompt of a plan, and what is found of it.
struct TwinStep {
  StepIndex step = 0;
  std::int64_t prompt = 0;  ///< tokens
  bool holdsReply = false;  ///< which is not known, and counts with the longest that it may be
  twin::Answer answer;
  workbench::FoundRange found;  ///< in all cases that were tried
  bool isExact() const { return found.isExact() && !holdsReply; }
};

class TwinForecast {
 public:
  /// Opens the twin with an empty cache. A block size that `options` was given is the server's; other
  /// settings of policy and pool mean nothing to it. Throws Failure.
  TwinForecast(const CLI::App& command, const PredictionOptions& options, const TwinOptions& twin);

  /// As ReusePrediction::use().
  void use(workbench::RunSettings settings);

  /// The steps in the order in which they are sent. `plan` is not distributed, as what is sent to servers is
  /// not: an inner prompt would be computed again in the outer one. Replies are not known beforehand: each is
  /// as many unknown tokens as one may expect. Nothing if this plan or one before cannot be run, or if it was
  /// stopped. `queryJson`: the query of the plan, for the trace.
  std::optional<std::vector<TwinStep>> forecast(const plan::Plan& plan, const std::string& queryJson,
                                                const std::stop_token& stop);
  /// What has been told so far, where a trace is wanted; each query is a run.
  std::vector<trace::Event> events() const { return m_story->events(); }

  /// "vLLM 0.33.0, starting empty, without a size limit; steps as remote run sends them"
  std::string setting() const;
  /// The steps with the server as JSON; its steps are null if there are none.
  nlohmann::ordered_json json(const plan::Plan& plan,
                              const std::optional<std::vector<TwinStep>>& steps) const;

 private:
  const twin::Server* m_server;
  ReusePrediction m_prompts;
  std::int32_t m_maxTokens;  ///< of replies without a limit of their own; 0: none
  std::unique_ptr<twin::Twin> m_twin;
  std::optional<workbench::TwinCases> m_cases;  ///< of m_twin
  std::size_t m_steps = 0;                      ///< that it has got
  std::optional<workbench::TwinStory> m_story;  ///< of m_twin; none: no trace is wanted
};

/// Lines of text, each ended by a newline.
std::string twinText(const plan::Plan& plan, const std::optional<std::vector<TwinStep>>& steps);

}  // namespace spanscope::cli
