// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/sentencepiece_tokenizer.h"

#include "engine/base/error.h"
#include "engine/base/utf8.h"
#include "engine/text/added_tokens.h"
#include "engine/text/bpe_encoder.h"
#include "engine/text/piece_table.h"
#include "engine/text/sentencepiece_bpe.h"
#include "engine/text/sentencepiece_merges.h"
#include "engine/text/sentencepiece_unigram.h"
#include "engine/text/stop.h"

#include <algorithm>
#include <optional>

namespace spanscope::text {
namespace {

/// Runs of white space may be user-defined pieces, and belong to text; any other user-defined piece is a
/// marker.
bool isMarker(const SentencePiece& piece) {
  if (piece.type == SentencePiece::Type::Control) return true;
  if (piece.type != SentencePiece::Type::UserDefined) return false;
  const std::string plain = withoutSpaceMarks(piece.spelling);
  return plain.find_first_not_of(" \t\n\r\v\f") != std::string::npos;
}

bool isText(const SentencePiece& piece) {
  return piece.type == SentencePiece::Type::Normal || piece.type == SentencePiece::Type::UserDefined ||
         piece.type == SentencePiece::Type::Unused;
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
        piece.type = SentencePiece::Type::Control;
      } else if (piece.type == SentencePiece::Type::Byte) {
        const int byte = byteOfPiece(piece.spelling);
        known.bytes = std::string(1, static_cast<char>(static_cast<unsigned char>(byte)));
      } else if (piece.type == SentencePiece::Type::Unknown) {
        known.bytes = std::string(kReplacementCharacter);
      } else {
        known.bytes = withoutSpaceMarks(piece.spelling);
        known.display = known.bytes;
      }
      m_pieces.push_back(std::move(known));
    }
    if (model.algorithm == SentencePieceModel::Algorithm::Unigram) {
      if (std::none_of(model.pieces.begin(), model.pieces.end(), isText))
        throw Failure({file, "", "no piece that is text", "a sentencepiece model with pieces of text"});
      m_unigram.emplace(model);
      return;
    }
    m_pairs = bpeModelOf(model);
    if (!m_pairs) {
      m_merges.emplace(model);
      return;
    }
    for (std::size_t i = 0; i < model.pieces.size(); ++i) {
      const SentencePiece& piece = model.pieces[i];
      // One with a space that is not written as a mark is never found.
      if (piece.type != SentencePiece::Type::UserDefined || piece.spelling.find(' ') != std::string::npos)
        continue;
      AddedToken token;
      token.id = static_cast<TokenId>(i);
      m_userDefined.add(token, withoutSpaceMarks(piece.spelling));
    }
  }

 private:
  void encodeText(std::string_view text, const std::stop_token& stop, IdOutput& ids) const override {
    if (text.empty()) return;
    std::string valid = (m_dummyPrefix ? " " : "") + toValidUtf8(text);
    // A space mark in the text itself is a space, as for sentencepiece.
    if (valid.find(kSpaceMark) != std::string::npos) valid = withoutSpaceMarks(valid);
    if (m_pairs) {
      BpeEncoder pairs(*m_pairs, valid.size(), stop, ids);
      encodeByPairs(valid, stop, pairs, ids);
    } else if (m_unigram) {
      m_unigram->encode(valid, stop, ids);
    } else {
      encodeByMerges(valid, stop, ids);
    }
  }

  void encodeByPairs(std::string_view text, const std::stop_token& stop, BpeEncoder& pairs,
                     IdOutput& ids) const {
    m_userDefined.split(text, stop, [&](const TextPart& part) {
      if (part.id >= 0) {
        ids.ids().push_back(part.id);
        return ids.pass();
      }
      pairs.encodeWord(text.substr(part.range.begin, part.range.end - part.range.begin));
    });
  }

  void encodeByMerges(std::string_view text, const std::stop_token& stop, IdOutput& ids) const {
    constexpr std::size_t kPartBytes = 4096;
    while (!text.empty()) {
      throwIfStopped(stop);
      const std::size_t length = m_merges->partLength(text, kPartBytes, stop);
      m_merges->encode(text.substr(0, length), stop, ids);
      text.remove_prefix(length);
    }
  }

  bool m_dummyPrefix;
  // One of the three is there, as the model is.
  std::optional<BpeModel> m_pairs;
  std::optional<SentencePieceMerges> m_merges;
  std::optional<SentencePieceUnigram> m_unigram;
  AddedTokenFinder m_userDefined;
};

}  // namespace

std::unique_ptr<Tokenizer> makeSentencePieceTokenizer(SentencePieceModel model, const std::string& file) {
  return std::make_unique<SentencePieceTokenizer>(std::move(model), file);
}

}  // namespace spanscope::text
