// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/text/tokenizer.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

namespace spanscope::ui {

/// Counts the tokens of texts and remembers the counts, because several views need the same counts. Use this
/// class only on the window's thread, which counts short texts itself.
class TokenCounts {
 public:
  /// Max bytes of a text that is counted immediately. Such a count takes a few milliseconds.
  static constexpr std::size_t kCountedAtOnce = 4096;

  /// If `tokenizer` is null, nothing can be counted.
  explicit TokenCounts(std::shared_ptr<const text::Tokenizer> tokenizer);
  ~TokenCounts();
  TokenCounts(const TokenCounts&) = delete;
  TokenCounts& operator=(const TokenCounts&) = delete;

  const std::shared_ptr<const text::Tokenizer>& tokenizer() const { return m_tokenizer; }
  /// Returns the number of tokens, or nothing while another thread is still counting a long text. Among
  /// waiting texts, the last requested one is counted first. Throws Failure if the tokenizer throws Failure.
  std::optional<std::int64_t> count(const std::string& text);
  /// Sets a function that is called on the window's thread when a missing count is known.
  void onCounted(std::function<void()> reported);

 private:
  struct Books;

  static void countNext(const std::shared_ptr<Books>& books,
                        const std::shared_ptr<const text::Tokenizer>& tokenizer, const std::stop_token& stop);

  std::shared_ptr<const text::Tokenizer> m_tokenizer;
  std::shared_ptr<Books> m_books;
  std::stop_source m_stop;
};

/// Returns `counts` if they belong to this tokenizer, else new counts.
std::shared_ptr<TokenCounts> countsOf(const std::shared_ptr<const text::Tokenizer>& tokenizer,
                                      const std::shared_ptr<TokenCounts>& counts);

}  // namespace spanscope::ui
