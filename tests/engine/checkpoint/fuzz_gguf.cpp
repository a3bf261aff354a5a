// SPDX-License-Identifier: GPL-3.0-or-later
// Any bytes are either refused with an error or give tensors within the file, and a tokenizer that never
// makes a marker of a text.
#include "engine/base/error.h"
#include "engine/checkpoint/gguf/gguf_file.h"
#include "engine/text/tokenizer.h"
#include "tests/engine/text/fuzz_tokenizer.h"

#include <cstddef>
#include <cstdint>
#include <vector>

using namespace spanscope;
using namespace spanscope::checkpoint;
using namespace spanscope::text;

namespace {

/// The first and the last block of a tensor.
void widenSome(const GgufTensor& tensor) {
  if (tensor.data.empty()) return;
  const compute::WeightFormatInfo& format = *tensor.format;
  const auto size = static_cast<std::size_t>(format.blockBytes);
  test::require(tensor.data.size() % size == 0);
  std::vector<float> values(static_cast<std::size_t>(format.blockElements));
  for (const std::size_t place : {std::size_t{0}, tensor.data.size() - size})
    compute::widen(format.format, tensor.data.data() + place, format.blockElements, values.data());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const GgufContents contents = parseGguf({reinterpret_cast<const std::byte*>(data), size}, "fuzz");
    for (const auto& [name, tensor] : contents.tensors) widenSome(tensor);
    const auto tokenizer = makeGgufTokenizer(contents.metadata);
    test::useTokenizer(*tokenizer);
  } catch (const Failure& failure) {
    test::require(!failure.error().found.empty() && !failure.error().expected.empty());
  }
  return 0;
}
