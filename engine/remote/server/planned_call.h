// SPDX-License-Identifier: GPL-3.0-or-later
// A client's request as a query with its plan. Open this file to change how requests become queries.
#pragma once

#include "engine/plan/plan.h"
#include "engine/plan/planner.h"
#include "engine/query/query.h"
#include "engine/remote/server/call_bodies.h"
#include "engine/remote/server/engine.h"
#include "engine/run/run_options.h"
#include "engine/text/chat_template.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::server {

/// How the answer to a call is written.
enum class AnswerForm : std::uint8_t { Chat, Completion };

struct PlannedCall {
  std::string model;  ///< the client's name for the model
  query::Node query;
  std::shared_ptr<const plan::Plan> plan;
  run::RunOptions options;
  std::size_t choicesPerPrompt = 1;
  std::vector<std::string> stops;
  std::int32_t minTokens = 0;          ///< a stop text does not end a shorter answer
  AnswerForm form = AnswerForm::Chat;  ///< of an answer in one piece
  bool logprobs = false;
  bool stream = false;
  bool includesUsage = false;
};

/// The rules for planning calls.
struct CallRules {
  run::RunOptions options{};  ///< of every run
  plan::PlanOptions plan{};
  std::int32_t mostTokens = 0;   ///< of one answer; 0: the model's limit
  std::int32_t usualTokens = 0;  ///< of one answer without a limit in `options` and in the request
};

/// Each function throws ApiFailure. `randomSeed` is for calls without a seed of their own.
PlannedCall planChat(const ChatCall& call, const CallRules& rules, std::uint64_t randomSeed);
PlannedCall planCompletion(const CompletionCall& call, const CallRules& rules, const ServedModel& model,
                           std::uint64_t randomSeed);
/// Plans the body of SPNL's endpoint. It is JSON of a repeat or map (or generate) whose prompt has messages
/// and joins. Errors name the place in the body.
PlannedCall planQuery(std::string_view body, const CallRules& rules, std::uint64_t randomSeed);

/// Returns a template that writes a text unchanged, after the beginning of every prompt of the model. It has
/// the lifetime of the program.
const text::ChatTemplate& rawTemplate(const text::ChatTemplate& ofModel);

/// Returns a conversation as a query.
query::Node chatQuery(const std::vector<query::Message>& messages, const query::GenerateSettings& settings);

}  // namespace spanscope::server
