// SPDX-License-Identifier: GPL-3.0-or-later
// Reads a sentencepiece model file, which is untrusted, and encodes text with the sentencepiece library. "The
// library" in comments means Google's sentencepiece, which defines the correct result. Open this file when a
// tokenizer.model is refused, or to change how the library is called.
#pragma once

#include "engine/text/tokenizer.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::text {

/// The space in a sentencepiece piece (U+2581).
inline constexpr std::string_view kSpaceMark = "\xE2\x96\x81";

struct SentencePiece {
  enum class Type : std::uint8_t {
    Normal = 1,
    Unknown = 2,
    Control = 3,
    UserDefined = 4,
    Unused = 5,
    Byte = 6
  };
  std::string spelling;  ///< valid UTF-8, not empty; spaces are written as U+2581
  float score = 0;
  Type type = Type::Normal;
};

struct SentencePieceModel {
  enum class Algorithm : std::uint8_t { Unigram = 1, Bpe = 2 };
  Algorithm algorithm = Algorithm::Unigram;
  bool byteFallback = false;    ///< byte pieces encode text that no piece covers
  bool addDummyPrefix = false;  ///< a text is encoded with a space before it
  std::vector<SentencePiece> pieces;
};

/// Max number of pieces of a vocabulary, and max number of bytes of a piece.
inline constexpr std::size_t kMaxPieces = std::size_t{1} << 21U;
inline constexpr std::size_t kMaxPieceBytes = 4096;

/// Parses a serialized ModelProto. Accepts unigram and BPE models that do not change the text. Such models
/// have no character map, keep white space, and write spaces as U+2581 before the word. `file` is the name in
/// errors. Throws Failure.
SentencePieceModel parseSentencePieceModel(std::string_view bytes, const std::string& file);

/// Checks a model. Throws Failure unless all of this is true:
/// - Every piece is usable, and all pieces are different.
/// - Exactly one piece is the unknown piece.
/// - The byte pieces are complete if the model declares byte fallback.
void checkSentencePieceModel(const SentencePieceModel& model, const std::string& file);

/// Returns the model as a ModelProto, with the identity as its normalizer. The library reads all of its
/// fields.
std::string serializeSentencePieceModel(const SentencePieceModel& model);

/// Returns the text with a space for each U+2581.
std::string withoutSpaceMarks(std::string_view text);

/// Returns the value of a byte piece's spelling "<0x00>" … "<0xFF>", or −1 for any other spelling.
int byteOfPiece(std::string_view spelling);

/// Makes a tokenizer that encodes with the sentencepiece library and a checked model. `file` is the name in
/// errors. Throws Failure if the library refuses the model.
std::unique_ptr<Tokenizer> makeSentencePieceTokenizer(SentencePieceModel model, const std::string& file);

}  // namespace spanscope::text
