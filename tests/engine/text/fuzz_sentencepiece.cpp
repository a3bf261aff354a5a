// SPDX-License-Identifier: GPL-3.0-or-later
// A tokenizer.model of any bytes is either refused with an error or gives a tokenizer that never makes a
// marker of a text. Seeds: data/tokenizers/*/tokenizer.model.
#include "engine/base/error.h"
#include "engine/text/sentencepiece_tokenizer.h"
#include "tests/engine/text/fuzz_tokenizer.h"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

using namespace spanscope;
using namespace spanscope::text;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  try {
    SentencePieceModel model = parseSentencePieceModel(bytes, "fuzz");
    checkSentencePieceModel(model, "fuzz");
    test::useTokenizer(*makeSentencePieceTokenizer(std::move(model), "fuzz"));
  } catch (const Failure& failure) {
    test::require(!failure.error().found.empty() && !failure.error().expected.empty());
  }
  return 0;
}
