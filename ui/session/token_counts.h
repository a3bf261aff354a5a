// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/text/tokenizer.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>

namespace spanscope::ui {

/// How many tokens texts have, remembered: the canvas, the problems and whoever counts them ask for the same
/// texts in turn. Of the thread that the window is on.
class TokenCounts {
 public:
  /// `tokenizer`: null, and nothing can be counted.
  explicit TokenCounts(std::shared_ptr<const text::Tokenizer> tokenizer);

  const std::shared_ptr<const text::Tokenizer>& tokenizer() const { return m_tokenizer; }
  /// Throws Failure as the tokenizer does.
  std::int64_t count(const std::string& text);

 private:
  std::shared_ptr<const text::Tokenizer> m_tokenizer;
  std::map<std::string, std::int64_t> m_counts;  ///< by text
};

/// `counts` where they are of this tokenizer, else new ones.
std::shared_ptr<TokenCounts> countsOf(const std::shared_ptr<const text::Tokenizer>& tokenizer,
                                      const std::shared_ptr<TokenCounts>& counts);

}  // namespace spanscope::ui
