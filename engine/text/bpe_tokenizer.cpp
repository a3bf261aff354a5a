// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/bpe_tokenizer.h"

#include "engine/base/error.h"
#include "engine/base/utf8.h"
#include "engine/text/pipeline_tokenizer.h"
#include "engine/text/sentencepiece_tokenizer.h"
#include "engine/text/unicode.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <unordered_map>

namespace spanscope::text {

namespace {

/// Returns a piece for display. Bytes that are not valid UTF-8 are shown one by one.
std::string displayOf(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string shown;
  while (!bytes.empty()) {
    const Utf8Step step = nextUtf8(bytes);
    if (step.kind == Utf8Step::Kind::Character) {
      shown += bytes.substr(0, step.length);
    } else {
      for (const char c : bytes.substr(0, step.length)) {
        const auto byte = static_cast<unsigned char>(c);
        shown += {'<', '0', 'x', kDigits[byte >> 4U], kDigits[byte & 0xFU], '>'};
      }
    }
    bytes.remove_prefix(step.length);
  }
  return shown;
}

std::string replaceText(std::string text, std::string_view from, std::string_view to) {
  if (from.empty()) return text;
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

/// Bytes that occur in UTF-8.
bool occursInUtf8(std::size_t byte) {
  return byte < 0xC0 || (byte > 0xC1 && byte < 0xF5);
}

class BpeTokenizer final : public PipelineTokenizer {
 public:
  BpeTokenizer(BpeDescription description, const std::string& file, const std::string& place)
      : PipelineTokenizer(description, file),
        m_model(description.byteLevel ? BpeModel::Units::Bytes : BpeModel::Units::Characters) {
    BpeBuilder builder(*this, description, file, place);
    builder.build();
  }

 private:
  /// Encodes the words that it gets.
  class WordEncoder final : public WordSink {
   public:
    WordEncoder(const BpeModel& model, std::size_t textBytes, const std::stop_token& stop, IdOutput& ids)
        : m_encoder(model, textBytes, stop, ids) {}
    void take(const Word& word) override { m_encoder.encodeWord(word.text); }

   private:
    BpeEncoder m_encoder;
  };

  std::unique_ptr<WordSink> wordEncoder(std::size_t textBytes, const std::stop_token& stop,
                                        IdOutput& ids) const override {
    return std::make_unique<WordEncoder>(m_model, textBytes, stop, ids);
  }

  /// Turns a description into the tokenizer's tables.
  class BpeBuilder {
   public:
    BpeBuilder(BpeTokenizer& target, const BpeDescription& description, const std::string& file,
               const std::string& place)
        : m_target(&target), m_description(&description), m_file(&file), m_place(&place) {}

    void build() {
      readVocabulary();
      readAddedTokens();
      readUnknown();
      m_target->m_model.setWholeWordsFirst(m_description->wholeWordsFirst);
      addPieces();
      addMerges();
      m_target->m_model.finish();
      readByteFallback();
      coverTheRest();
    }

   private:
    Failure fail(std::string found, std::string expected) const {
      return Failure({*m_file, *m_place, std::move(found), std::move(expected)});
    }

    Piece& newPiece(TokenId id, const std::string& spelling) {
      if (id < 0 || static_cast<std::size_t>(id) >= 2 * kMaxVocabulary) {
        throw fail("the id " + std::to_string(id) + " of \"" + toValidUtf8(spelling) + "\"",
                   "an id from 0 to " + std::to_string(2 * kMaxVocabulary - 1));
      }
      std::vector<Piece>& pieces = m_target->m_pieces;
      const auto index = static_cast<std::size_t>(id);
      if (index >= pieces.size()) pieces.resize(index + 1);
      Piece& piece = pieces[index];
      if (piece.known) {
        throw fail(
            "the id " + std::to_string(id) + " for \"" + piece.display + "\" and for \"" + spelling + "\"",
            "every id once");
      }
      piece.known = true;
      return piece;
    }

    void readVocabulary() {
      m_ids.reserve(m_description->vocabulary.size());
      for (const auto& [spelling, id] : m_description->vocabulary) {
        if (!m_ids.emplace(spelling, id).second) {
          throw fail("\"" + spelling + "\" for the second time", "every piece once");
        }
        Piece& piece = newPiece(id, spelling);
        piece.bytes = bytesOf(spelling);
        piece.display = displayOf(piece.bytes);
      }
    }

    /// Returns the bytes that a piece of the vocabulary spells.
    std::string bytesOf(const std::string& spelling) const {
      if (m_description->byteLevel) return bytesOfLetters(spelling).value_or(spelling);
      const int byte = m_description->byteFallback ? byteOfPiece(spelling) : -1;
      if (byte >= 0) return {static_cast<char>(static_cast<unsigned char>(byte))};
      return replaceText(spelling, m_description->spaceMark, " ");
    }

    void readAddedTokens() {
      std::unordered_map<std::string, bool> seen;
      for (const AddedToken& token : m_description->addedTokens) {
        if (!seen.emplace(token.content, true).second) {
          throw fail("the added token \"" + token.content + "\" for the second time", "every token once");
        }
        const auto known = m_ids.find(token.content);
        if (known != m_ids.end() && known->second != token.id) {
          throw fail("the added token \"" + token.content + "\" with the id " + std::to_string(token.id),
                     "its id in the vocabulary, " + std::to_string(known->second));
        }
        Piece& piece = known == m_ids.end() ? newPiece(token.id, token.content)
                                            : m_target->m_pieces[static_cast<std::size_t>(token.id)];
        piece.display = token.content;
        piece.bytes = token.special ? std::string() : token.content;
        piece.control = token.special;
        piece.takenSpace = {.before = token.leftStrip, .after = token.rightStrip};
        if (token.special) m_target->m_controlIds.emplace(token.content, token.id);
        m_target->findToken(token);
      }
    }

    void readUnknown() {
      if (m_description->unknownPiece.empty()) return;
      const auto found = m_ids.find(m_description->unknownPiece);
      if (found == m_ids.end()) {
        throw fail("no piece \"" + m_description->unknownPiece + "\"", "a vocabulary with the unknown piece");
      }
      m_unknown = found->second;
    }

    bool isText(TokenId id) const {
      return id != m_unknown && !m_target->m_pieces[static_cast<std::size_t>(id)].control;
    }

    /// Markers, the unknown piece and byte pieces are left out. No text may become such a piece by its
    /// spelling.
    void addPieces() {
      m_target->m_model.reserveMerges(m_description->merges.size());
      for (const auto& [spelling, id] : m_description->vocabulary) {
        if (!isText(id)) continue;
        if (m_description->byteLevel) {
          if (const auto bytes = bytesOfLetters(spelling)) m_target->m_model.addPiece(*bytes, id);
        } else if (!m_description->byteFallback || byteOfPiece(spelling) < 0) {
          m_target->m_model.addPiece(spelling, id);
        }
      }
    }

    TokenId requirePiece(const std::string& spelling, std::size_t rank) const {
      const auto found = m_ids.find(spelling);
      if (found == m_ids.end()) {
        throw fail("a merge (number " + std::to_string(rank) + ") with \"" + spelling + "\"",
                   "only merges of pieces in the vocabulary");
      }
      return found->second;
    }

    void addMerges() {
      std::size_t rank = 0;
      for (const auto& [left, right] : m_description->merges) {
        const TokenId leftId = requirePiece(left, rank);
        const TokenId rightId = requirePiece(right, rank);
        const TokenId joined = requirePiece(left + right, rank);
        if (isText(joined)) {
          m_target->m_model.addMerge(leftId, rightId, static_cast<std::uint32_t>(rank), joined);
        }
        ++rank;
      }
    }

    void readByteFallback() {
      if (!m_description->byteFallback) return;
      std::array<TokenId, 256> ids{};
      std::size_t missing = 0;
      for (std::size_t byte = 0; byte < ids.size(); ++byte) {
        const auto found = m_ids.find(displayOfByte(byte));
        ids[byte] = found == m_ids.end() ? -1 : found->second;
        if (found == m_ids.end() || !isText(found->second)) ++missing;
      }
      if (missing > 0) {
        throw fail("byte fallback without " + std::to_string(missing) + " of the byte pieces",
                   "the pieces \"<0x00>\" to \"<0xFF>\"");
      }
      m_target->m_model.setByteFallback(ids);
    }

    static std::string displayOfByte(std::size_t byte) {
      constexpr std::string_view kDigits = "0123456789ABCDEF";
      return {'<', '0', 'x', kDigits[byte >> 4U], kDigits[byte & 0xFU], '>'};
    }

    /// Prevents loss of text: the unknown piece covers text without a piece. Some vocabularies lack a piece
    /// for a rare byte.
    void coverTheRest() {
      if (m_description->byteFallback || (m_description->byteLevel && coversUtf8())) return;
      if (m_unknown < 0) {
        if (m_description->byteLevel) return;
        throw fail("neither byte fallback nor an unknown piece", "a vocabulary that covers every text");
      }
      Piece& unknown = m_target->m_pieces[static_cast<std::size_t>(m_unknown)];
      unknown.bytes = std::string(kReplacementCharacter);
      unknown.control = false;
      m_target->m_controlIds.erase(m_description->unknownPiece);
      m_target->m_model.setUnknown(m_unknown, m_description->fuseUnknown);
    }

    bool coversUtf8() const {
      for (std::size_t byte = 0; byte < 256; ++byte) {
        if (occursInUtf8(byte) && m_target->m_model.unitId(static_cast<char32_t>(byte)) < 0) return false;
      }
      return true;
    }

    BpeTokenizer* m_target;
    const BpeDescription* m_description;
    const std::string* m_file;
    const std::string* m_place;
    std::unordered_map<std::string, TokenId> m_ids;  ///< by spelling in the file
    TokenId m_unknown = -1;
  };

  BpeModel m_model;
};

}  // namespace

std::unique_ptr<Tokenizer> makeBpeTokenizer(BpeDescription description, const std::string& file,
                                            const std::string& place) {
  return std::make_unique<BpeTokenizer>(std::move(description), file, place);
}

namespace {

constexpr char32_t kFirstReplacement = 0x100;

constexpr bool isPrintable(unsigned byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

/// Character by byte.
constexpr std::array<char32_t, 256> letterTable() {
  std::array<char32_t, 256> letters{};
  char32_t next = kFirstReplacement;
  for (unsigned byte = 0; byte < letters.size(); ++byte) {
    letters[byte] = isPrintable(byte) ? static_cast<char32_t>(byte) : next++;
  }
  return letters;
}

constexpr std::array<char32_t, 256> kLetters = letterTable();

/// Byte by character; −1 for characters outside the alphabet. The last character of the alphabet is U+0143.
constexpr std::array<std::int16_t, 0x144> byteTable() {
  std::array<std::int16_t, 0x144> bytes{};
  for (std::int16_t& byte : bytes) byte = -1;
  for (std::size_t byte = 0; byte < kLetters.size(); ++byte) {
    bytes[kLetters[byte]] = static_cast<std::int16_t>(byte);
  }
  return bytes;
}

constexpr std::array<std::int16_t, 0x144> kBytes = byteTable();

}  // namespace

std::string byteLetter(unsigned char byte) {
  std::string letter;
  appendUtf8(letter, kLetters[byte]);
  return letter;
}

std::optional<std::string> bytesOfLetters(std::string_view letters) {
  std::string bytes;
  bytes.reserve(letters.size());
  while (!letters.empty()) {
    const char32_t c = firstCharacter(letters);
    if (c >= kBytes.size() || kBytes[c] < 0) return std::nullopt;
    bytes += static_cast<char>(static_cast<unsigned char>(kBytes[c]));
    letters.remove_prefix(nextUtf8(letters).length);
  }
  return bytes;
}

}  // namespace spanscope::text
