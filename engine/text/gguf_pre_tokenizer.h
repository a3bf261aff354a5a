// SPDX-License-Identifier: GPL-3.0-or-later
// The table of pre-tokenizers that a GGUF file can name in `tokenizer.ggml.pre`. Open this file when the
// pre-tokenizer of a GGUF file is unknown.
#pragma once

#include "engine/text/text_pipeline.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::text {

/// The rules of one pre-tokenizer. Byte-pair vocabularies of GGUF files have one, and name it.
struct GgufPreTokenizer {
  /// The spelling of the pieces in the file.
  enum class Alphabet : std::uint8_t {
    ByteLetters,  ///< GPT-2's alphabet: one printable character per byte
    SpaceMarks    ///< plain UTF-8 with U+2581 for a space, and byte pieces "<0x00>" … "<0xFF>"
  };

  std::vector<std::string_view> names;        ///< equal rules have several names
  std::vector<std::string_view> expressions;  ///< each splits the words of the previous expression
  Alphabet alphabet = Alphabet::ByteLetters;
  bool normalized = false;       ///< the text is put in the normal form C
  bool wholeWordsFirst = false;  ///< a word that is a piece is not split
};

/// Returns the rules of a name, or null if the name is unknown.
const GgufPreTokenizer* findGgufPreTokenizer(std::string_view name);

/// Returns all known names, ordered alphabetically.
std::vector<std::string_view> ggufPreTokenizerNames();

/// Makes the steps that split a text into words. The words of these steps are not encoded yet.
std::vector<std::unique_ptr<const PreTokenizer>> stepsOf(const GgufPreTokenizer& rules);

}  // namespace spanscope::text
