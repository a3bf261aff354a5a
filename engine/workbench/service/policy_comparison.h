// SPDX-License-Identifier: GPL-3.0-or-later
// A comparison of reuse policies on a document's query: what is compared, and what came of it so far.
#pragma once

#include "engine/base/ids.h"
#include "engine/metrics/token_account.h"
#include "engine/trace/event.h"
#include "engine/trace/fidelity_metrics.h"
#include "engine/workbench/service/benchmark.h"
#include "engine/workbench/service/job.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace spanscope::workbench {

/// How far the measurement of one policy is, in the order in which it is made.
enum class PolicyStage : std::uint8_t {
  Waiting,
  Cold,       ///< the query runs with an empty cache
  Fidelity,   ///< its replies are held against a full prefill
  Reordered,  ///< the query runs with the children of plus in another order, or the same query once more
  Done,
  Failed
};
constexpr bool hasEnded(PolicyStage stage) {
  return stage == PolicyStage::Done || stage == PolicyStage::Failed;
}

/// What one run of the query cost.
struct PolicyRun {
  /// Seconds, the median over its steps; nothing if no step made a token.
  std::optional<double> firstToken;
  metrics::TokenAccount prompt;  ///< of what its prompts show, all steps together
};

/// A reply of the cold run beside a full prefill of the same tokens.
struct ComparedReply {
  NodePath node;
  std::vector<std::string> texts;      ///< what each token of the reply adds to its text, or its name
  std::vector<std::string> fullTexts;  ///< by token: how FidelityToken::fullBest is shown
  trace::FidelityMeasured fidelity;    ///< with one FidelityToken a token of the reply
};

/// What was measured of one policy.
struct MeasuredPolicy {
  std::string policy;  ///< with its values, as documents write it: "link(16)"
  PolicyStage stage = PolicyStage::Waiting;
  std::string problem{};                 ///< why it failed; what was measured by then stands
  std::string answer{};                  ///< of the cold run
  std::int64_t generatedTokens = 0;      ///< of the cold run
  std::optional<PolicyRun> cold{};       ///< nothing: not measured
  std::optional<PolicyRun> reordered{};  ///< nothing: not measured
  std::vector<ComparedReply> replies{};
  std::uint64_t cacheBytes = 0;  ///< of the blocks that held keys and values after both runs

  /// Over all replies; nothing before they were measured.
  std::optional<trace::FidelityMetrics> fidelity() const;
};

struct PolicyComparison {
  BenchmarkSubject subject;  ///< what is compared (comparisonSubject())
  JobState state = JobState::Waiting;
  std::string problem{};  ///< why nothing could be compared

  std::string model{};   ///< name of the checkpoint; empty: it is still being loaded
  std::string device{};  ///< with its threads
  /// Whether the second run had another order. The same query ran again where it has no plus with two
  /// children.
  bool isReordered = false;
  /// Some generates of the query set no temperature. Here they have the temperature 0.
  bool chosenTemperature = false;
  std::vector<MeasuredPolicy> policies{};  ///< in the order in which they are measured

  std::optional<double> secondsLeft{};  ///< of the whole; nothing: not known yet

  /// How much is done, 0 … 1.
  double progress() const;
};

/// What of a document its figures depend on: its policy does not count, each has its own.
BenchmarkSubject comparisonSubject(const document::Document& document);

}  // namespace spanscope::workbench
