// SPDX-License-Identifier: GPL-3.0-or-later
// Compares reuse policies on a document's query. Each policy has its own session with an empty cache. No
// policy therefore uses the results of another policy. A policy that fails is reported, and the other
// policies are still measured.
#pragma once

#include "engine/base/ids.h"
#include "engine/jobs/measuring_job.h"
#include "engine/metrics/token_account.h"
#include "engine/trace/event.h"
#include "engine/trace/event_fields.h"
#include "engine/trace/fidelity_metrics.h"
#include "engine/workbench/document/document.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::jobs {

struct PolicyChoice {
  std::vector<std::string> policies;  ///< as documents write them, in the order of the measurement

  /// Identifies the content that the numbers depend on (comparisonSubject()). 0: there is no document.
  std::uint64_t subject = 0;
  bool operator==(const PolicyChoice&) const = default;
};

/// The stages of the measurement of one policy, in order.
enum class PolicyStage : std::uint8_t {
  Waiting,
  Cold,       ///< the query runs with an empty cache
  Fidelity,   ///< the answers of this query are compared with a full prefill
  Reordered,  ///< the query runs with the children of plus in another order, or the same query again
  Done,
  Failed
};
constexpr bool hasEnded(PolicyStage stage) {
  return stage == PolicyStage::Done || stage == PolicyStage::Failed;
}

/// The cost of one run of the query.
struct PolicyRun {
  /// Seconds, the median over its steps; nothing if no step made a token.
  std::optional<double> firstToken;
  metrics::TokenAccount prompt;  ///< counts of the prompts of all steps together
};

/// An answer of the cold run, compared with a full prefill of the same tokens.
struct ComparedAnswer {
  NodePath node;
  std::vector<std::string> texts;      ///< by token of the answer: its text, or its name
  std::vector<std::string> fullTexts;  ///< by token: the displayed text of FidelityToken::fullBest
  trace::FidelityMeasured fidelity;    ///< with one FidelityToken a token of the answer
};

/// The results of one policy.
struct MeasuredPolicy {
  std::string policy;  ///< with its values, as documents write it: "link(16)"
  PolicyStage stage = PolicyStage::Waiting;
  std::string problem{};                 ///< why the policy failed; earlier results stay
  std::string answer{};                  ///< of the cold run
  std::int64_t generatedTokens = 0;      ///< of the cold run
  std::optional<PolicyRun> cold{};       ///< nothing: not measured
  std::optional<PolicyRun> reordered{};  ///< nothing: not measured
  std::vector<ComparedAnswer> answers{};
  std::uint64_t cacheBytes = 0;  ///< of blocks that are cached or in use after both runs

  /// Over all answers; nothing before all answers are measured.
  std::optional<trace::FidelityMetrics> fidelity() const;
};

struct PolicyComparison {
  std::uint64_t subject = 0;   ///< PolicyChoice::subject
  std::string model{};         ///< name of the checkpoint; empty: the checkpoint is still being loaded
  std::string device{};        ///< with its threads
  std::int32_t blockSize = 0;  ///< tokens
  /// Whether the second run had another order. If the query has no plus with two children, the same query
  /// runs again.
  bool isReordered = false;
  /// Some generate nodes of the query set no temperature. In a comparison their temperature is 0.
  bool chosenTemperature = false;
  std::vector<MeasuredPolicy> policies{};  ///< in the order of the measurement

  /// The completed share, 0 … 1.
  double progress() const;
};

/// Identifies the content of a document that the numbers depend on. The policy of the document does not
/// count, because each policy is measured.
std::uint64_t comparisonSubject(const document::Document& document);

struct PolicyComparisonJob {
  static constexpr const char* kId = "policies";
  static constexpr Scope kScope = Scope::Document;
  using Arguments = PolicyChoice;
  using Result = PolicyComparison;

  static bool takesQuery(const PolicyChoice&) { return true; }
  static PolicyChoice completed(PolicyChoice choice, const JobInput&) { return choice; }
  static const char* unavailableReason(const PolicyChoice& choice, std::span<const AnswerFacts>);
  static bool isSound(const PolicyComparison& comparison);
  static std::optional<experiment::TokenAmount> amount(const PolicyChoice& choice,
                                                       const EstimateFacts& facts);
  static PolicyComparison begun(const PolicyChoice& choice);
  static double progress(const PolicyComparison& comparison) { return comparison.progress(); }
  static trace::EventWords activity(const PolicyComparison& comparison);
  static void measure(PolicyComparison& comparison, const PolicyChoice& choice, Measurement& at);
};

}  // namespace spanscope::jobs

namespace spanscope::trace {
SPANSCOPE_NAMES(jobs::PolicyStage, "waiting", "cold", "fidelity", "reordered", "done", "failed");
}  // namespace spanscope::trace

namespace spanscope::metrics {
SPANSCOPE_FIELDS(TokenAccount, hit, relocated, computed, again, padding, delimiters, cropped);
}  // namespace spanscope::metrics

namespace spanscope::jobs {
SPANSCOPE_FIELDS(PolicyChoice, policies, subject);
SPANSCOPE_FIELDS(PolicyRun, firstToken, prompt);
SPANSCOPE_FIELDS(ComparedAnswer, node, texts, fullTexts, fidelity);
template <class V, trace::Is<MeasuredPolicy> X>
void fields(V&& v, X& x) {
  v("policy", x.policy);
  v("stage", x.stage);
  v("problem", x.problem);
  v("answer", x.answer);
  v("generatedTokens", x.generatedTokens);
  v("cold", x.cold);
  v("reordered", x.reordered);
  v("replies", x.answers);
  v("cacheBytes", x.cacheBytes);
}
SPANSCOPE_FIELDS(PolicyComparison, subject, model, device, blockSize, isReordered, chosenTemperature,
                 policies);
}  // namespace spanscope::jobs
