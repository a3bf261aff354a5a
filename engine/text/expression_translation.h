// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace spanscope::text {

/// A regular expression in the words of another library, or the construct that stands in the way.
struct TranslatedExpression {
  std::string expression;
  std::optional<std::string> unsupported;
};

/// Rewrites an expression of Oniguruma's Ruby syntax, in which tokenizers write theirs, to PCRE2's with the
/// options UTF, UCP and MULTILINE, so that it means the same. What the two read differently and what has no
/// counterpart is not translated.
TranslatedExpression translateExpression(std::string_view expression);

}  // namespace spanscope::text
