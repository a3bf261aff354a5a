// SPDX-License-Identifier: GPL-3.0-or-later
// Finds the problems of a document, with what is known of its model. It remembers what takes long to find
// out. Every place that shows problems uses it, so all show the same ones.
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
  /// `tokenizer` belongs to the document's model; if null, prompts are not measured. `counts` holds what
  /// others have counted with that tokenizer; may be null. `devices` are the devices of this machine; null if
  /// not known yet.
  std::vector<Problem> find(const document::Document& document,
                            const std::shared_ptr<const text::Tokenizer>& tokenizer,
                            const std::shared_ptr<TokenCounts>& counts = nullptr,
                            const std::vector<compute::Device>* devices = nullptr);

 private:
  std::int64_t contextLength(const workbench::RunSettings& settings);

  std::shared_ptr<TokenCounts> m_counts;
  std::string m_modelDirectory = "?";  ///< the model to which `m_contextLength` belongs
  std::int64_t m_contextLength = 0;
};

}  // namespace spanscope::ui
