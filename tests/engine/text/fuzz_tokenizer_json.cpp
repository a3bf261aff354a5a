// SPDX-License-Identifier: GPL-3.0-or-later
// Any bytes are either refused with an error or give a tokenizer that never makes a marker of a text.
// Seeds: data/tokenizers/*/tokenizer.json.
#include "engine/base/error.h"
#include "engine/text/tokenizer.h"
#include "tests/engine/text/fuzz_tokenizer.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

using namespace spanscope;
using namespace spanscope::text;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  try {
    const auto tokenizer = makeJsonTokenizer(bytes, "fuzz");
    test::useTokenizer(*tokenizer);
  } catch (const Failure& failure) {
    test::require(!failure.error().found.empty() && !failure.error().expected.empty());
  }
  return 0;
}
