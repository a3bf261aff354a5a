// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/workbench/retrieval.h"

#include "app/workbench/resource_paths.h"
#include "engine/base/error.h"

#include <utility>

namespace spanscope::workbench {

Retrieval::Retrieval(RetrievalSettings settings) : m_settings(std::move(settings)) {}

retrieve::ResolvedAugments Retrieval::resolve(const query::Node& query) {
  if (!retrieve::hasAugment(query)) return {.query = query, .diagnostics = {}, .retrieved = {}};
  try {
    if (m_tokenizer == nullptr) {
      m_tokenizer = text::loadTokenizer(m_settings.modelDirectory.empty() ? bundledModelDirectory()
                                                                          : m_settings.modelDirectory);
    }
    if (!m_index) m_index.emplace(m_settings.indexFile);
  } catch (const Failure& failure) {
    query::Diagnostic problem;
    problem.found = "an augment, and " + failure.error().file + ": " + failure.error().found;
    problem.expected = failure.error().expected;
    return {.query = {}, .diagnostics = {std::move(problem)}, .retrieved = {}};
  }
  return retrieve::resolveAugments(query, m_settings, *m_tokenizer, *m_index);
}

}  // namespace spanscope::workbench
