// SPDX-License-Identifier: GPL-3.0-or-later
// Hides keys, passwords and access tokens in texts of a log. Every output of the doctor uses this file.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::doctor {

/// Written in place of a secret.
inline constexpr std::string_view kRedacted = "[redacted]";

struct SecretRange {
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// Returns the secrets of a text in order, without overlap:
/// - keys with a known beginning, such as "sk-", "ghp_", "AKIA" or "eyJ" with two dots (JWT);
/// - the value after a name and a colon or an equals sign. The names are "Authorization", "api-key",
///   "x-api-key", "cookie", "password", "secret" and "token";
/// - the word after "Bearer" or "Basic".
std::vector<SecretRange> secretsIn(std::string_view text);

/// Returns the bytes [begin, end) of a text. A secret that reaches into the range is hidden as a whole.
std::string redacted(std::string_view text, std::size_t begin = 0, std::size_t end = std::string_view::npos);

}  // namespace spanscope::doctor
