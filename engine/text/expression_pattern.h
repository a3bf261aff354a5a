// SPDX-License-Identifier: GPL-3.0-or-later
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

/// Translates an expression from Oniguruma's Ruby syntax, which tokenizers use, to PCRE2's syntax with the
/// options UTF, UCP and MULTILINE. The meaning stays the same. A construct that the two read differently, or
/// that PCRE2 lacks, is not translated.
TranslatedExpression translateExpression(std::string_view expression);

}  // namespace spanscope::text
