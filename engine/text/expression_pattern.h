// SPDX-License-Identifier: GPL-3.0-or-later
// Translates and runs the regular expressions of tokenizers. Open this file when an expression is refused.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace spanscope::text {

/// A regular expression in the syntax of another library, or the construct that prevents the translation.
struct TranslatedExpression {
  std::string expression;
  std::optional<std::string> unsupported;
};

/// Translates an expression from Oniguruma's Ruby syntax, which tokenizers use, to PCRE2's syntax. The result
/// needs the options UTF, UCP and MULTILINE. The meaning stays the same. Constructs that PCRE2 lacks or reads
/// differently are not translated.
TranslatedExpression translateExpression(std::string_view expression);

}  // namespace spanscope::text
