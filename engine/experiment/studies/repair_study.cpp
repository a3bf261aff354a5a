// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/translation.h"
#include "engine/experiment/sources.h"
#include "engine/experiment/studies/study.h"
#include "engine/run/run_result.h"
#include "engine/trace/fidelity_metrics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

namespace spanscope::experiment {
namespace {

constexpr std::array kFields = {
    ExperimentField{"shares", forTranslation("Experiments", "Shares"),
                    forTranslation("Experiments",
                                   "Percent of the documents' tokens that are recomputed. Recomputed tokens "
                                   "attend to all earlier tokens"),
                    "0,5,10,15,25,50,75,100", FieldKind::Numbers, 0, 100},
    ExperimentField{"documents", forTranslation("Experiments", "Documents"),
                    forTranslation("Experiments",
                                   "Documents of two sentences. Every second question needs two documents"),
                    "12", FieldKind::Number, kFewestSources, kMostSources}};
constexpr std::array kMeasures = {
    Measure{"divergence_nats", forTranslation("Experiments", "KL per token"), "nats", 4},
    Measure{"agreement", forTranslation("Experiments", "greedy tokens that agree"), "%", 1},
    Measure{"attention_deviation", forTranslation("Experiments", "attention deviation"), "", 3},
    Measure{"ttft_ms", forTranslation("Experiments", "time to first token"), "ms", 1, true}};

/// Returns the mean number of tokens of a document. Documents are the visible segments under a plus.
double meanDocument(const std::vector<trace::SegmentInfo>& segments) {
  double tokens = 0;
  double count = 0;
  for (const trace::SegmentInfo& segment : segments) {
    if (segment.hidden || segment.depth == 0) continue;
    tokens += static_cast<double>(segment.tokens.size());
    ++count;
  }
  return count == 0 ? 0 : tokens / count;
}

std::string linkOf(std::int32_t share, double documentTokens) {
  if (share == 100) return "link(all)";
  return "link(" + std::to_string(std::lround(share * documentTokens / 100)) + ")";
}

std::string blendOf(std::int32_t share) {
  const std::string hundredths = std::to_string(share % 100);
  return "blend(" + (share == 100 ? "1" : "0." + std::string(2 - hundredths.size(), '0') + hundredths);
}

void measure(ExperimentResult& result, const ExperimentModel& model, const ExperimentProgress& report,
             const std::stop_token& stop) {
  const std::vector<std::int32_t> shares = numbersOf(result.request, "shares");
  const std::int32_t documents = numberOf(result.request, "documents");
  const ExperimentRequest& request = result.request;
  Study study(result, model, report, stop);
  const std::int32_t repeats = repeatsOver(request, documents);
  if (request.own) study.remark(kRepeatsAreOrders);
  result.total = shares.size() * static_cast<std::size_t>(repeats);
  for (std::int32_t repeat = 0; repeat < repeats; ++repeat) {
    const SourceWorld world{.documents = documents, .rivals = 0, .seed = request.seed};
    const plan::Plan plan = request.own ? ownPlan(request, documents, repeat)
                                        : studyPlan(sourceQuery(sourceQuestion(world, repeat)));
    for (const std::int32_t share : shares) {
      study.begin(std::to_string(share) + " %, question " + std::to_string(repeat + 1));
      // The documents are cached before, so the measured time contains only the work of the policy.
      study.clearCache();
      const Study::Ran seen = study.run(plan, "spans");
      const double tokens = seen.answers.empty() ? 0 : meanDocument(seen.answers.front().segments);
      const std::array<std::pair<const char*, std::string>, 3> lines = {
          {{"link", linkOf(share, tokens)},
           {"blend, by keys", blendOf(share) + ")"},
           {"blend, by values", blendOf(share) + ",by=values)"}}};
      for (const auto& [line, policy] : lines) {
        const Study::Ran ran = study.run(plan, policy);
        for (const run::FinishedAnswer& answer : ran.answers) {
          const trace::FidelityMeasured found = study.fidelityOf(answer);
          const trace::FidelityMeasured* one = &found;
          const trace::FidelityMetrics fidelity = trace::fidelityOf(std::span(&one, 1));
          study.add(line, share,
                    {fidelity.meanDivergence, 100 * fidelity.agreement(),
                     fidelity.meanAttentionDeviation().value_or(0),
                     ran.sample.measured.timeToFirstToken.value_or(0) * kMilliseconds});
        }
      }
      study.step();
    }
  }
}

}  // namespace

const Experiment kRepairStudy{
    .name = "repair",
    .title = forTranslation("Experiments", "What recomputing repairs"),
    .brief = forTranslation("Experiments",
                            "How much closer is an answer to a full prefill, and how much longer does it "
                            "take? Link and blend recompute a growing share of the documents' tokens."),
    .xName = forTranslation("Experiments", "recomputed tokens, %"),
    .isXLogarithmic = false,
    .fields = kFields,
    .measures = kMeasures,
    .repeats = 10,
    .own = {.count = "documents"},
    .measure = measure};

}  // namespace spanscope::experiment
