// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/ui/views/common/sample_policies.h"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace spanscope::test {
namespace {

constexpr double kSecondsPerMs = 1e-3;

/// An answer whose token 3 diverges by this amount; `best`: the token of a full prefill there.
jobs::ComparedAnswer answer(const std::vector<std::string>& words, double divergence,
                            const std::string& best) {
  jobs::ComparedAnswer made{.node = "/g", .texts = words, .fullTexts = words, .fidelity = {}};
  made.fullTexts[3] = best;
  for (std::size_t i = 0; i < words.size(); ++i) {
    trace::FidelityToken token;
    token.token = static_cast<TokenId>(i);
    token.policyBest = token.token;
    token.fullBest = made.fullTexts[i] == words[i] ? token.token : static_cast<TokenId>(100);
    token.divergence = i == 3 ? divergence : divergence / 8;
    token.policyProbability = 0.75;
    token.fullProbability = token.token == token.fullBest ? 0.5 : 0.25;
    made.fidelity.tokens.push_back(token);
  }
  for (const trace::FidelityToken& token : made.fidelity.tokens)
    made.fidelity.fullAnswer.push_back(token.fullBest);
  made.fidelity.sameText = best == words[3];
  return made;
}

jobs::MeasuredPolicy measured(const std::string& policy, double cold, double reordered,
                              const metrics::TokenAccount& prompt, std::uint64_t bytes) {
  jobs::MeasuredPolicy made{.policy = policy, .stage = jobs::PolicyStage::Done};
  made.cold = jobs::PolicyRun{.firstToken = cold * kSecondsPerMs,
                              .prompt = {.hit = 0, .relocated = 0, .computed = prompt.total()}};
  made.reordered = jobs::PolicyRun{.firstToken = reordered * kSecondsPerMs, .prompt = prompt};
  made.generatedTokens = 5;
  made.cacheBytes = bytes;
  return made;
}

}  // namespace

ui::PolicyComparison samplePolicies(const document::Document& document) {
  ui::PolicyComparison comparison;
  comparison.subject = jobs::comparisonSubject(document);
  comparison.blockSize = document.settings.blockSize;
  comparison.model = "spanlet";
  comparison.device = "CPU, 2 threads";
  comparison.isReordered = true;
  constexpr std::uint64_t kMebibyte = 1 << 20;
  jobs::MeasuredPolicy spans =
      measured("spans", 200, 20, {.hit = 13, .relocated = 57, .computed = 13}, 4 * kMebibyte);
  spans.answer = "The pet is Coco.";
  spans.answers.push_back(answer({"The", " pet", " is", " Coco", "."}, 0.5, " Biscuit"));
  jobs::MeasuredPolicy prefix = measured("prefix", 190, 150, {.hit = 13, .computed = 70}, 7 * kMebibyte);
  prefix.answer = "The pet is Biscuit.";
  prefix.answers.push_back(answer({"The", " pet", " is", " Biscuit", "."}, 0, " Biscuit"));
  jobs::MeasuredPolicy link =
      measured("link(16)", 210, 60, {.hit = 13, .relocated = 20, .computed = 34, .again = 16}, 5 * kMebibyte);
  link.answer = "The pet is Biscuit.";
  link.answers.push_back(answer({"The", " pet", " is", " Biscuit", "."}, 0.125, " Biscuit"));
  jobs::MeasuredPolicy blend{.policy = "blend(0.15)", .stage = jobs::PolicyStage::Failed};
  blend.problem = "the pool is too small";
  comparison.policies = {std::move(spans), std::move(prefix), std::move(link), std::move(blend)};
  return comparison;
}

}  // namespace spanscope::test
