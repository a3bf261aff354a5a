// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/word_tokenizers.h"

#include "engine/base/counted.h"
#include "engine/base/error.h"
#include "engine/base/utf8.h"
#include "engine/text/bpe_tokenizer.h"
#include "engine/text/sentencepiece_tokenizer.h"
#include "engine/text/stop.h"
#include "engine/text/unicode.h"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <string_view>
#include <unordered_map>

namespace spanscope::text {
namespace {

/// Finds a piece by a part of a text, without a copy of the part.
struct PartHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};
using IdsBySpelling = std::unordered_map<std::string, TokenId, PartHash, std::equal_to<>>;

/// The table of pieces of a model of words.
class WordTokenizer : public PipelineTokenizer {
 protected:
  WordTokenizer(PipelineDescription& description, const std::string& file, std::string place)
      : PipelineTokenizer(description, file), m_place(std::move(place)) {}

  Failure fail(std::string found, std::string expected) const {
    return Failure({source(), m_place, std::move(found), std::move(expected)});
  }

  void addPiece(const std::string& spelling, TokenId id, std::string bytes) {
    if (id < 0 || static_cast<std::size_t>(id) >= 2 * kMaxVocabulary) {
      throw fail("the id " + std::to_string(id) + " of \"" + toValidUtf8(spelling) + "\"",
                 "an id from 0 to " + std::to_string(2 * kMaxVocabulary - 1));
    }
    if (!m_ids.emplace(spelling, id).second)
      throw fail("\"" + spelling + "\" for the second time", "every piece once");
    const auto index = static_cast<std::size_t>(id);
    if (index >= m_pieces.size()) m_pieces.resize(index + 1);
    Piece& piece = m_pieces[index];
    if (piece.known) throw fail("the id " + std::to_string(id) + " for two pieces", "every id once");
    piece.known = true;
    piece.display = spelling;
    piece.bytes = std::move(bytes);
  }

  void addTokens(const std::vector<AddedToken>& tokens) {
    for (const AddedToken& token : tokens) {
      const auto known = m_ids.find(token.content);
      if (known == m_ids.end()) {
        addPiece(token.content, token.id, {});
      } else if (known->second != token.id) {
        throw fail("the added token \"" + token.content + "\" with the id " + std::to_string(token.id),
                   "its id in the vocabulary, " + std::to_string(known->second));
      }
      Piece& piece = m_pieces[static_cast<std::size_t>(token.id)];
      piece.bytes = token.special ? std::string() : token.content;
      piece.control = token.special;
      piece.takenSpace = {.before = token.leftStrip, .after = token.rightStrip};
      if (token.special) m_controlIds.emplace(token.content, token.id);
      findToken(token);
    }
  }

  /// Lets this piece stand for text that no other piece covers.
  void showAsUnknown(TokenId id) {
    Piece& piece = m_pieces[static_cast<std::size_t>(id)];
    m_controlIds.erase(piece.display);
    piece.bytes = std::string(kReplacementCharacter);
    piece.control = false;
  }

  /// Returns the id of a piece that a text can have, or −1. No text becomes a control piece by its spelling.
  TokenId textPiece(std::string_view spelling) const {
    const auto found = m_ids.find(spelling);
    return found == m_ids.end() || isControl(found->second) ? -1 : found->second;
  }
  std::optional<TokenId> idOf(const std::string& spelling) const {
    const auto found = m_ids.find(spelling);
    return found == m_ids.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  std::string m_place;
  IdsBySpelling m_ids;
};

/// Keeps the best sequence of pieces up to each place of a word.
struct BestEnd {
  double score = 0;
  std::size_t begin = 0;  ///< of the last piece
  TokenId id = -1;        ///< of the last piece; −1: no sequence ends here
};

class UnigramTokenizer final : public WordTokenizer {
 public:
  UnigramTokenizer(UnigramDescription description, const std::string& file, const std::string& place)
      : WordTokenizer(description, file, place) {
    if (description.pieces.empty()) throw fail("no pieces", "a vocabulary");
    std::size_t bytePieces = 0;
    for (std::size_t i = 0; i < description.pieces.size(); ++i) {
      const auto& [spelling, score] = description.pieces[i];
      const auto id = static_cast<TokenId>(i);
      const int byte = description.byteFallback ? byteOfPiece(spelling) : -1;
      if (byte >= 0) {
        m_bytes[static_cast<std::size_t>(byte)] = id;
        ++bytePieces;
        addPiece(spelling, id, std::string(1, static_cast<char>(static_cast<unsigned char>(byte))));
      } else {
        addPiece(spelling, id, withSpaces(spelling, description.spaceMark));
        m_longest = std::max(m_longest, spelling.size());
      }
      m_scores.push_back(score);
    }
    m_fallsBack = bytePieces == m_bytes.size();
    m_unknownScore = *std::min_element(m_scores.begin(), m_scores.end()) - kUnknownPenalty;
    addTokens(description.addedTokens);
    if (!description.unknown) return;
    m_unknown = *description.unknown;
    if (m_unknown < 0 || static_cast<std::size_t>(m_unknown) >= m_scores.size())
      throw fail("the unknown piece " + std::to_string(m_unknown), "an id of the vocabulary");
    showAsUnknown(m_unknown);
  }

