// SPDX-License-Identifier: GPL-3.0-or-later
// Encodes text with the sentencepiece library. Open this file to change how the library is called.
#pragma once

#include "engine/text/sentencepiece_model.h"
#include "engine/text/tokenizer.h"

#include <memory>
#include <string>

namespace spanscope::text {

/// Makes a tokenizer that encodes with the sentencepiece library and a checked model. `file` is the name in
/// errors. Throws Failure if the library refuses the model.
std::unique_ptr<Tokenizer> makeSentencePieceTokenizer(SentencePieceModel model, const std::string& file);

}  // namespace spanscope::text
