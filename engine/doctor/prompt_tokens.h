// SPDX-License-Identifier: GPL-3.0-or-later
// Converts logged requests to tokens, with the tokenizer and the chat template of a model. Without a model,
// the code estimates tokens from the length of the text. Open this file to support another way to count
// tokens.
#pragma once

#include "engine/base/ids.h"
#include "engine/checkpoint/checkpoint.h"
#include "engine/doctor/logged_request.h"

#include <cstddef>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::doctor {

/// Numbers of sections. Messages have their index.
inline constexpr std::int32_t kToolsSection = -1;
inline constexpr std::int32_t kEndSection = -2;  ///< generation prompt

/// Tokens [begin, end) of a prompt.
struct SectionTokens {
  std::int32_t section = 0;
  std::size_t begin = 0;
  std::size_t end = 0;
};

struct PromptTokens {
  std::vector<TokenId> ids;             ///< prompt, then the computed tokens of the answer
  std::size_t prompt = 0;               ///< tokens of the prompt
  std::vector<SectionTokens> sections;  ///< of the prompt, in order; together they have all its tokens
  bool isEstimated = false;

  /// Returns the section of a token of the prompt.
  std::int32_t sectionAt(std::size_t token) const;
};

class PromptTokenizer {
 public:
  virtual ~PromptTokenizer() = default;
  /// Throws Failure if the prompt cannot be rendered, and after a stop.
  virtual PromptTokens tokens(const LoggedRequest& request, const std::stop_token& stop = {}) const = 0;
  /// Returns the text of each token of the prompt. A token without text, such as the beginning of a message,
  /// has a name in brackets: "‹role user›". A text can be a part of a UTF-8 character. The texts contain the
  /// secrets of the request.
  virtual std::vector<std::string> pieces(const LoggedRequest& request, const PromptTokens& tokens) const = 0;
  /// Describes the source of the tokens for the user: "estimated from the length of the text, …".
  virtual std::string setting() const = 0;
  virtual bool isEstimated() const = 0;
};

/// Counts about four bytes as a token. A token is a piece of a word, of a number, or of white space. A token
/// is never a part of a character. Each word begins a new piece. Equal texts therefore have equal tokens at
/// any place.
std::unique_ptr<PromptTokenizer> makeEstimate();

/// Appends the estimated tokens of a text.
void estimateTokens(std::string_view text, std::vector<TokenId>& ids);

/// Uses a model's tokenizer, and its chat template, which Jinja renders with tools and calls as servers do.
/// Requests of plain messages use the table of templates if the template has an entry. Throws Failure if the
/// files cannot be used.
std::unique_ptr<PromptTokenizer> makeModelTokenizer(const checkpoint::Checkpoint& checkpoint);

/// Returns the text of a section, for comparisons and excerpts.
std::string sectionText(const LoggedRequest& request, std::int32_t section);
/// Returns the text of a message: its parts, with a line that names each call.
std::string messageText(const Message& message);
/// Returns the name of a section for the user: "tools", "system message", "message 3 (user)".
std::string sectionName(const LoggedRequest& request, std::int32_t section);

}  // namespace spanscope::doctor
