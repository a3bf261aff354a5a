// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/utf8.h"
#include "engine/text/tokenizer.h"

#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::text::test {

inline void require(bool holds) {
  if (!holds) std::abort();
}

/// Encodes texts that are hard for a tokenizer. They also hold the spelling of every id and some of the
/// tokenizer's own pieces.
inline void useTokenizer(const Tokenizer& tokenizer) {
  std::vector<std::string> texts = {
      "",
      "Mira lives in Lisbon, doesn't she?",
      "  \n\n\t x 12345 '\xC5\xBF",
      "\xF0\x9F\x98\x80 e\xCC\x81\xCC\xA3 \xE6\x97\xA5\xE6\x9C\xAC \xE2\x96\x81 <0x41><unk><|end|>",
      "\xFF\xC3",
      std::string(300, 'a'),
      std::string(300, ' ')};
  for (TokenId id = 0; id < tokenizer.vocabularySize() && id < 64; ++id) {
    texts.push_back(tokenizer.display(id) + tokenizer.bytes(id));
  }
  for (const std::string& text : texts) {
    const std::vector<TokenId> ids = tokenizer.encode(text);
    for (const TokenId id : ids) {
      require(id >= 0 && id < tokenizer.vocabularySize());
      require(!tokenizer.isControl(id));
    }
    StreamDecoder decoder(tokenizer);
    std::string streamed;
    for (const TokenId id : ids) streamed += decoder.push(id);
    require(streamed + decoder.finish() == tokenizer.decode(ids));
    require(isValidUtf8(tokenizer.decode(ids)));
  }
}

}  // namespace spanscope::text::test
