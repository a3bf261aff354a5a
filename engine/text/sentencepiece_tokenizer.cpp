// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/sentencepiece_tokenizer.h"

#include "engine/base/counted.h"
#include "engine/base/error.h"
#include "engine/base/utf8.h"
#include "engine/text/bpe_encoder.h"
#include "engine/text/bpe_model.h"
#include "engine/text/piece_table.h"
#include "engine/text/stop.h"
#include "engine/text/unicode.h"

#include <sentencepiece_processor.h>

#include <algorithm>
#include <bitset>
#include <chrono>
#include <future>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace spanscope::text {
namespace {

using Type = SentencePiece::Type;

/// Max number of uncut bytes in one call of the library. The library needs about 110 times as much memory.
constexpr std::size_t kMostUncutBytes = std::size_t{4} << 20U;

/// Runs of white space may be user-defined pieces and belong to text. Any other user-defined piece is a
/// marker.
bool isMarker(const SentencePiece& piece) {
  if (piece.type == Type::Control) return true;
  if (piece.type != Type::UserDefined) return false;
  const std::string plain = withoutSpaceMarks(piece.spelling);
  return plain.find_first_not_of(" \t\n\r\v\f") != std::string::npos;
}

bool isText(const SentencePiece& piece) {
  return piece.type == Type::Normal || piece.type == Type::UserDefined || piece.type == Type::Unused;
}

/// Finds places where a text can be split so that the library encodes both sides as in the whole text.
///
/// A model that merges pairs makes a symbol only if it is a piece. So no symbol contains two neighbouring
/// characters that are neighbours in no piece. Merges on one side do not change the order of those on the
/// other. How an unused piece falls apart depends only on its spelling. Without byte fallback, consecutive
/// characters that are no pieces give one id. The character after a cut must therefore be a piece.
///
/// A unigram model allows no cut: the library rounds sums of scores from the beginning of the text.
class CutPlaces {
 public:
  explicit CutPlaces(const SentencePieceModel& model)
      : m_canCut(model.algorithm == SentencePieceModel::Algorithm::Bpe) {
    if (!m_canCut) return;
    FlatMap<bool> characters;
    for (const SentencePiece& piece : model.pieces) {
      if (!isText(piece)) continue;
      std::string_view rest = piece.spelling;
      char32_t before = take(rest);
      if (rest.empty()) characters.set(before, true);
      while (!rest.empty()) {
        const char32_t after = take(rest);
        m_pairs.set(pairOf(before, after), true);
        before = after;
      }
    }
    if (!model.byteFallback) m_characters = std::move(characters);
    m_needsPiece = !model.byteFallback;
    for (char32_t before = 0; before < kAscii; ++before) {
      for (char32_t after = 0; after < kAscii; ++after)
        m_asciiCuts[before * kAscii + after] = lookUp(before, after);
    }
  }

  /// The bytes up to the first cut that is `least` bytes from the beginning or later. If there is none, it is
  /// the whole text, or more than kMostUncutBytes. `text` must be valid UTF-8 and not empty.
  std::size_t length(std::string_view text, std::size_t least) const {
    if (!m_canCut) return text.size();
    std::size_t end = std::min(std::max<std::size_t>(least, 1), text.size()) - 1;
    while (isUtf8Continuation(text[end])) --end;
    const std::size_t most = end + kMostUncutBytes;
    std::string_view rest = text.substr(end);
    char32_t before = take(rest);
    while (!rest.empty() && text.size() - rest.size() <= most) {
      const std::size_t at = text.size() - rest.size();
      const char32_t after = take(rest);
      if (isCut(before, after)) return at;
      before = after;
    }
    return text.size() - rest.size();
  }

 private:
  static constexpr std::size_t kAscii = 128;

  static char32_t take(std::string_view& text) {
    const char32_t character = firstCharacter(text);
    text.remove_prefix(characterLength(text.front()));
    return character;
  }
  static std::uint64_t pairOf(char32_t before, char32_t after) {
    return (std::uint64_t{before} << 32U) | after;
  }
  /// The text as pieces spell it.
  static char32_t written(char32_t character) { return character == U' ' ? U'\x2581' : character; }

  bool isCut(char32_t before, char32_t after) const {
    if (before < kAscii && after < kAscii) return m_asciiCuts[before * kAscii + after];
    return lookUp(before, after);
  }
  bool lookUp(char32_t before, char32_t after) const {
    return !m_pairs.contains(pairOf(written(before), written(after))) &&
           (!m_needsPiece || m_characters.contains(written(after)));
  }

  bool m_canCut;
  bool m_needsPiece = false;
  FlatMap<bool> m_pairs;       ///< of characters that are neighbours in a piece
  FlatMap<bool> m_characters;  ///< that are pieces, if m_needsPiece
  std::bitset<kAscii * kAscii> m_asciiCuts;
};

std::vector<TokenId> callLibrary(const sentencepiece::SentencePieceProcessor& library,
                                 std::string_view text) {
  std::vector<TokenId> ids;
  const auto status = library.Encode(text, &ids);
  if (!status.ok())
    throw Failure(errorAt("text", status.ToString(), "a text that the sentencepiece library encodes"));
  return ids;
}

/// Calls of the library that may take longer than a stop. A stopped call continues in its thread. The next
/// call waits for that thread, so that only one call uses memory.
class LongCalls {
 public:
  std::vector<TokenId> encode(const sentencepiece::SentencePieceProcessor& library, std::string_view text,
                              const std::stop_token& stop) {
    std::unique_lock lock(m_mutex, std::defer_lock);
    while (!lock.try_lock_for(kPoll)) throwIfStopped(stop);
    wait(stop);
    m_call = std::async(std::launch::async | std::launch::deferred,
                        [&library, own = std::string(text)] { return callLibrary(library, own); });
    wait(stop);
    return m_call.get();
  }

