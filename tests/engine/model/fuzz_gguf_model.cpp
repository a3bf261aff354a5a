// SPDX-License-Identifier: GPL-3.0-or-later
// A GGUF file of any bytes is either refused with an error or becomes a model: a configuration with memory
// sizes and words, weights of the declared sizes, and a tokenizer that never makes a marker from a text.
// Seeds: GGUF files of small models, such as make_gguf.py and make_quantised.py write.
#include "engine/base/error.h"
#include "engine/checkpoint/checkpoint.h"
#include "engine/model/config.h"
#include "engine/model/weights.h"
#include "engine/text/chat_template.h"
#include "tests/engine/model/fuzz_scratch.h"
#include "tests/engine/text/fuzz_tokenizer.h"

#include <functional>

using namespace spanscope;

namespace {

void refusesOr(const std::function<void()>& work) {
  try {
    work();
  } catch (const Failure& failure) {
    model::test::require(!failure.error().found.empty() && !failure.error().expected.empty());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const model::test::FuzzScratch scratch;
  scratch.write("model.gguf", data, size);
  const checkpoint::Checkpoint checkpoint(scratch.folder() / "model.gguf");
  refusesOr([&] {
    const model::ModelConfig config = model::readConfig(checkpoint);
    model::test::require(!model::fingerprint(config).empty() && !model::attentionText(config).empty() &&
                         !model::relocationText(config).empty());
    const auto weights = model::openWeights(checkpoint, config);
    model::test::require(!weights->fingerprint().empty());
  });
  refusesOr([&] { text::test::useTokenizer(*text::loadTokenizer(checkpoint)); });
  refusesOr([&] { text::templateSource(checkpoint); });
  refusesOr([&] { text::findChatTemplate(checkpoint); });
  return 0;
}
