// SPDX-License-Identifier: GPL-3.0-or-later
// Writes sentencepiece models, for tests that make their own.
#pragma once

#include "engine/text/sentencepiece_model.h"

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

namespace spanscope::text::test {

inline void appendVarint(std::string& out, std::uint64_t value) {
  while (value >= 0x80) {
    out += static_cast<char>(static_cast<unsigned char>((value & 0x7FU) | 0x80U));
    value >>= 7U;
  }
  out += static_cast<char>(static_cast<unsigned char>(value));
}

inline void appendInteger(std::string& out, std::uint32_t number, std::uint64_t value) {
  appendVarint(out, std::uint64_t{number} << 3U);
  appendVarint(out, value);
}

inline void appendBytes(std::string& out, std::uint32_t number, std::string_view bytes) {
  appendVarint(out, (std::uint64_t{number} << 3U) | 2U);
  appendVarint(out, bytes.size());
  out += bytes;
}

inline void appendFloat(std::string& out, std::uint32_t number, float value) {
  appendVarint(out, (std::uint64_t{number} << 3U) | 5U);
  const auto bits = std::bit_cast<std::uint32_t>(value);
  for (unsigned shift = 0; shift < 32; shift += 8) {
    out += static_cast<char>(static_cast<unsigned char>((bits >> shift) & 0xFFU));
  }
}

/// A ModelProto with only these fields, and without the dummy prefix.
inline std::string serializeSentencePieceModel(const SentencePieceModel& model) {
  // Numbers of the fields of sentencepiece_model.proto.
  constexpr std::uint32_t kModelPieces = 1;
  constexpr std::uint32_t kModelTrainerSpec = 2;
  constexpr std::uint32_t kModelNormalizerSpec = 3;
  constexpr std::uint32_t kPieceSpelling = 1;
  constexpr std::uint32_t kPieceScore = 2;
  constexpr std::uint32_t kPieceType = 3;
  constexpr std::uint32_t kTrainerModelType = 3;
  constexpr std::uint32_t kTrainerByteFallback = 35;
  constexpr std::uint32_t kNormalizerName = 1;
  constexpr std::uint32_t kNormalizerAddDummyPrefix = 3;
  constexpr std::uint32_t kNormalizerRemoveExtraWhitespaces = 4;
  constexpr std::uint32_t kNormalizerEscapeWhitespaces = 5;
  std::string out;
  std::string message;
  for (const SentencePiece& piece : model.pieces) {
    message.clear();
    appendBytes(message, kPieceSpelling, piece.spelling);
    appendFloat(message, kPieceScore, piece.score);
    appendInteger(message, kPieceType, static_cast<std::uint64_t>(piece.type));
    appendBytes(out, kModelPieces, message);
  }
  message.clear();
  appendInteger(message, kTrainerModelType, static_cast<std::uint64_t>(model.algorithm));
  appendInteger(message, kTrainerByteFallback, model.byteFallback ? 1 : 0);
  appendBytes(out, kModelTrainerSpec, message);
  message.clear();
  appendBytes(message, kNormalizerName, "identity");
  appendInteger(message, kNormalizerAddDummyPrefix, 0);
  appendInteger(message, kNormalizerRemoveExtraWhitespaces, 0);
  appendInteger(message, kNormalizerEscapeWhitespaces, 1);
  appendBytes(out, kModelNormalizerSpec, message);
  return out;
}

}  // namespace spanscope::text::test
