// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/document/plan_options.h"

#include "engine/workbench/setting_choices.h"

#include <algorithm>

namespace spanscope::document {

plan::PlanOptions planOptionsOf(const RunSettings& settings) {
  plan::PlanOptions options;
  options.seed = settings.seed;
  options.distribute = settings.distribute;
  options.outputForm = workbench::outputFormOf(settings.outputForm);
  options.locality.fanIn = settings.hasPlies() ? settings.locality : 0;
  options.locality.shape = workbench::localityShapeOf(settings.localityShape);
  if (!settings.reducePrompt.empty()) options.locality.reducePrompt = settings.reducePrompt;
  return options;
}

retrieve::RetrievalOptions retrievalOptionsOf(const RunSettings& settings) {
  retrieve::RetrievalOptions options;
  options.passages = settings.passages;
  options.chunk.tokens = settings.chunk;
  // The limit is the largest valid value, because the user can change each of the two settings alone.
  options.chunk.overlap = std::min(settings.overlap, settings.chunk / 4);
  options.ranking = retrieve::parseRanking(settings.ranking);
  options.summaries = settings.summaries;
  return options;
}

std::map<NodePath, retrieve::PassageChoice> passageChoicesOf(const Document& document,
                                                             const NodePaths& paths) {
  std::map<NodePath, retrieve::PassageChoice> choices;
  for (const auto& [path, id] : paths.byPath) {
    const DocumentNode* node = document.find(id);
    if (node == nullptr || node->passages.empty()) continue;
    retrieve::PassageChoice& choice = choices[path];
    for (const auto& [hash, mark] : node->passages) {
      if (mark == PassageMark::Pinned)
        choice.pinned.push_back(hash);
      else
        choice.dropped.insert(hash);
    }
  }
  return choices;
}

}  // namespace spanscope::document
