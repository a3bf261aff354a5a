// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/problem_finder.h"

#include "engine/base/error.h"
#include "engine/model/config.h"
#include "engine/workbench/run_options.h"

namespace spanscope::ui {

std::vector<Problem> ProblemFinder::find(const document::Document& document,
                                         const std::shared_ptr<const text::Tokenizer>& tokenizer,
                                         const std::shared_ptr<TokenCounts>& counts,
                                         const std::vector<compute::Device>* devices) {
  m_counts = countsOf(tokenizer, counts ? counts : m_counts);
  ProblemContext context;
  context.devices = devices;
  if (tokenizer != nullptr) {
    // A prompt has at least the tokens that are counted already.
    context.countTokens = [this](const std::string& text) { return m_counts->count(text).value_or(0); };
    context.contextLength = contextLength(document.settings);
  }
  return findProblems(document, context);
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
