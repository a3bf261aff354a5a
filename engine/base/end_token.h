// SPDX-License-Identifier: GPL-3.0-or-later
// Defines an end token with the sources that name it. Open this file to add a source of end tokens.
#pragma once

#include "engine/base/ids.h"

#include <algorithm>
#include <string>
#include <vector>

namespace spanscope {

/// A token that ends an answer, and the sources that name this token.
struct EndToken {
  TokenId token = -1;
  std::vector<std::string> sources;  ///< each source once: "config.json", "the chat template"
  bool operator==(const EndToken&) const = default;
};

/// Adds `source` to the sources of `token`. Each token has one entry in the list.
inline void addEndToken(std::vector<EndToken>& tokens, TokenId token, const std::string& source) {
  auto entry = std::find_if(tokens.begin(), tokens.end(),
                            [token](const EndToken& known) { return known.token == token; });
  if (entry == tokens.end()) entry = tokens.insert(entry, EndToken{token, {}});
  std::vector<std::string>& sources = entry->sources;
  if (std::find(sources.begin(), sources.end(), source) == sources.end()) sources.push_back(source);
}

}  // namespace spanscope
