// SPDX-License-Identifier: GPL-3.0-or-later
// A config.json of any bytes is either refused with an error or becomes a model with words and a fingerprint
// for any context. Seeds: data/*/config.json.
#include "engine/base/error.h"
#include "engine/model/config.h"
#include "tests/engine/model/fuzz_scratch.h"

#include <limits>
#include <string_view>

using namespace spanscope;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    model::ModelConfig config =
        model::parseConfig(std::string_view(reinterpret_cast<const char*>(data), size), "fuzz");
    for (const std::int64_t context : {std::int64_t{1}, std::int64_t{5000}, std::int64_t{1} << 40}) {
      model::fixContext(config, context);
      model::test::require(!model::fingerprint(config).empty() && !model::attentionText(config).empty() &&
                           !model::relocationText(config).empty());
      model::test::require(config.maxPositions > 0 && config.layers > 0);
    }
  } catch (const Failure& failure) {
    model::test::require(!failure.error().found.empty() && !failure.error().expected.empty());
  }
  return 0;
}