 private:
  /// Encodes the words that it gets. Reuses its memory.
  class Encoder final : public WordSink {
   public:
    Encoder(const UnigramTokenizer& tokenizer, const std::stop_token& stop, IdOutput& ids)
        : m_tokenizer(tokenizer), m_poll(stop), m_ids(ids) {}
    void take(const Word& word) override {
      m_tokenizer.findBest(word.text, m_ends, m_poll);
      m_tokenizer.write(word.text, m_ends, m_ids);
    }

   private:
    const UnigramTokenizer& m_tokenizer;
    StopPoll m_poll;
    IdOutput& m_ids;
    std::vector<BestEnd> m_ends;
  };

  std::unique_ptr<WordSink> wordEncoder(std::size_t /*textBytes*/, const std::stop_token& stop,
                                        IdOutput& ids) const override {
    return std::make_unique<Encoder>(*this, stop, ids);
  }

  static std::string withSpaces(std::string text, std::string_view mark) {
    if (mark.empty()) return text;
    for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + 1))
      text.replace(at, mark.size(), " ");
    return text;
  }

  /// The algorithm of Viterbi. Of equal sequences, the one that was found first counts, as in Hugging Face's
  /// tokenizers.
  void findBest(std::string_view word, std::vector<BestEnd>& ends, StopPoll& poll) const {
    ends.assign(word.size() + 1, {});
    const auto offer = [&ends](std::size_t begin, std::size_t end, TokenId id, double score) {
      BestEnd& best = ends[end];
      const double whole = ends[begin].score + score;
      if (best.id < 0 || whole > best.score) best = {whole, begin, id};
    };
    std::size_t next = 0;
    for (std::size_t begin = 0; begin < word.size(); begin = next) {
      next = begin + characterLength(word[begin]);
      bool hasCharacter = false;
      for (std::size_t end = next; end <= word.size() && end - begin <= m_longest;) {
        poll.step();
        const TokenId id = textPiece(word.substr(begin, end - begin));
        if (id >= 0 && id != m_unknown && static_cast<std::size_t>(id) < m_scores.size()) {
          offer(begin, end, id, m_scores[static_cast<std::size_t>(id)]);
          hasCharacter = hasCharacter || end == next;
        }
        if (end == word.size()) break;
        end += characterLength(word[end]);
      }
      if (!hasCharacter) offer(begin, next, kUnknownCharacters, m_unknownScore);
    }
  }

  /// Neighbouring unknown characters are one piece.
  void write(std::string_view word, const std::vector<BestEnd>& ends, IdOutput& ids) const {
    std::vector<std::size_t> stops;
    for (std::size_t end = word.size(); end > 0; end = ends[end].begin) stops.push_back(end);
    std::reverse(stops.begin(), stops.end());
    for (std::size_t i = 0; i < stops.size(); ++i) {
      const BestEnd& best = ends[stops[i]];
      if (best.id != kUnknownCharacters) {
        ids.ids().push_back(best.id);
        ids.pass();
        continue;
      }
      while (i + 1 < stops.size() && ends[stops[i + 1]].id == kUnknownCharacters) ++i;
      writeUnknown(word.substr(best.begin, stops[i] - best.begin), ids);
    }
  }

  void writeUnknown(std::string_view text, IdOutput& ids) const {
    if (m_fallsBack) {
      for (const char c : text) ids.ids().push_back(m_bytes[static_cast<unsigned char>(c)]);
    } else if (m_unknown >= 0) {
      ids.ids().push_back(m_unknown);
    } else {
      throw Failure({"", "text", "\"" + std::string(text) + "\", for which the vocabulary has no piece",
                     "a text that the vocabulary covers"});
    }
    ids.pass();
  }

