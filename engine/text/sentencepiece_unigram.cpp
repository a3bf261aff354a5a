// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/sentencepiece_unigram.h"

#include "engine/text/stop.h"
#include "engine/text/unicode.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

namespace spanscope::text {
namespace {

using Type = SentencePiece::Type;

/// Those that a text may become, with their spaces as a text has them. One with a space that is not written
/// as a mark is never found.
std::vector<std::pair<std::string, TokenId>> spellings(const SentencePieceModel& model) {
  std::vector<std::pair<std::string, TokenId>> found;
  for (std::size_t i = 0; i < model.pieces.size(); ++i) {
    const SentencePiece& piece = model.pieces[i];
    if (piece.type != Type::Normal && piece.type != Type::UserDefined) continue;
    if (piece.spelling.find(' ') != std::string::npos) continue;
    found.emplace_back(withoutSpaceMarks(piece.spelling), static_cast<TokenId>(i));
  }
  return found;
}

}  // namespace

SentencePieceUnigram::SentencePieceUnigram(const SentencePieceModel& model)
    : m_trie(spellings(model)), m_byteFallback(model.byteFallback) {
  // The library's own: how much less an unknown character counts than the rarest piece, where it begins to
  // look for the greatest score, so that this is never negative, and what a user-defined piece counts, so
  // that nothing else is taken where it stands.
  constexpr float kUnknownPenalty = 10;
  constexpr double kUserDefinedPenalty = 0.1;
  float greatestScore = std::numeric_limits<float>::min();
  float leastScore = std::numeric_limits<float>::max();
  for (const SentencePiece& piece : model.pieces) {
    if (piece.type != Type::Normal) continue;
    leastScore = std::min(leastScore, piece.score);
    greatestScore = std::max(greatestScore, piece.score);
  }
  m_unknownScore = leastScore - kUnknownPenalty;
  m_byteIds.fill(-1);
  m_scores.reserve(model.pieces.size());
  for (std::size_t i = 0; i < model.pieces.size(); ++i) {
    const SentencePiece& piece = model.pieces[i];
    const auto id = static_cast<TokenId>(i);
    if (piece.type == Type::Unknown) m_unknown = id;
    if (piece.type == Type::Byte) m_byteIds[static_cast<std::size_t>(byteOfPiece(piece.spelling))] = id;
    const bool isUserDefined = piece.type == Type::UserDefined;
    m_scores.push_back(isUserDefined
                           ? static_cast<float>(piece.spelling.size()) * greatestScore - kUserDefinedPenalty
                           : piece.score);
  }
}

/// From the last place that no piece lies across to where the pieces seen so far reach.
class SentencePieceUnigram::Way {
 public:
  Way(const SentencePieceUnigram& model, IdOutput& ids) : m_model(&model), m_ids(&ids), m_arrivals(1) {}

  /// Whether all ways lead through the place `bytes` after the beginning.
  bool isNarrow(std::size_t bytes) const { return bytes + 1 == m_arrivals.size(); }

  float scoreAt(std::size_t place) const { return m_arrivals[place].score; }

  /// Of equal ways the first one stays, as in the library. The sum is rounded only where it is kept.
  void arrive(std::size_t place, std::size_t length, TokenId id, double score) {
    if (m_arrivals.size() <= place) m_arrivals.resize(place + 1);
    Arrival& arrival = m_arrivals[place];
    if (arrival.length > 0 && score <= arrival.score) return;
    arrival = {.id = id, .score = static_cast<float>(score), .length = static_cast<std::uint32_t>(length)};
  }

  /// Gives the best way's pieces to its end, where all ways meet, and begins anew there. `text`: what lies on
  /// the way.
  void give(std::string_view text) {
    const Arrival end = m_arrivals.back();
    m_back.clear();
    for (std::size_t place = text.size(); place > 0; place -= m_arrivals[place].length)
      m_back.push_back(m_arrivals[place]);
    std::size_t place = 0;
    for (auto piece = m_back.rbegin(); piece != m_back.rend(); ++piece) {
      give(*piece, text.substr(place, piece->length));
      place += piece->length;
    }
    m_arrivals.assign(1, {.id = -1, .score = end.score, .length = 0});
  }

 private:
  void give(const Arrival& piece, std::string_view spelling) {
    const bool isUnknown = piece.id == m_model->m_unknown;
    if (isUnknown && m_model->m_byteFallback) {
      const std::string_view written = spelling == " " ? kSpaceMark : spelling;
      for (const char c : written) m_ids->ids().push_back(m_model->m_byteIds[static_cast<unsigned char>(c)]);
    } else if (!isUnknown || !m_lastUnknown) {
      m_ids->ids().push_back(piece.id);
    }
    m_lastUnknown = isUnknown;
    m_ids->pass();
  }

  const SentencePieceUnigram* m_model;
  IdOutput* m_ids;
  std::vector<Arrival>
      m_arrivals;  ///< by bytes from the beginning; the first one's score is that of all before
  std::vector<Arrival> m_back;
  bool m_lastUnknown = false;
};

void SentencePieceUnigram::encode(std::string_view text, const std::stop_token& stop, IdOutput& ids) const {
  constexpr std::size_t kPartBytes = 4096;
  StopPoll poll(stop);
  Way way(*this, ids);
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size();) {
    if (at - begin >= kPartBytes && way.isNarrow(at - begin)) {
      way.give(text.substr(begin, at - begin));
      begin = at;
    }
    const float before = way.scoreAt(at - begin);
    const std::size_t character = characterLength(text[at]);
    bool isCharacterKnown = false;
    PieceTrie::Node node = PieceTrie::kRoot;
    for (std::size_t end = at; end < text.size();) {
      poll.step();
      node = m_trie.child(node, text[end++]);
      if (node == PieceTrie::kNone) break;
      const TokenId id = m_trie.id(node);
      if (id < 0) continue;
      const std::size_t length = end - at;
      isCharacterKnown = isCharacterKnown || length == character;
      way.arrive(end - begin, length, id, m_scores[static_cast<std::size_t>(id)] + before);
    }
    if (!isCharacterKnown) way.arrive(at + character - begin, character, m_unknown, m_unknownScore + before);
    at += character;
  }
  way.give(text.substr(begin));
}

}  // namespace spanscope::text