 private:
  static constexpr std::chrono::milliseconds kPoll{5};

  void wait(const std::stop_token& stop) {
    while (m_call.valid() && m_call.wait_for(kPoll) == std::future_status::timeout) throwIfStopped(stop);
  }

  std::timed_mutex m_mutex;
  std::future<std::vector<TokenId>> m_call;
};

class SentencePieceTokenizer final : public PieceTable {
 public:
  SentencePieceTokenizer(SentencePieceModel model, const std::string& file)
      : PieceTable(file), m_dummyPrefix(std::exchange(model.addDummyPrefix, false)) {
    m_pieces.reserve(model.pieces.size());
    for (std::size_t i = 0; i < model.pieces.size(); ++i) addPiece(model.pieces[i], static_cast<TokenId>(i));
    const auto status = m_library.LoadFromSerializedProto(serializeSentencePieceModel(model));
    if (!status.ok())
      throw Failure({file, "", status.ToString(), "a model that the sentencepiece library loads"});
    m_cuts.emplace(model);
  }

 private:
  /// Rewrites a marker so that the library finds it in no text. The new spelling has a plain space, which the
  /// library never has in a text.
  void addPiece(SentencePiece& piece, TokenId id) {
    Piece known{.bytes = {}, .display = piece.spelling, .known = true};
    if (isMarker(piece)) {
      known.control = true;
      m_controlIds.emplace(piece.spelling, id);
      piece.type = Type::Control;
      piece.spelling = "marker " + std::to_string(id);
    } else if (piece.type == Type::Byte) {
      const int byte = byteOfPiece(piece.spelling);
      known.bytes = std::string(1, static_cast<char>(static_cast<unsigned char>(byte)));
    } else if (piece.type == Type::Unknown) {
      known.bytes = std::string(kReplacementCharacter);
    } else {
      known.bytes = withoutSpaceMarks(piece.spelling);
      known.display = known.bytes;
    }
    m_pieces.push_back(std::move(known));
  }

  void encodeText(std::string_view text, const std::stop_token& stop, IdOutput& ids) const override {
    if (text.empty()) return;
    const std::string valid = (m_dummyPrefix ? " " : "") + toValidUtf8(text);
    const bool isLong = valid.size() > kPartBytes;
    const std::size_t threads = isLong ? std::clamp(std::thread::hardware_concurrency(), 1U, 16U) : 1;
    std::vector<WordCache> caches(threads, WordCache(valid.size()));
    std::string_view rest = valid;
    while (!rest.empty()) {
      std::vector<std::future<std::vector<TokenId>>> parts;
      for (WordCache& cache : caches) {
        if (rest.empty()) break;
        const std::string_view part = rest.substr(0, m_cuts->length(rest, kPartBytes));
        rest.remove_prefix(part.size());
        // If the system has no further thread, the calling thread does the work.
        const std::launch here = std::launch::deferred;
        parts.push_back(std::async(threads > 1 ? std::launch::async | here : here,
                                   [this, part, &cache, &stop] { return encodePart(part, cache, stop); }));
      }
      for (std::future<std::vector<TokenId>>& part : parts) {
        for (const TokenId id : part.get()) {
          ids.ids().push_back(id);
          ids.pass();
        }
      }
    }
  }

  std::vector<TokenId> encodePart(std::string_view text, WordCache& cache,
                                  const std::stop_token& stop) const {
    StopPoll poll(stop);
    std::vector<TokenId> ids;
    while (!text.empty()) {
      poll.step();
      const std::string_view word = text.substr(0, m_cuts->length(text, 1));
      text.remove_prefix(word.size());
      if (word.size() <= WordCache::kMostBytes) {
        if (const auto known = cache.find(word); !known.empty()) {
          ids.insert(ids.end(), known.begin(), known.end());
          continue;
        }
      }
      const std::vector<TokenId> made = encodeWord(word, stop);
      cache.keep(word, made);
      ids.insert(ids.end(), made.begin(), made.end());
    }
    return ids;
  }

  std::vector<TokenId> encodeWord(std::string_view word, const std::stop_token& stop) const {
    constexpr std::size_t kShortBytes = std::size_t{8} << 10U;
    throwIfStopped(stop);
    if (word.size() <= kShortBytes) return callLibrary(m_library, word);
    if (word.size() <= kMostUncutBytes) return m_longCalls.encode(m_library, word, stop);
    throw Failure(
        errorAt("text", "more than " + counted(kMostUncutBytes, "byte") + " that the tokenizer cannot divide",
                "a text with spaces or line breaks"));
  }

  /// The bytes of a text that one thread encodes at a time.
  static constexpr std::size_t kPartBytes = std::size_t{64} << 10U;

  bool m_dummyPrefix;
  sentencepiece::SentencePieceProcessor m_library;  ///< without the dummy prefix, so that it encodes parts
  std::optional<CutPlaces> m_cuts;
  mutable LongCalls m_longCalls;  ///< the last member, because its call uses the library
};

}  // namespace

std::unique_ptr<Tokenizer> makeSentencePieceTokenizer(SentencePieceModel model, const std::string& file) {
  return std::make_unique<SentencePieceTokenizer>(std::move(model), file);
}

}  // namespace spanscope::text
