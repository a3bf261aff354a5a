// SPDX-License-Identifier: GPL-3.0-or-later
// Defines the options of one request to the scheduler, and the interface for reports about requests. Open
// this file to add an option of a request.
#pragma once

#include "engine/base/error.h"
#include "engine/base/ids.h"
#include "engine/compute/sampling.h"
#include "engine/policy/compute_plan.h"
#include "engine/run/observation.h"
#include "engine/trace/event.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace spanscope::cache {
struct Admission;
}

namespace spanscope::run {

/// Rows of the last segment, from `firstRow` to its end. The rows are computed even if their keys and values
/// are stored. RequestListener::onReplayed receives the rows one by one. The results of the rows are not
/// stored.
struct ReplayedRows {
  std::int32_t firstRow = 0;  ///< position in the last segment
  bool singleKeys = false;    ///< true: attention by key token; false: by key block
  /// The number of first rows that are reported with their attention. The other rows are only computed.
  std::int32_t observedRows = std::numeric_limits<std::int32_t>::max();
};

/// A place in a team. A team is a group of requests of one run that generate together. After all prompts are
/// computed, each forward pass computes one generated token of some members. The function
/// policy::AnswerRows::next() chooses these members. If one member is preempted, the others wait for it. All
/// members release their blocks together, when the last answer has ended.
struct TeamPlace {
  std::uint32_t team = 0;     ///< number of the team in the run
  std::uint32_t place = 0;    ///< place of this request in the team, 0 … members − 1
  std::uint32_t members = 2;  ///< at least 2
  std::int64_t positions =
      0;  ///< max positions of the model: an answer ends when the view of the answer has no position left
};

/// The logits of the prompt that RequestListener::onLogits receives.
enum class LogitReport : std::uint8_t {
  None,
  Last,      ///< of the prompt's last token
  Replayed,  ///< of the rows of RequestOptions::replay
  Every      ///< of every token that is computed
};

struct RequestOptions {
  RunId run = 0;
  NodePath node;
  std::optional<std::string> salt;  ///< tenant; nothing: the salt of the scheduler
  std::int32_t priority = 0;        ///< requests with a larger priority are served first
  compute::SamplingSettings sampling;
  std::int32_t maxNewTokens = 0;  ///< 0: only the prompt is computed
  /// The outcome of an answer with `maxNewTokens` tokens: TokenLimit, or ContextLimit if the model's context
  /// allows no more tokens.
  trace::StepOutcome limitOutcome = trace::StepOutcome::TokenLimit;
  std::int32_t alternatives = 0;   ///< number of most likely tokens that RequestListener::onAlternatives
                                   ///< receives
  std::vector<TokenId> endTokens;  ///< in any order; each of these tokens ends the answer.
  /// No end token is sampled before the answer has this length. Until then, the logit of each end token
  /// counts as −∞.
  std::int32_t minNewTokens = 0;
  std::vector<std::int32_t> observedLayers;
  AttentionDetail attentionDetail = AttentionDetail::Answer;
  /// Observe every single row of the prompt and not every query block. In a prompt of at most
  /// kMostTokensForSingleKeys tokens, also observe every single key and not every key block.
  bool observeRows = false;
  LogitReport logits = LogitReport::None;
  /// If set, only these rows are observed.
  std::optional<ReplayedRows> replay;
  policy::ComputePlan rows;       ///< compute plan of the request's table
  std::optional<TeamPlace> team;  ///< if set, `rows` has a plan for answers.
  /// For a member of a team whose answer is already known: the whole answer. The answer is computed, but no
  /// token is sampled.
  std::vector<TokenId> given;
};

// The scheduler's reports about a request.

/// Receives the scheduler's reports about requests, on the thread that calls Scheduler::pass().
class RequestListener {
 public:
  virtual ~RequestListener() = default;
  /// The request was admitted. Called again after every preemption, when the request is resumed.
  virtual void onAdmitted(RequestId request, const cache::Admission& admission) = 0;
  virtual void onPreempted(RequestId request) = 0;
  /// Gets the logits of one token of the prompt. Tokens come in the order of computation. Without joint
  /// segments this is prompt order. The last call is for the last token of the prompt.
  virtual void onLogits(RequestId request, std::span<const float> logits) = 0;
  /// Gets the most likely tokens for place `index` of an answer. The call comes before the call for the token
  /// itself; see RequestOptions::alternatives.
  virtual void onAlternatives(RequestId request, std::int32_t index,
                              const std::vector<compute::LikelyToken>& tokens);
  /// `segmentMass`: see trace::TokenGenerated.
  virtual void onToken(RequestId request, std::int32_t index, const compute::SampledToken& token,
                       std::vector<float> segmentMass) = 0;
  /// Gets the attention of one row of RequestOptions::replay in one layer. In each layer, the rows come in
  /// order.
  virtual void onReplayed(RequestId request, trace::AttentionMass mass);
  virtual void onFinished(RequestId request, trace::StepOutcome outcome) = 0;
  virtual void onFailed(RequestId request, const Error& error) = 0;
};

}  // namespace spanscope::run
