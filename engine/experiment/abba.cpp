// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/experiment/abba.h"

#include "engine/base/clock.h"
#include "engine/run/session.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <random>
#include <utility>

namespace spanscope::experiment {
namespace {

using Tokens = std::vector<TokenId>;
using Clock = std::chrono::steady_clock;

class TokenSource {
 public:
  TokenSource(std::int32_t vocabularySize, std::uint64_t seed)
      : m_random(seed), m_ids(0, vocabularySize - 1) {}

  Tokens take(std::int32_t count) {
    Tokens tokens(static_cast<std::size_t>(count));
    for (TokenId& token : tokens) token = m_ids(m_random);
    return tokens;
  }

 private:
  std::mt19937_64 m_random;
  std::uniform_int_distribution<TokenId> m_ids;
};

layout::SpanTable makeTable(const Tokens& system, const std::vector<const Tokens*>& documents,
                            const Tokens& question) {
  layout::SpanTable table;
  std::int64_t base = 0;
  const auto add = [&](const Tokens& tokens, bool independent) {
    if (tokens.empty()) return;
    layout::Segment segment;
    segment.independent = independent;
    segment.tokens = tokens;
    segment.base = base;
    segment.runs = {{.count = segment.length(), .source = layout::TokenRun::Source::Text, .node = {}}};
    if (independent) {
      segment.scope = static_cast<std::uint32_t>(table.segments.size()) + 1;
      segment.depth = 1;
    } else {
      for (std::uint32_t seen = 0; seen < table.segments.size(); ++seen) segment.sees.push_back(seen);
    }
    base += segment.length();
    table.segments.push_back(std::move(segment));
  };
  add(system, false);
  for (const Tokens* document : documents) add(*document, true);
  add(question, false);
  return table;
}

struct Samples {
  std::vector<double> seconds;
  std::int64_t cachedTokens = -1;

  AbbaCase summary() && { return {.seconds = summarize(std::move(seconds)), .cachedTokens = cachedTokens}; }
};

void timeOne(run::Session& session, layout::SpanTable table, std::stop_token stop, Samples& samples) {
  run::LogitsRequest request;
  request.table = std::move(table);
  const Clock::time_point begin = Clock::now();
  const run::LogitsResult result = session.logits(request, std::move(stop));
  samples.seconds.push_back(secondsSince(begin));
  samples.cachedTokens =
      samples.cachedTokens < 0 ? result.cachedTokens : std::min(samples.cachedTokens, result.cachedTokens);
}

}  // namespace

std::int32_t abbaBlocks(const AbbaOptions& options, std::int32_t blockSize) {
  const auto blocksOf = [blockSize](std::int64_t tokens) { return (tokens + blockSize - 1) / blockSize; };
  std::int32_t largest = 1;
  for (const std::int32_t tokens : options.documentTokens) largest = std::max(largest, tokens);
  const std::int64_t resident = blocksOf(options.systemTokens) + options.documents * blocksOf(largest);
  // The blocks of every question stay in the pool. The least recently used blocks are evicted first. Every
  // run uses the documents, so space for a few questions protects them.
  const std::int64_t passing = 8 * (blocksOf(options.questionTokens) + 1);
  return static_cast<std::int32_t>(std::min<std::int64_t>(resident + passing + 1, INT32_MAX));
}

TokenAmount abbaAmount(const AbbaOptions& options, std::int32_t documentTokens) {
  const std::int64_t whole =
      options.systemTokens + std::int64_t{options.documents} * documentTokens + options.questionTokens;
  // One warm run in each order is not timed. The timed runs then alternate between the orders.
  const std::int64_t warm = 2 + 2 * std::int64_t{options.repeats};
  const std::int64_t tokens = options.coldRepeats * whole + warm * options.questionTokens;
  return {.prompt = {tokens, tokens}, .generated = {}};
}

AbbaFloor abbaFloor(const AbbaRow& row, std::int32_t questionTokens, const ModelCost& cost,
                    const compute::MachineRates& machine) {
  const auto found = static_cast<double>(row.expectedCachedTokens);
  return {.aloneSeconds = row.alone.seconds.median,
          .readSeconds = found * cost.keyValueBytes / machine.bytesPerSecond,
          .multiplySeconds = found * questionTokens * cost.attentionFlops / machine.flops};
}

AbbaRow measureAbba(run::Session& session, std::int32_t vocabularySize, const AbbaOptions& options,
                    std::int32_t documentTokens, std::stop_token stop) {
  TokenSource source(vocabularySize, options.seed);
  const Tokens system = source.take(options.systemTokens);
  std::vector<Tokens> documents;
  for (std::int32_t i = 0; i < options.documents; ++i) documents.push_back(source.take(documentTokens));
  std::vector<const Tokens*> order;
  for (const Tokens& document : documents) order.push_back(&document);
  const std::vector<const Tokens*> swapped(order.rbegin(), order.rend());

  AbbaRow row;
  row.documentTokens = documentTokens;
  row.expectedCachedTokens =
      options.systemTokens + static_cast<std::int64_t>(options.documents) * documentTokens;
  row.promptTokens = row.expectedCachedTokens + options.questionTokens;

  Samples cold;
  Samples same;
  Samples reversed;
  const auto ask = [&](const std::vector<const Tokens*>& documentsInOrder, Samples& samples) {
    pass(options.seam);
    timeOne(session, makeTable(system, documentsInOrder, source.take(options.questionTokens)), stop, samples);
  };
  const auto askAlone = [&](Samples& samples) {
    pass(options.seam);
    timeOne(session, makeTable({}, {}, source.take(options.questionTokens)), stop, samples);
  };
  for (std::int32_t i = 0; i < options.coldRepeats; ++i) {
    session.clearCache();
    ask(order, cold);
  }
  Samples alone;
  Samples untimed;  // the first warm runs also make the backend's tables for these distances
  ask(order, untimed);
  ask(swapped, untimed);
  if (options.alone) askAlone(untimed);
  const Clock::time_point begin = Clock::now();
  const auto elapsed = [begin] { return secondsSince(begin); };
  for (std::int32_t i = 0; i < options.repeats || elapsed() < options.seconds; ++i) {
    // The order of the two cases alternates, so that neither case always follows the other.
    if (i % 2 == 0) {
      ask(order, same);
      ask(swapped, reversed);
    } else {
      ask(swapped, reversed);
      ask(order, same);
    }
    if (options.alone) askAlone(alone);
  }
  row.cold = std::move(cold).summary();
  row.same = std::move(same).summary();
  row.swapped = std::move(reversed).summary();
  if (options.alone) row.alone = std::move(alone).summary();
  return row;
}

}  // namespace spanscope::experiment
