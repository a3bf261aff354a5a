// SPDX-License-Identifier: GPL-3.0-or-later
// Finds the problems of a document with what is known of its model, and remembers what takes long: whoever
// tells problems tells the same ones.
#pragma once

#include "engine/text/tokenizer.h"
#include "ui/document/problems.h"
#include "ui/session/token_counts.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace spanscope::ui {

class ProblemFinder {
 public:
  /// `tokenizer`: of the document's model; null: prompts are not measured. `counts`: what others have counted
  /// with it; may be null. `devices`: of this machine; null: not known yet.
  std::vector<document::Problem> find(const document::Document& document,
                                      const std::shared_ptr<const text::Tokenizer>& tokenizer,
                                      const std::shared_ptr<TokenCounts>& counts = nullptr,
                                      const std::vector<compute::Device>* devices = nullptr);

 private:
  std::int64_t contextLength(const workbench::RunSettings& settings);

  std::shared_ptr<TokenCounts> m_counts;
  std::string m_modelDirectory = "?";  ///< whose context length is known
  std::int64_t m_contextLength = 0;
};

}  // namespace spanscope::ui
