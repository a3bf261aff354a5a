// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/sentencepiece_bpe.h"

#include "engine/text/unicode.h"

#include <algorithm>
#include <array>
#include <functional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace spanscope::text {
namespace {

using Type = SentencePiece::Type;

/// sentencepiece joins two symbols whenever both together spell a piece, that with the highest score first.
/// So each way to cut a piece in two is a merge, and its rank is the place of the score.
class BpeModelBuilder {
 public:
  explicit BpeModelBuilder(const SentencePieceModel& source) : m_source(&source) {}

  std::optional<BpeModel> build() {
    addPieces();
    rankScores();
    for (const SentencePiece* piece : m_pieces) {
      if (!addMerges(*piece)) return std::nullopt;
    }
    // The library would spell the mark of a space in bytes.
    if (m_source->byteFallback && m_model.unitId(U' ') < 0) return std::nullopt;
    m_model.finish();
    return std::move(m_model);
  }

 private:
  TokenId idOf(const SentencePiece& piece) const {
    return static_cast<TokenId>(&piece - m_source->pieces.data());
  }

  void addPieces() {
    std::array<TokenId, 256> bytes{};
    for (const SentencePiece& piece : m_source->pieces) {
      const TokenId id = idOf(piece);
      if (piece.type == Type::Unknown) m_model.setUnknown(id, true);
      if (piece.type == Type::Byte) bytes[static_cast<std::size_t>(byteOfPiece(piece.spelling))] = id;
      if (piece.type == Type::UserDefined) m_userDefined.insert(piece.spelling);
      // A piece with a space that is not written as a mark is never found.
      const bool isFound = piece.spelling.find(' ') == std::string::npos;
      if ((piece.type == Type::Normal || piece.type == Type::Unused) && isFound) m_pieces.push_back(&piece);
    }
    if (m_source->byteFallback) m_model.setByteFallback(bytes);
    std::stable_sort(m_pieces.begin(), m_pieces.end(), [](const SentencePiece* a, const SentencePiece* b) {
      return a->spelling.size() < b->spelling.size();
    });
  }

  void rankScores() {
    for (const SentencePiece* piece : m_pieces) m_scores.push_back(piece->score);
    std::sort(m_scores.begin(), m_scores.end(), std::greater<>());
    m_scores.erase(std::unique(m_scores.begin(), m_scores.end()), m_scores.end());
  }

  /// Whether byte pairs can say how the piece is made. Its parts, which are shorter, were added before.
  bool addMerges(const SentencePiece& piece) {
    const std::string_view spelling = piece.spelling;
    std::size_t cut = characterLength(spelling.front());
    bool isMade = cut == spelling.size();
    if (isMade) m_model.addPiece(spelling == kSpaceMark ? " " : piece.spelling, idOf(piece));
    const auto place = std::lower_bound(m_scores.begin(), m_scores.end(), piece.score, std::greater<>());
    const auto rank = static_cast<std::uint32_t>(place - m_scores.begin());
    for (; cut < spelling.size(); cut += characterLength(spelling[cut])) {
      const std::string_view left = spelling.substr(0, cut);
      const std::string_view right = spelling.substr(cut);
      if (!isSymbol(left) || !isSymbol(right)) continue;
      const auto leftId = m_made.find(left);
      const auto rightId = m_made.find(right);
      if (piece.type == Type::Unused || leftId == m_made.end() || rightId == m_made.end()) return false;
      m_model.addMerge(leftId->second, rightId->second, rank, idOf(piece));
      isMade = true;
    }
    if (isMade) m_made.emplace(spelling, idOf(piece));
    return true;
  }

  bool isSymbol(std::string_view spelling) const {
    if (characterLength(spelling.front()) == spelling.size()) return !m_userDefined.contains(spelling);
    return m_made.contains(spelling);
  }

  const SentencePieceModel* m_source;
  BpeModel m_model{BpeModel::Units::Characters};
  std::vector<const SentencePiece*> m_pieces;  ///< that may be in a text, the shortest first
  std::vector<float> m_scores;                 ///< all different, the highest first
  std::unordered_set<std::string_view> m_userDefined;
  std::unordered_map<std::string_view, TokenId> m_made;  ///< what a text may become
};

}  // namespace

std::optional<BpeModel> bpeModelOf(const SentencePieceModel& model) {
  return BpeModelBuilder(model).build();
}

}  // namespace spanscope::text
