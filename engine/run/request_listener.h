// SPDX-License-Identifier: GPL-3.0-or-later
// What the scheduler tells about a request.
#pragma once

#include "engine/base/error.h"
#include "engine/base/ids.h"
#include "engine/compute/sampling.h"
#include "engine/trace/event.h"

#include <cstdint>
#include <span>
#include <vector>

namespace spanscope::cache {
struct Admission;
}

namespace spanscope::run {

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
