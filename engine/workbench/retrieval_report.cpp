// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/retrieval_report.h"

#include "engine/run/run_options.h"

#include <cstdint>

namespace spanscope::workbench {
namespace {

trace::FragmentRanking rankingOf(retrieve::Ranking ranking) {
  switch (ranking) {
    case retrieve::Ranking::Embedding:
      return trace::FragmentRanking::Embedding;
    case retrieve::Ranking::Hybrid:
      return trace::FragmentRanking::Hybrid;
    case retrieve::Ranking::Lexical:
      break;
  }
  return trace::FragmentRanking::Lexical;
}

trace::FragmentInfo infoOf(const retrieve::FoundFragment& found) {
  const retrieve::Fragment& fragment = found.ranked.fragment;
  const retrieve::Placing lexical = found.ranked.lexical.value_or(retrieve::Placing{});
  const retrieve::Placing embedding = found.ranked.embedding.value_or(retrieve::Placing{});
  return {.hash = fragment.hash,
          .source = found.source,
          .place = fragment.place,
          .level = fragment.level,
          .text = fragment.text,
          .rank = static_cast<std::uint32_t>(found.rank),
          .score = fragment.score,
          .lexicalRank = static_cast<std::uint32_t>(lexical.rank),
          .lexicalScore = lexical.score,
          .embeddingRank = static_cast<std::uint32_t>(embedding.rank),
          .embeddingScore = embedding.score,
          .pinned = found.isPinned,
          .dropped = found.isDropped,
          .inPrompt = found.isInPrompt};
}

}  // namespace

std::vector<run::RetrievalReport> retrievalReports(const std::vector<retrieve::Retrieved>& retrieved,
                                                   const std::vector<query::Diagnostic>& diagnostics) {
  std::vector<run::RetrievalReport> reports;
  for (const retrieve::Retrieved& one : retrieved) {
    run::RetrievalReport& report = reports.emplace_back();
    report.node = one.node;
    report.found.question = one.question;
    report.found.ranking = rankingOf(one.ranking);
    report.found.documents = one.documents;
    for (const retrieve::FoundFragment& found : one.fragments)
      report.found.fragments.push_back(infoOf(found));
    for (const query::Diagnostic& diagnostic : diagnostics) {
      if (diagnostic.pointer == one.node) report.warnings.push_back(diagnostic.message());
    }
  }
  return reports;
}

}  // namespace spanscope::workbench
