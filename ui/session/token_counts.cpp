// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/token_counts.h"

#include <utility>

namespace spanscope::ui {

TokenCounts::TokenCounts(std::shared_ptr<const text::Tokenizer> tokenizer)
    : m_tokenizer(std::move(tokenizer)) {}

std::int64_t TokenCounts::count(const std::string& text) {
  // Every state of a text that is being typed is a text of its own.
  constexpr std::size_t kMostKept = 10'000;
  const auto found = m_counts.find(text);
  if (found != m_counts.end()) return found->second;
  if (m_counts.size() >= kMostKept) m_counts.clear();
  const auto tokens = static_cast<std::int64_t>(m_tokenizer->encode(text).size());
  m_counts.emplace(text, tokens);
  return tokens;
}

std::shared_ptr<TokenCounts> countsOf(const std::shared_ptr<const text::Tokenizer>& tokenizer,
                                      const std::shared_ptr<TokenCounts>& counts) {
  const bool isSame = counts && counts->tokenizer() == tokenizer;
  return isSame ? counts : std::make_shared<TokenCounts>(tokenizer);
}

}  // namespace spanscope::ui
