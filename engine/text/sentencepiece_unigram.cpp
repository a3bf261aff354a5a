// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/sentencepiece_unigram.h"

#include "engine/base/utf8.h"
#include "engine/text/stop.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <string>

namespace spanscope::text {
namespace {

using Type = SentencePiece::Type;

}  // namespace

SentencePieceUnigram::SentencePieceUnigram(const SentencePieceModel& model)
    : m_byteFallback(model.byteFallback) {
  // The library's own: how much less an unknown character counts than the rarest piece, and where it begins
  // to look for the greatest score, so that this is never negative.
  constexpr float kUnknownPenalty = 10;
  m_greatestScore = std::numeric_limits<float>::min();
  float leastScore = std::numeric_limits<float>::max();
  m_byteIds.fill(-1);
  std::vector<const SentencePiece*> sorted;
  for (std::size_t i = 0; i < model.pieces.size(); ++i) {
    const SentencePiece& piece = model.pieces[i];
    const auto id = static_cast<TokenId>(i);
    if (piece.type == Type::Unknown) m_unknown = id;
    if (piece.type == Type::Byte) m_byteIds[static_cast<std::size_t>(byteOfPiece(piece.spelling))] = id;
    if (piece.type == Type::Normal) {
      leastScore = std::min(leastScore, piece.score);
      m_greatestScore = std::max(m_greatestScore, piece.score);
    }
    if (piece.type == Type::Normal || piece.type == Type::UserDefined) sorted.push_back(&piece);
  }
  m_unknownScore = leastScore - kUnknownPenalty;
  std::sort(sorted.begin(), sorted.end(),
            [](const SentencePiece* a, const SentencePiece* b) { return a->spelling < b->spelling; });
  plant(sorted, model.pieces.data());
}

/// `begin`: the piece with the id 0.
void SentencePieceUnigram::plant(std::span<const SentencePiece* const> sorted, const SentencePiece* begin) {
  /// Pieces with the same first bytes, which lead to `node`.
  struct Branch {
    std::uint32_t node = 0;
    std::size_t first = 0;
    std::size_t end = 0;
    std::size_t depth = 0;
  };
  m_nodes.emplace_back();
  std::deque<Branch> branches = {{.node = kRoot, .first = 0, .end = sorted.size(), .depth = 0}};
  while (!branches.empty()) {
    Branch branch = branches.front();
    branches.pop_front();
    Node& node = m_nodes[branch.node];
    if (branch.first < branch.end && sorted[branch.first]->spelling.size() == branch.depth) {
      const SentencePiece& piece = *sorted[branch.first++];
      node.id = static_cast<TokenId>(&piece - begin);
      node.score = piece.score;
      node.isUserDefined = piece.type == Type::UserDefined;
    }
    node.first = static_cast<std::uint32_t>(m_children.size());
    for (std::size_t i = branch.first; i < branch.end;) {
      const char byte = sorted[i]->spelling[branch.depth];
      std::size_t end = i;
      while (end < branch.end && sorted[end]->spelling[branch.depth] == byte) ++end;
      const auto number = static_cast<std::uint32_t>(m_nodes.size() + (m_children.size() - node.first));
      m_bytes.push_back(static_cast<unsigned char>(byte));
      m_children.push_back(number);
      branches.push_back({.node = number, .first = i, .end = end, .depth = branch.depth + 1});
      i = end;
    }
    node.count = static_cast<std::uint32_t>(m_children.size() - node.first);
    m_nodes.resize(m_nodes.size() + node.count);
  }
}

std::uint32_t SentencePieceUnigram::child(std::uint32_t node, unsigned char byte) const {
  const Node& from = m_nodes[node];
  const auto first = m_bytes.begin() + from.first;
  const auto found = std::lower_bound(first, first + from.count, byte);
  if (found == first + from.count || *found != byte) return kNone;
  return m_children[static_cast<std::size_t>(found - m_bytes.begin())];
}

double SentencePieceUnigram::scoreOf(const Node& piece, std::size_t length) const {
  // The library's own, so that nothing else is taken where such a piece stands.
  constexpr double kUserDefinedPenalty = 0.1;
  if (!piece.isUserDefined) return piece.score;
  return static_cast<float>(length) * m_greatestScore - kUserDefinedPenalty;
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
      for (const char c : spelling) m_ids->ids().push_back(m_model->m_byteIds[static_cast<unsigned char>(c)]);
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
  const std::string written = withSpaceMarks(text);
  StopPoll poll(stop);
  Way way(*this, ids);
  std::size_t begin = 0;
  for (std::size_t at = 0; at < written.size();) {
    if (at - begin >= kPartBytes && way.isNarrow(at - begin)) {
      way.give(std::string_view(written).substr(begin, at - begin));
      begin = at;
    }
    const float before = way.scoreAt(at - begin);
    const std::size_t character = nextUtf8(std::string_view(written).substr(at)).length;
    bool isCharacterKnown = false;
    std::uint32_t node = kRoot;
    for (std::size_t end = at; end < written.size();) {
      poll.step();
      node = child(node, static_cast<unsigned char>(written[end++]));
      if (node == kNone) break;
      if (m_nodes[node].id < 0) continue;
      const std::size_t length = end - at;
      isCharacterKnown = isCharacterKnown || length == character;
      way.arrive(end - begin, length, m_nodes[node].id, scoreOf(m_nodes[node], length) + before);
    }
    if (!isCharacterKnown) way.arrive(at + character - begin, character, m_unknown, m_unknownScore + before);
    at += character;
  }
  way.give(std::string_view(written).substr(begin));
}

}  // namespace spanscope::text
