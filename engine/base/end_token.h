// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/ids.h"

#include <algorithm>
#include <string>
#include <vector>

namespace spanscope {

/// A token that ends a reply, and who says so.
struct EndToken {
  TokenId token = -1;
  std::vector<std::string> sources;  ///< each once: "config.json", "the chat template"
  bool operator==(const EndToken&) const = default;
};

/// Notes that `source` names the token, which stands in the list once.
inline void addEndToken(std::vector<EndToken>& tokens, TokenId token, const std::string& source) {
  auto entry = std::find_if(tokens.begin(), tokens.end(),
                            [token](const EndToken& known) { return known.token == token; });
  if (entry == tokens.end()) entry = tokens.insert(entry, EndToken{token, {}});
  std::vector<std::string>& sources = entry->sources;
  if (std::find(sources.begin(), sources.end(), source) == sources.end()) sources.push_back(source);
}

}  // namespace spanscope
