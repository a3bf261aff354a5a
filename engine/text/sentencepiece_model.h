// SPDX-License-Identifier: GPL-3.0-or-later
// The contents of a sentencepiece model file, which is untrusted. Where comments speak of the library, they
// mean Google's sentencepiece, which sets the standard.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::text {

/// How sentencepiece writes a space in a piece (U+2581).
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
  bool byteFallback = false;    ///< text that no piece covers is spelled with byte pieces
  bool addDummyPrefix = false;  ///< a text is encoded as if a space stood before it
  std::vector<SentencePiece> pieces;
};

/// Most pieces of a vocabulary, and most bytes of a piece.
inline constexpr std::size_t kMaxPieces = std::size_t{1} << 21U;
inline constexpr std::size_t kMaxPieceBytes = 4096;

/// Parses a serialized ModelProto. It accepts unigram and BPE models that do not change the text: without a
/// character map, without removal of white space, and with spaces written as U+2581 before the word. `file`
/// is the name in errors. Throws Failure.
SentencePieceModel parseSentencePieceModel(std::string_view bytes, const std::string& file);

/// Throws Failure unless every piece is usable, all pieces are different, exactly one piece is the unknown
/// one, and the byte pieces are complete if the model declares byte fallback.
void checkSentencePieceModel(const SentencePieceModel& model, const std::string& file);

/// The model as a ModelProto, with the identity as its normalizer. The library reads all of its fields.
std::string serializeSentencePieceModel(const SentencePieceModel& model);

/// The text with a space in place of each U+2581.
std::string withoutSpaceMarks(std::string_view text);

/// The value of a byte piece's spelling "<0x00>" … "<0xFF>"; −1 for any other spelling.
int byteOfPiece(std::string_view spelling);

}  // namespace spanscope::text
