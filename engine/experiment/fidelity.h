// SPDX-License-Identifier: GPL-3.0-or-later
// Measures how close a finished reply is to a full prefill of the same tokens, whatever policy produced it.
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

/// Most memory for the logits of one reply. The fidelity of a longer reply cannot be measured.
inline constexpr std::uint64_t kFidelityBytes = 1ULL << 30;
/// Most memory for the attention of one reply. If all rows would need more, only the first rows are compared.
inline constexpr std::uint64_t kFidelityAttentionBytes = 128ULL << 20;

/// The parts of the model that gave the reply.
struct FidelityModel {
  model::Decoder& decoder;
  compute::Backend& backend;
  const text::Tokenizer* tokenizer;  ///< null: answers are compared only by their tokens
  /// The arithmetic of `decoder`, and the same weights under f32 to hold it against. Null: it is not
  /// compared.
  compute::Arithmetic arithmetic = compute::Arithmetic::F32;
  model::Decoder* exactDecoder = nullptr;
  compute::Backend* exactBackend = nullptr;  ///< of `exactDecoder`
};

/// What was found of a reply.
struct MeasuredReply {
  trace::FidelityMeasured fidelity;
  std::optional<trace::ArithmeticMeasured> arithmetic;  ///< if there is an f32 decoder
};

/// Runs the given tokens of a reply of the session through the model twice. The first time it uses the
/// reply's policy and the session's cache (Session::replayReply says what happens to the cache). The second
/// time is a full prefill of the tokens that its prompt shows in view order, at positions 0, 1, 2, …, in a
/// separate KV store. Where the model has an f32 decoder, the full prefill is computed by that too. If rows
/// are bit-equal (DeviceInfo::rowsAreBitEqual), a policy that is exact against full prefill has a divergence
/// of exactly 0. Throws Failure as Session::replayReply does, if memory cannot be allocated, or if it was
/// stopped. `progress` is told what share of the full prefill is computed, from 0 to 1, after each of its
/// passes; may be empty.
MeasuredReply measureFidelity(run::Session& session, const FidelityModel& model,
                              const run::FinishedReply& reply, const std::stop_token& stop = {},
                              const std::function<void(double share)>& progress = {});

/// The visible tokens of a prompt, in view order.
std::vector<TokenId> visibleTokens(const std::vector<trace::SegmentInfo>& segments);

/// Collects replies from the events of runs.
class FinishedReplies {
 public:
  /// Whether it uses this event.
  static bool takes(const trace::Payload& payload);
  void take(const trace::Event& event);
  /// The replies of a run that ended by themselves and have tokens, in the order of their requests. It
  /// forgets these and all earlier replies. Throws Failure, after forgetting them, if this program does not
  /// know the run's policy: then it cannot repeat how the replies were produced.
  std::vector<run::FinishedReply> takeRun(RunId run);

 private:
  struct Reply {
    run::FinishedReply reply;
    bool ended = false;
    std::vector<RequestId> team;
  };
  std::map<RequestId, Reply> m_replies;
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

  /// KL(this ‖ other) in nats. It is 0 if and only if the two are equal, and exactly 0 for equal logits. It
  /// is ∞ if the other gives probability 0 to a token to which this one does not.
  double divergenceFrom(const Distribution& other) const;

 private:
  std::span<const float> m_logits;
  TokenId m_best = 0;
  double m_logTotal = 0;  ///< log Σ exp(logit)
};

// One sequence under a plain causal mask, computed with only the decoder in a KV store of its own: a full
// prefill, without cache and scheduler.

class FlatSequence {
 public:
  /// Has room for `tokens` tokens. Decoder and backend must outlive it. Throws Failure if there is not enough
  /// memory.
  FlatSequence(model::Decoder& decoder, compute::Backend& backend, std::int64_t tokens,
               std::int32_t blockSize, compute::DType keysAndValues);

  enum class Rows {
    Silent,    ///< nothing is returned
    Logits,    ///< the logits of every row
    Observed,  ///< also the attention of every row in all layers, by key token
  };
  /// Computes tokens that stand from `begin` on, in one pass. Earlier tokens must have been computed; later
  /// ones are forgotten. Throws Failure if it was stopped.
  model::ForwardResult compute(std::int64_t begin, std::span<const TokenId> tokens, Rows rows,
                               const std::stop_token& stop);

 private:
  model::Decoder& m_decoder;
  std::int32_t m_blockSize;
  std::vector<BlockId> m_blocks;
  std::unique_ptr<compute::KvStore> m_store;
};

}  // namespace spanscope::experiment
