// SPDX-License-Identifier: GPL-3.0-or-later
// What tests of policies share: small pools, references that know no segments, and how far results may be
// from them.
#pragma once

#include "engine/plan/planner.h"
#include "engine/policy/policies.h"
#include "engine/query/json/json.h"
#include "engine/run/run_options.h"
#include "engine/run/run_result.h"
#include "tests/engine/policy/prompt_rows.h"
#include "tests/engine/run/random_queries.h"
#include "tests/engine/run/session_fixture.h"
#include "tests/support/equal_bits.h"
#include "tests/support/plain_transformer.h"
#include "tests/support/random_values.h"

#include <QFile>
#include <QString>
#include <QtGlobal>

#include <cmath>
#include <string>
#include <vector>

namespace spanscope::test {

/// Largest distance of f32 results from results in double precision, relative to the norm of the latter.
inline constexpr double kClose = 1e-5;

/// The seed of a test: SPANSCOPE_TEST_SEED if it is set, else `standard`. The fixture prints the seed.
inline std::uint64_t policyTestSeed(std::uint64_t standard) {
  const std::uint64_t seed = testing::testSeed(standard);
  qInfo("SPANSCOPE_TEST_SEED=%llu", static_cast<unsigned long long>(seed));
  return seed;
}

inline run::SessionConfig poolOf(std::int32_t blocks, std::int32_t rowsPerPass, std::int32_t blockSize = 4) {
  run::SessionConfig config;
  config.blockSize = blockSize;
  config.blockCount = blocks;
  config.rowsPerPass = rowsPerPass;
  return config;
}

/// The norm of the difference divided by the norm of `expected`.
inline double relative(const std::vector<float>& found, const testing::Numbers& expected) {
  double difference = 0;
  double norm = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double delta = static_cast<double>(found[i]) - expected[i];
    difference += delta * delta;
    norm += expected[i] * expected[i];
  }
  return std::sqrt(difference / norm);
}

using testing::equalBits;

/// The logits of the last row of a full prefill.
inline testing::Numbers causalReference(const testing::PlainTransformer& plain, const PromptRows& rows) {
  std::vector<std::vector<std::size_t>> sees(rows.count());
  for (std::size_t i = 0; i < rows.count(); ++i) {
    for (std::size_t j = 0; j <= i; ++j) sees[i].push_back(j);
  }
  return plain.logits(plain.forward(rows.tokens, rows.positions, sees).hidden.back());
}

/// The plan of a bundled query.
inline plan::Plan bundledPlan(const QString& query) {
  QFile file(QStringLiteral(SPANSCOPE_SOURCE_DIR "/resources/queries/") + query);
  if (!file.open(QIODevice::ReadOnly)) return {};
  const auto parsed = query::parseJson(file.readAll().toStdString());
  return *plan::makePlan(*parsed.query).plan;
}

/// The answers to a random query on a random model under a policy, with a pool of `blocks` blocks. Empty if
/// the pool is too small for a single request. Adds the number of preemptions to `preemptions`.
inline std::vector<std::vector<TokenId>> randomAnswers(const std::string& policy, std::uint32_t seed,
                                                       std::int32_t blocks, std::int64_t& preemptions) {
  RandomQueries queries(seed, 40);
  const auto parsed = query::parseJson(queries.independent());
  const plan::Plan plan = *plan::makePlan(*parsed.query).plan;
  RandomSession random(poolOf(blocks, run::SessionConfig{}.rowsPerPass, 8), false);
  run::RunOptions options;
  options.policy = *policy::findChoice(policy);
  const run::RunResult result = random.session->run(plan, options);
  std::vector<std::vector<TokenId>> answers;
  for (const run::StepResult& step : result.steps) {
    answers.push_back(step.tokens);
    preemptions += step.metrics.preemptions;
  }
  return result.error ? std::vector<std::vector<TokenId>>() : answers;
}

}  // namespace spanscope::test
