// SPDX-License-Identifier: GPL-3.0-or-later
// How the scheduler is to compute a request, and how the request ranks among others.
#pragma once

#include "engine/base/error.h"
#include "engine/base/ids.h"
#include "engine/compute/sampling.h"
#include "engine/policy/row_plan.h"
#include "engine/run/attention_limit.h"
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

/// Rows of the last segment, from `firstRow` to its end. They are computed even if they are stored, and
/// RequestListener::onReplayed is told of them one by one. What is computed of them is not stored.
struct ReplayedRows {
  std::int32_t firstRow = 0;  ///< local token of the last segment
  bool singleKeys = false;    ///< true: attention by key token; false: by key block
  /// How many of the rows, counted from the first, are told with their attention. The others are only
  /// computed.
  std::int32_t observedRows = std::numeric_limits<std::int32_t>::max();
};

/// A place in a team. A team is a group of requests of one run that generate in step: once all members have
/// computed their prompts, each pass computes one generated token of each member that
/// policy::ReplyRows::next() names. If one member has to give way, the others wait for it. All members
/// release their blocks together, when the last reply has ended.
struct TeamPlace {
  std::uint32_t team = 0;      ///< number of the team within the run
  std::uint32_t place = 0;     ///< place of this request in the team, 0 … members − 1
  std::uint32_t members = 2;   ///< at least 2
  std::int64_t positions = 0;  ///< positions of the model: a reply ends when its view has none left
};

/// Which logits of the prompt RequestListener::onLogits receives.
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
  /// How a reply of `maxNewTokens` tokens has ended: TokenLimit, or ContextLimit if the model's context
  /// allows no more tokens.
  trace::StepOutcome limitOutcome = trace::StepOutcome::TokenLimit;
  std::int32_t alternatives = 0;   ///< likeliest tokens that RequestListener::onAlternatives receives
  std::vector<TokenId> endTokens;  ///< in any order; each of them ends the reply
  /// No end token is drawn before the reply has this length: its logit counts as −∞.
  std::int32_t minNewTokens = 0;
  std::vector<std::int32_t> observedLayers;
  AttentionDetail attentionDetail = AttentionDetail::Answer;
  /// Observe every single row of the prompt instead of every query block. In a prompt of at most
  /// kMostTokensForSingleKeys tokens, also observe every single key instead of every key block.
  bool observeRows = false;
  LogitReport logits = LogitReport::None;
  /// If set, only these rows are observed.
  std::optional<ReplayedRows> replay;
  policy::RowPlan rows;           ///< row plan of the request's table
  std::optional<TeamPlace> team;  ///< if set, `rows` has a plan of replies
  /// For a member of a team whose reply is given: the whole reply. It is computed, but no token is drawn.
  std::vector<TokenId> given;
};

// What the scheduler tells about a request.

/// Receives what the scheduler tells about requests, on the thread that calls `pass`.
class RequestListener {
 public:
  virtual ~RequestListener() = default;
  /// The request was admitted. Called again after every preemption, when the request is resumed.
  virtual void onAdmitted(RequestId request, const cache::Admission& admission) = 0;
  virtual void onPreempted(RequestId request) = 0;
  /// Logits of one token of the prompt. The calls come in the order in which the tokens are computed: in view
  /// order where no segment is joint. The last call is for the last token of the prompt.
  virtual void onLogits(RequestId request, std::span<const float> logits) = 0;
  /// The likeliest tokens for place `index` of a reply, before its token; see RequestOptions::alternatives.
  virtual void onAlternatives(RequestId request, std::int32_t index,
                              const std::vector<compute::LikelyToken>& tokens);
  /// `segmentMass`: see trace::TokenGenerated.
  virtual void onToken(RequestId request, std::int32_t index, const compute::SampledToken& token,
                       std::vector<float> segmentMass) = 0;
  /// Attention of one row of RequestOptions::replay in one layer. In each layer, the rows come in order.
  virtual void onReplayed(RequestId request, trace::AttentionMass mass);
  virtual void onFinished(RequestId request, trace::StepOutcome outcome) = 0;
  virtual void onFailed(RequestId request, const Error& error) = 0;
};

}  // namespace spanscope::run
