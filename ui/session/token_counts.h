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

/// How many tokens texts have, remembered: the canvas, the problems and whoever counts them ask for the same
/// texts in turn. Of the thread that the window is on, which counts short texts itself.
class TokenCounts {
 public:
  /// Bytes of a text that is counted at once: that takes a few milliseconds.
  static constexpr std::size_t kCountedAtOnce = 4096;

  /// `tokenizer`: null, and nothing can be counted.
  explicit TokenCounts(std::shared_ptr<const text::Tokenizer> tokenizer);
  ~TokenCounts();
  TokenCounts(const TokenCounts&) = delete;
  TokenCounts& operator=(const TokenCounts&) = delete;

  const std::shared_ptr<const text::Tokenizer>& tokenizer() const { return m_tokenizer; }
  /// Nothing while a long text is being counted beside the event loop; of several the one that was asked for
  /// last comes first. Throws Failure as the tokenizer does.
  std::optional<std::int64_t> count(const std::string& text);
  /// `told` is called on the window's thread when a number has come that was missing.
  void onCounted(std::function<void()> told);

 private:
  struct Books;

  static void countNext(const std::shared_ptr<Books>& books,
                        const std::shared_ptr<const text::Tokenizer>& tokenizer, const std::stop_token& stop);

  std::shared_ptr<const text::Tokenizer> m_tokenizer;
  std::shared_ptr<Books> m_books;
  std::stop_source m_stop;
};

/// `counts` where they are of this tokenizer, else new ones.
std::shared_ptr<TokenCounts> countsOf(const std::shared_ptr<const text::Tokenizer>& tokenizer,
                                      const std::shared_ptr<TokenCounts>& counts);

}  // namespace spanscope::ui
