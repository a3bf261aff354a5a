// SPDX-License-Identifier: GPL-3.0-or-later
// Measures how far reuse policies depart from a checkpoint's own full prefill, on a small set of questions.
// The result answers whether block attention is safe on this checkpoint, and which policy repairs it. Open
// this file to change the thresholds of the verdict. The questions are in probe_questions.cpp.
#pragma once

#include "engine/experiment/chart.h"
#include "engine/experiment/experiment.h"
#include "engine/experiment/statistics.h"
#include "engine/experiment/token_amount.h"
#include "engine/query/query.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace spanscope::experiment {

/// Max tokens of an answer. Longer answers say little more, because the tokens of one answer depend on each
/// other.
inline constexpr std::int32_t kProbeAnswerTokens = 16;
/// Max questions over the user's documents, and max documents of such a question.
inline constexpr std::size_t kMostOwnQuestions = 4;
inline constexpr std::size_t kMostOwnDocuments = 4;

/// A question over documents, which are the children of a plus.
struct ProbeQuestion {
  std::string name;  ///< for the user
  query::Node query;
  bool isOwn = false;  ///< over the user's documents
  /// The results are compared with a full prefill of this query, whose prompt is another one. Nothing: with a
  /// full prefill of `query`.
  std::optional<query::Node> reference{};
};

/// Returns the questions that are included in the program: two for each set of documents.
std::vector<ProbeQuestion> builtInQuestions();
/// Returns questions over the user's documents. Each question has other documents, or another order.
std::vector<ProbeQuestion> ownQuestions(const OwnDocuments& documents);
/// Returns a query with these texts under a plus, and the question after it.
query::Node probeQuery(const std::vector<std::string>& documents, const std::string& question);

/// Returns the policies that are measured unless the user chooses others. The first one is the subject of the
/// verdict.
std::vector<std::string> probedPolicies();

/// The results of one question under one policy. The documents were cached before.
struct ProbeSample {
  std::string problem{};      ///< why the policy failed; empty: the other members are valid
  std::int64_t tokens = 0;    ///< tokens in the answer of a full prefill; each policy predicts these tokens
  std::int64_t agreeing = 0;  ///< tokens at which both have the same most likely token
  double divergence = 0;      ///< KL(full ‖ policy), nats, the mean over the tokens
  double mostDivergence = 0;  ///< the largest KL of a token, nats
  bool sameAnswer = false;    ///< the policy's own greedy answer has the same tokens
  std::string answer{};       ///< the answer under the policy
  std::int64_t promptTokens = 0;
  std::int64_t recomputed = 0;  ///< tokens that were cached, but that the policy recomputes
  std::int64_t computed = 0;    ///< tokens that were not cached
  double seconds = 0;           ///< time to the first token
  bool operator==(const ProbeSample&) const = default;
};

/// The results of one question, by policy. Policies that were not measured yet are left out.
struct ProbedQuestion {
  std::string name;
  bool isOwn = false;
  std::string answer{};  ///< the answer of a full prefill
  std::vector<ProbeSample> samples{};
  bool operator==(const ProbedQuestion&) const = default;
};

struct ProbedModel {
  std::string name;
  std::string device;      ///< with its threads
  bool isTrained = false;  ///< the checkpoint states that it was trained for block attention
  std::vector<ProbedQuestion> questions{};
  bool operator==(const ProbedModel&) const = default;

  std::size_t samples() const;
};

/// Measures the questions with all policies. Calls `report` after each sample. Throws Failure when stopped.
void probeModel(ProbedModel& result, const ExperimentModel& model, std::span<const ProbeQuestion> questions,
                std::span<const std::string> policies, SpeedSample& pace, const std::function<void()>& report,
                const std::stop_token& stop);
/// Counts what probeModel() computes, by question. Throws Failure.
std::vector<TokenAmount> countProbe(const ExperimentModel& model, std::span<const ProbeQuestion> questions,
                                    std::span<const std::string> policies, const std::stop_token& stop);

// The verdict.

/// The distance of a policy from a full prefill.
enum class ProbeLevel : std::uint8_t {
  Close,    ///< within kClose
  Between,  ///< neither
  Far,      ///< beyond kFar
};
struct ProbeLimit {
  double divergence;  ///< nats, the mean over the questions
  double agreement;   ///< the share of tokens with the same most likely token
};
/// Close: at most this divergence, at least this agreement, and no question beyond kFar.
inline constexpr ProbeLimit kClose{.divergence = 0.05, .agreement = 0.95};
/// Far: more divergence, or less agreement.
inline constexpr ProbeLimit kFar{.divergence = 0.2, .agreement = 0.85};

/// All questions of one model under one policy.
struct ProbeRow {
  std::string policy;
  std::string problem{};      ///< why the first failed question failed; empty: no question failed
  std::size_t questions = 0;  ///< number of measured questions
  Summary divergence{};       ///< KL of the questions, nats
  double meanDivergence = 0;  ///< mean KL of the questions, nats
  double mostDivergence = 0;  ///< the largest KL of a token, nats
  std::int64_t tokens = 0;
  std::int64_t agreeing = 0;
  std::size_t sameAnswers = 0;
  double promptTokens = 0;  ///< mean of all prompts
  double recomputed = 0;    ///< mean of all prompts
  double computed = 0;      ///< mean of all prompts
  Summary seconds{};

  double agreement() const {
    return tokens == 0 ? 0 : static_cast<double>(agreeing) / static_cast<double>(tokens);
  }
  ProbeLevel level() const;
};
/// Returns a row for each policy. `isOwn`: only the questions over the user's documents, or only the others;
/// nothing: all questions.
std::vector<ProbeRow> probeRows(const ProbedModel& model, std::span<const std::string> policies,
                                std::optional<bool> isOwn = {});

/// Returns the policy of the cheapest close row, or else the policy that is accurate on any checkpoint.
/// Empty: no question was measured.
std::string recommendedPolicy(std::span<const ProbeRow> rows);

/// "safe", "unclear", "not safe".
const char* probeLevelName(ProbeLevel level);
/// Returns sentences: the verdict on the first row, the recommendation, and what was measured. `rows` are all
/// rows of `model`. `reference`: the rows of the bundled model; may be empty.
std::vector<std::string> probeSentences(const ProbedModel& model, std::span<const ProbeRow> rows,
                                        std::span<const ProbeRow> reference);
/// Returns the rules of the verdict, as a sentence.
std::string probeRules();

/// Returns the divergence of each question under each policy, beside the same of `reference`, which may be
/// null.
HeatChart probeChart(const ProbedModel& model, const ProbedModel* reference,
                     std::span<const std::string> policies);

}  // namespace spanscope::experiment