  static constexpr double kUnknownPenalty = 10;
  /// Marks a run of characters without a piece, before it is known how they are written.
  static constexpr TokenId kUnknownCharacters = std::numeric_limits<TokenId>::max();

  std::vector<double> m_scores;  ///< by id
  double m_unknownScore = 0;     ///< of a character without a piece
  TokenId m_unknown = -1;
  std::array<TokenId, 256> m_bytes{};
  bool m_fallsBack = false;   ///< whether all byte pieces exist, and are for unknown characters
  std::size_t m_longest = 1;  ///< bytes of the longest piece
};

class WordPieceTokenizer final : public WordTokenizer {
 public:
  WordPieceTokenizer(WordPieceDescription description, const std::string& file, const std::string& place)
      : WordTokenizer(description, file, place),
        m_prefix(std::move(description.continuationPrefix)),
        m_longestWord(description.longestWord) {
    for (const auto& [spelling, id] : description.vocabulary) {
      const bool continues = !m_prefix.empty() && spelling.starts_with(m_prefix);
      addPiece(spelling, id, continues ? spelling.substr(m_prefix.size()) : " " + spelling);
      m_longest = std::max(m_longest, spelling.size());
    }
    addTokens(description.addedTokens);
    const std::optional<TokenId> unknown = idOf(description.unknownPiece);
    if (!unknown) {
      throw fail("no piece \"" + description.unknownPiece + "\"", "a vocabulary with the unknown piece");
    }
    m_unknown = *unknown;
    showAsUnknown(m_unknown);
  }

 private:
  class Encoder final : public WordSink {
   public:
    Encoder(const WordPieceTokenizer& tokenizer, const std::stop_token& stop, IdOutput& ids)
        : m_tokenizer(tokenizer), m_poll(stop), m_ids(ids) {}
    void take(const Word& word) override { m_tokenizer.encodeWord(word.text, m_poll, m_ids); }

   private:
    const WordPieceTokenizer& m_tokenizer;
    StopPoll m_poll;
    IdOutput& m_ids;
  };

  std::unique_ptr<WordSink> wordEncoder(std::size_t /*textBytes*/, const std::stop_token& stop,
                                        IdOutput& ids) const override {
    return std::make_unique<Encoder>(*this, stop, ids);
  }

  /// A word that does not divide into pieces is unknown as a whole.
  void encodeWord(std::string_view word, StopPoll& poll, IdOutput& ids) const {
    const auto characters =
        std::count_if(word.begin(), word.end(), [](char c) { return !isUtf8Continuation(c); });
    std::vector<TokenId> pieces;
    bool isKnown = static_cast<std::size_t>(characters) <= m_longestWord;
    for (std::size_t begin = 0; isKnown && begin < word.size();) {
      const std::string before = begin == 0 ? std::string() : m_prefix;
      std::size_t end = std::min(word.size(), begin + m_longest);
      while (end < word.size() && isUtf8Continuation(word[end])) --end;
      TokenId id = -1;
      while (end > begin) {
        poll.step();
        id = textPiece(before + std::string(word.substr(begin, end - begin)));
        if (id == m_unknown) id = -1;
        if (id >= 0) break;
        do --end;
        while (end > begin && isUtf8Continuation(word[end]));
      }
      isKnown = id >= 0;
      if (isKnown) pieces.push_back(id);
      begin = end;
    }
    if (!isKnown) pieces = {m_unknown};
    ids.ids().insert(ids.ids().end(), pieces.begin(), pieces.end());
    ids.pass();
  }

  std::string m_prefix;
  std::size_t m_longestWord;
  std::size_t m_longest = 1;  ///< bytes of the longest piece
  TokenId m_unknown = -1;
};

}  // namespace

std::unique_ptr<Tokenizer> makeUnigramTokenizer(UnigramDescription description, const std::string& file,
                                                const std::string& place) {
  return std::make_unique<UnigramTokenizer>(std::move(description), file, place);
}

std::unique_ptr<Tokenizer> makeWordPieceTokenizer(WordPieceDescription description, const std::string& file,
                                                  const std::string& place) {
  return std::make_unique<WordPieceTokenizer>(std::move(description), file, place);
}

}  // namespace spanscope::text
