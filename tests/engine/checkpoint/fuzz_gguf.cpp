// SPDX-License-Identifier: GPL-3.0-or-later
// Any bytes are either refused with an error or give a tokenizer that never makes a marker of a text.
#include "engine/base/error.h"
#include "engine/checkpoint/gguf_metadata.h"
#include "engine/text/gguf_vocabulary.h"
#include "tests/engine/text/fuzz_tokenizer.h"

#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>

using namespace spanscope;
using namespace spanscope::checkpoint;
using namespace spanscope::text;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::istringstream stream(std::string(reinterpret_cast<const char*>(data), size));
  try {
    const auto tokenizer = makeGgufTokenizer(checkpoint::GgufMetadata::read(stream, size, "fuzz"));
    test::useTokenizer(*tokenizer);
  } catch (const Failure& failure) {
    test::require(!failure.error().found.empty() && !failure.error().expected.empty());
  }
  return 0;
}
