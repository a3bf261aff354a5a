// SPDX-License-Identifier: GPL-3.0-or-later
// An adapter of any bytes is either refused with an error or has pairs of the sizes in its header. The first
// two bytes say how many bytes its adapter_config.json has; the others are its tensors. Seeds: adapters as
// make_adapters.py writes them, joined in this form.
#include "engine/base/error.h"
#include "engine/model/adapter.h"
#include "tests/engine/model/fuzz_scratch.h"

#include <algorithm>

using namespace spanscope;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  static const model::test::FuzzScratch scratch;
  const std::size_t head = std::min(size - 2, std::size_t{data[0]} + (std::size_t{data[1]} << 8U));
  scratch.write("adapter_config.json", data + 2, head);
  scratch.write("adapter_model.safetensors", data + 2 + head, size - 2 - head);
  try {
    const model::Adapter adapter = model::Adapter::open(scratch.folder());
    for (const auto& [name, pair] : adapter.pairs()) {
      model::test::require(!name.empty() && pair.rank > 0 && pair.rows > 0 && pair.columns > 0);
      model::test::require(pair.down.size() == static_cast<std::size_t>(pair.rank * pair.columns));
      model::test::require(pair.up.size() == static_cast<std::size_t>(pair.rows * pair.rank));
    }
  } catch (const Failure& failure) {
    model::test::require(!failure.error().found.empty() && !failure.error().expected.empty());
  }
  return 0;
}
