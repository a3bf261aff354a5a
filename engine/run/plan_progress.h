// SPDX-License-Identifier: GPL-3.0-or-later
// How far a plan has come: which steps can start, and what they are given. A run and its prediction share it.
#pragma once

#include "engine/layout/layout.h"
#include "engine/model/config.h"
#include "engine/plan/plan.h"
#include "engine/run/scheduler.h"
#include "engine/run/session.h"
#include "engine/text/chat_template.h"
#include "engine/text/tokenizer.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace spanscope::run {

class PlanProgress {
 public:
  /// All references must outlive it.
  PlanProgress(RunId run, const plan::Plan& plan, const RunOptions& options, const model::ModelConfig& model,
               const text::Tokenizer& tokenizer, const text::ChatTemplate& chat);

  struct Ready {
    StepIndex step = 0;
    layout::SpanTable table;
    RequestOptions options;
  };
  /// Lays out the first step, in the order of the plan, that has not been given out and whose needs have
  /// ended; nothing if there is none. Throws Failure if it cannot be laid out or does not fit the model's
  /// context.
  std::optional<Ready> next();

  /// The step has ended with these tokens, the end token included if one was sampled.
  void end(StepIndex step, std::vector<TokenId> tokens);

  bool done() const { return m_ended == m_states.size(); }

 private:
  enum class State : std::uint8_t { Blocked, Given, Ended };

  RequestOptions optionsOf(const plan::Step& step, std::int64_t promptTokens) const;

  RunId m_run;
  const plan::Plan& m_plan;
  const RunOptions& m_options;
  const model::ModelConfig& m_model;
  const text::Tokenizer& m_tokenizer;
  const text::ChatTemplate& m_chat;
  std::vector<State> m_states;
  std::vector<layout::StepOutput> m_outputs;
  std::size_t m_ended = 0;
};

}  // namespace spanscope::run
