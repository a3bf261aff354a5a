// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/problem_finder.h"

#include "engine/base/error.h"
#include "engine/model/config.h"
#include "engine/workbench/run_options.h"

namespace spanscope::ui {

std::vector<document::Problem> ProblemFinder::find(const document::Document& document,
                                                   const std::shared_ptr<const text::Tokenizer>& tokenizer) {
  constexpr std::size_t kMostKept = 10'000;
  if (m_tokenizer != tokenizer || m_counts.size() > kMostKept) m_counts.clear();
  m_tokenizer = tokenizer;
  document::ProblemContext context;
  if (m_tokenizer != nullptr) {
    context.countTokens = [this](const std::string& text) { return countTokens(text); };
    context.contextLength = contextLength(document.settings);
  }
  return document::findProblems(document, context);
}

std::int64_t ProblemFinder::countTokens(const std::string& text) {
  const auto [entry, isNew] = m_counts.try_emplace(text, 0);
  if (isNew) entry->second = static_cast<std::int64_t>(m_tokenizer->encode(text).size());
  return entry->second;
}

std::int64_t ProblemFinder::contextLength(const workbench::RunSettings& settings) {
  if (m_modelDirectory == settings.model) return m_contextLength;
  m_modelDirectory = settings.model;
  m_contextLength = 0;
  try {
    m_contextLength = model::readConfig(workbench::modelDirectoryOf(settings)).maxPositions;
  } catch (const Failure&) {
    // A folder that holds no model is told when it is loaded.
    m_contextLength = 0;
  }
  return m_contextLength;
}

}  // namespace spanscope::ui
