// SPDX-License-Identifier: GPL-3.0-or-later
// Measures how close a finished answer is to a full prefill of the same tokens, for any policy. Open this
// file to change the fidelity metrics.
#pragma once

#include "engine/base/ids.h"
#include "engine/compute/backend.h"
#include "engine/compute/dtype.h"
#include "engine/model/decoder.h"
#include "engine/run/run_result.h"
#include "engine/run/session.h"
#include "engine/text/tokenizer.h"
#include "engine/trace/event.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace spanscope::experiment {

/// Max memory for the logits of one answer. The fidelity of a longer answer cannot be measured.
inline constexpr std::uint64_t kFidelityBytes = 1ULL << 30;
/// Max memory for the attention of one answer. If all rows would need more, only the first rows are compared.
inline constexpr std::uint64_t kFidelityAttentionBytes = 128ULL << 20;

/// The model that gave the answer, with its parts.
struct FidelityModel {
  model::Decoder& decoder;
  compute::Backend& backend;
  const text::Tokenizer* tokenizer;  ///< null: answers are compared only by their tokens.
  /// The arithmetic of `decoder`, and the same weights under f32 for a comparison. Null: there is no
  /// comparison.
  compute::Arithmetic arithmetic = compute::Arithmetic::F32;
  model::Decoder* exactDecoder = nullptr;
  compute::Backend* exactBackend = nullptr;  ///< of `exactDecoder`
};

/// The measurements of an answer.
struct MeasuredAnswer {
  trace::FidelityMeasured fidelity;
  std::optional<trace::ArithmeticMeasured> arithmetic;  ///< if there is an f32 decoder
};

/// Runs the given tokens of an answer of the session through the model twice:
/// - with the answer's policy and the session's cache (see Session::replayReply);
/// - as a full prefill in a separate KV store. The full prefill has the prompt's visible tokens in prompt
///   order, at consecutive positions from 0. An f32 decoder, if any, computes this full prefill too.
///
/// If rows are bit-equal (DeviceInfo::rowsAreBitEqual), a policy that is bit-exact with full prefill has a
/// divergence of exactly 0. Throws Failure like Session::replayReply, when stopped, and if memory cannot be
/// allocated. `progress` gets the computed share of the full prefill, from 0 to 1, after each forward pass.
/// `progress` may be empty.
MeasuredAnswer measureFidelity(run::Session& session, const FidelityModel& model,
                               const run::FinishedAnswer& answer, const std::stop_token& stop = {},
                               const std::function<void(double share)>& progress = {});

/// Returns the visible tokens of a prompt, in prompt order.
std::vector<TokenId> visibleTokens(const std::vector<trace::SegmentInfo>& segments);

/// Collects answers from the events of runs.
class FinishedAnswers {
 public:
  /// Whether the collector uses this event.
  static bool takes(const trace::Payload& payload);
  void take(const trace::Event& event);
  /// Returns the answers of a run that ended normally and have tokens, in the order of their requests. Drops
  /// these and all earlier answers. For an unknown policy, drops the answers and throws Failure. The program
  /// then cannot repeat the run.
  std::vector<run::FinishedAnswer> takeRun(RunId run);

 private:
  struct Answer {
    run::FinishedAnswer answer;
    bool ended = false;
    std::vector<RequestId> team;
  };
  std::map<RequestId, Answer> m_answers;
  std::map<RunId, std::string> m_policies;  ///< as text, of the runs that were not taken yet
};

// Compares two rows of logits as predictions of the next token, in double precision.

/// A distribution of the next token: softmax of a row of logits without NaN and +∞.
class Distribution {
 public:
  explicit Distribution(std::span<const float> logits);  ///< must outlive the object

  double logProbability(TokenId token) const;  ///< natural logarithm
  double probability(TokenId token) const;
  TokenId best() const { return m_best; }  ///< of equal logits the lowest id, as in greedy sampling

  /// Returns KL(this ‖ other) in nats. The divergence is 0 only if the distributions are equal, and exactly 0
  /// for equal logits. The divergence is ∞ if `other` has probability 0 for a token with a probability above
  /// 0 here.
  double divergenceFrom(const Distribution& other) const;

 private:
  std::span<const float> m_logits;
  TokenId m_best = 0;
  double m_logTotal = 0;  ///< log Σ exp(logit)
};

// One sequence under a plain causal mask, computed with only the decoder in its own KV store. The computation
// is a full prefill, without cache and scheduler.

class FlatSequence {
 public:
  /// Has space for `tokens` tokens. Decoder and backend must outlive this object. Throws Failure if memory is
  /// short.
  FlatSequence(model::Decoder& decoder, compute::Backend& backend, std::int64_t tokens,
               std::int32_t blockSize, compute::DType keysAndValues);

  enum class Rows {
    Silent,    ///< nothing is returned
    Logits,    ///< the logits of every row
    Observed,  ///< also the attention of every row in all layers, by key token
  };
  /// Computes the tokens from `begin` on, in one forward pass. Earlier tokens must have been computed. Later
  /// tokens are dropped. Throws Failure when stopped.
  model::ForwardResult compute(std::int64_t begin, std::span<const TokenId> tokens, Rows rows,
                               const std::stop_token& stop);

 private:
  model::Decoder& m_decoder;
  std::int32_t m_blockSize;
  std::vector<BlockId> m_blocks;
  std::unique_ptr<compute::KvStore> m_store;
};

}  // namespace spanscope::experiment
