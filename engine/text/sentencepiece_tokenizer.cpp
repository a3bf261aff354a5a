// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/sentencepiece_tokenizer.h"

#include "engine/base/error.h"
#include "engine/base/utf8.h"
#include "engine/text/piece_table.h"
#include "engine/text/sentencepiece_merges.h"
#include "engine/text/sentencepiece_unigram.h"
#include "engine/text/stop.h"

#include <sentencepiece_processor.h>

#include <algorithm>
#include <exception>
#include <optional>

namespace spanscope::text {
namespace {

std::string replaceAll(std::string_view text, std::string_view from, std::string_view to) {
  std::string result;
  std::size_t position = 0;
  while (true) {
    const std::size_t next = text.find(from, position);
    result += text.substr(position, next - position);
    if (next == std::string_view::npos) return result;
    result += to;
    position = next + from.size();
  }
}

/// Runs of white space may be user-defined pieces, and belong to text; any other user-defined piece is a
/// marker.
bool isMarker(const SentencePiece& piece) {
  if (piece.type == SentencePiece::Type::Control) return true;
  if (piece.type != SentencePiece::Type::UserDefined) return false;
  const std::string plain = replaceAll(piece.spelling, kSpaceMark, " ");
  return plain.find_first_not_of(" \t\n\r\v\f") != std::string::npos;
}

class SentencePieceTokenizer final : public PieceTable {
 public:
  SentencePieceTokenizer(SentencePieceModel model, const std::string& file)
      : PieceTable(file), m_dummyPrefix(model.addDummyPrefix) {
    m_pieces.reserve(model.pieces.size());
    for (std::size_t i = 0; i < model.pieces.size(); ++i) {
      SentencePiece& piece = model.pieces[i];
      const auto id = static_cast<TokenId>(i);
      Piece known{.bytes = {}, .display = {}, .known = true};
      known.display = piece.spelling;
      if (isMarker(piece)) {
        known.control = true;
        m_controlIds.emplace(piece.spelling, id);
        // The library gets markers under names that no UTF-8 text can spell.
        piece.spelling = "\xFF" + std::to_string(i);
        piece.type = SentencePiece::Type::Control;
      } else if (piece.type == SentencePiece::Type::Byte) {
        const int byte = byteOfPiece(piece.spelling);
        known.bytes = std::string(1, static_cast<char>(static_cast<unsigned char>(byte)));
        m_byteIds.resize(256, -1);
        m_byteIds[static_cast<std::size_t>(byte)] = id;
      } else if (piece.type == SentencePiece::Type::Unknown) {
        known.bytes = std::string(kReplacementCharacter);
        piece.spelling = "\xFF" + std::to_string(i);
      } else {
        known.bytes = replaceAll(piece.spelling, kSpaceMark, " ");
        known.display = known.bytes;
      }
      m_pieces.push_back(std::move(known));
    }
    if (model.algorithm == SentencePieceModel::Algorithm::Bpe) {
      m_merges.emplace(model);
    } else {
      m_unigram.emplace(model);
    }
    std::string problem;
    try {
      const sentencepiece::util::Status status =
          m_processor.LoadFromSerializedProto(serializeSentencePieceModel(model));
      if (status.ok()) return;
      problem = status.ToString();
    } catch (const std::exception& exception) {
      problem = exception.what();
    }
    throw Failure(
        {file, "", "a vocabulary that sentencepiece refuses (" + problem + ")", "a sentencepiece model"});
  }

 private:
  void encodeText(std::string_view text, const std::stop_token& stop, IdOutput& ids) const override {
    if (text.empty()) return;
    const std::string valid = (m_dummyPrefix ? " " : "") + toValidUtf8(text);
    // A space mark in the text itself would come back as a space, so it is spelled in bytes.
    std::string_view rest = valid;
    while (!rest.empty()) {
      const std::size_t mark = m_byteIds.empty() ? std::string_view::npos : rest.find(kSpaceMark);
      encodePlain(rest.substr(0, mark), stop, ids);
      if (mark == std::string_view::npos) break;
      for (const char c : kSpaceMark) ids.ids().push_back(m_byteIds[static_cast<unsigned char>(c)]);
      rest.remove_prefix(mark + kSpaceMark.size());
    }
  }

  /// What is long the library would not let go of.
  void encodePlain(std::string_view text, const std::stop_token& stop, IdOutput& ids) const {
    // So much takes the library a millisecond or two.
    constexpr std::size_t kPartBytes = 4096;
    constexpr std::size_t kMostPartBytes = 65536;
    while (!text.empty()) {
      throwIfStopped(stop);
      const std::size_t length = m_merges ? m_merges->partLength(text, kPartBytes, stop) : text.size();
      const std::string_view part = text.substr(0, length);
      if (length <= kMostPartBytes) {
        encodePart(part, ids);
      } else if (m_merges) {
        m_merges->encode(part, stop, ids);
      } else {
        m_unigram->encode(part, stop, ids);
      }
      text.remove_prefix(length);
    }
  }

  void encodePart(std::string_view text, IdOutput& ids) const {
    std::vector<int> pieces;
    const sentencepiece::util::Status status = m_processor.Encode({text.data(), text.size()}, &pieces);
    if (!status.ok()) {
      throw Failure(
          {"", "text", "a text that sentencepiece cannot encode (" + status.ToString() + ")", "UTF-8"});
    }
    ids.ids().insert(ids.ids().end(), pieces.begin(), pieces.end());
    ids.pass();
  }

  bool m_dummyPrefix;
  std::vector<TokenId> m_byteIds;               ///< by byte; empty without byte fallback
  std::optional<SentencePieceMerges> m_merges;  ///< or the next, as the model is
  std::optional<SentencePieceUnigram> m_unigram;
  sentencepiece::SentencePieceProcessor m_processor;
};

}  // namespace

std::unique_ptr<Tokenizer> makeSentencePieceTokenizer(SentencePieceModel model, const std::string& file) {
  return std::make_unique<SentencePieceTokenizer>(std::move(model), file);
}

}  // namespace spanscope::text
