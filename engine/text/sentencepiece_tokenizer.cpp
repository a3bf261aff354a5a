// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/sentencepiece_tokenizer.h"

#include "engine/base/counted.h"
#include "engine/base/error.h"
#include "engine/base/utf8.h"
#include "engine/text/bpe_encoder.h"
#include "engine/text/piece_table.h"
#include "engine/text/stop.h"
#include "engine/text/unicode.h"

#include <sentencepiece_processor.h>

#include <algorithm>
#include <array>
#include <bit>
#include <bitset>
#include <chrono>
#include <cmath>
#include <future>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_set>
#include <utility>

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
/// A model that merges pairs makes a symbol only if the symbol is a piece. No symbol therefore contains two
/// neighbouring characters that are neighbours in no piece. Merges on one side do not change the order of
/// merges on the other side. The split of an unused piece depends only on its spelling. Without byte
/// fallback, consecutive characters that are no pieces give one id. The character after a cut must therefore
/// be a piece.
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

  /// The bytes up to the first cut that is `least` bytes from the beginning or later. Without such a cut,
  /// returns the whole text, or more than kMostUncutBytes. `text` must be valid UTF-8 and not empty.
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
    throw Failure(errorAt("text", status.ToString(), "a text that the sentencepiece library can encode"));
  return ids;
}

/// Calls of the library that may take too long for a stop request. A stopped call continues in its thread.
/// The next call waits for that thread, so that only one call uses memory.
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
      throw Failure({file, "", status.ToString(), "a model that the sentencepiece library can load"});
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
        errorAt("text", "more than " + counted(kMostUncutBytes, "byte") + " that the tokenizer cannot split",
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

namespace {

// Numbers of the fields of sentencepiece_model.proto.
constexpr std::uint32_t kModelPieces = 1;
constexpr std::uint32_t kModelTrainerSpec = 2;
constexpr std::uint32_t kModelNormalizerSpec = 3;
constexpr std::uint32_t kPieceSpelling = 1;
constexpr std::uint32_t kPieceScore = 2;
constexpr std::uint32_t kPieceType = 3;
constexpr std::uint32_t kTrainerModelType = 3;
constexpr std::uint32_t kTrainerWhitespaceAsSuffix = 24;
constexpr std::uint32_t kTrainerByteFallback = 35;
constexpr std::uint32_t kNormalizerName = 1;
constexpr std::uint32_t kNormalizerCharacterMap = 2;
constexpr std::uint32_t kNormalizerAddDummyPrefix = 3;
constexpr std::uint32_t kNormalizerRemoveExtraWhitespaces = 4;
constexpr std::uint32_t kNormalizerEscapeWhitespaces = 5;

enum class Wire : std::uint32_t { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };

struct Field {
  std::uint32_t number = 0;
  Wire wire = Wire::Varint;
  std::uint64_t integer = 0;  ///< of Varint, Fixed64 and Fixed32
  std::string_view bytes;     ///< of Bytes
  std::size_t offset = 0;     ///< of the field in the file
};

/// Walks the fields of one protobuf message.
class FieldReader {
 public:
  FieldReader(std::string_view message, std::size_t offset, const std::string& file)
      : m_message(message), m_offset(offset), m_file(&file) {}

  bool atEnd() const { return m_position == m_message.size(); }

  Field next() {
    Field field;
    field.offset = m_offset + m_position;
    const std::uint64_t tag = varint();
    if (tag > 0xFFFFFFFFU || (tag >> 3U) == 0) throw fail("a field with the tag " + std::to_string(tag));
    field.number = static_cast<std::uint32_t>(tag >> 3U);
    switch (tag & 7U) {
      case 0:
        field.wire = Wire::Varint;
        field.integer = varint();
        break;
      case 1:
        field.wire = Wire::Fixed64;
        field.integer = fixed(8);
        break;
      case 2: {
        field.wire = Wire::Bytes;
        const std::uint64_t size = varint();
        if (size > m_message.size() - m_position) {
          throw fail("a field of " + counted(size, "byte") + " where " +
                     counted(m_message.size() - m_position, "is left", "are left"));
        }
        field.bytes = m_message.substr(m_position, static_cast<std::size_t>(size));
        m_position += static_cast<std::size_t>(size);
        break;
      }
      case 5:
        field.wire = Wire::Fixed32;
        field.integer = fixed(4);
        break;
      default:
        throw fail("a field of the wire type " + std::to_string(tag & 7U));
    }
    return field;
  }

  /// The place in the file where the last read field of wire type Bytes begins.
  std::size_t offsetOf(const Field& field) const {
    return m_offset + static_cast<std::size_t>(field.bytes.data() - m_message.data());
  }

 private:
  Failure fail(std::string found) const {
    return Failure({*m_file, "byte " + std::to_string(m_offset + m_position), std::move(found),
                    "a sentencepiece model (protobuf)"});
  }

  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (atEnd()) throw fail("the end of the data within a number");
      const auto byte = static_cast<unsigned char>(m_message[m_position++]);
      value |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
      if (byte < 0x80) return value;
    }
    throw fail("a number of more than 64 bits");
  }

  std::uint64_t fixed(std::size_t size) {
    if (size > m_message.size() - m_position) throw fail("the end of the data within a number");
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i) {
      value |= static_cast<std::uint64_t>(static_cast<unsigned char>(m_message[m_position + i])) << (8 * i);
    }
    m_position += size;
    return value;
  }

  std::string_view m_message;
  std::size_t m_position = 0;
  std::size_t m_offset;
  const std::string* m_file;
};

struct ModelSettings {
  std::uint64_t algorithm = 1;
  bool byteFallback = false;
  bool whitespaceAsSuffix = false;
  std::string normalizer;
  bool characterMap = false;
  bool addDummyPrefix = true;
  bool removeExtraWhitespaces = true;
  bool escapeWhitespaces = true;
};

void readTrainerSpec(FieldReader reader, ModelSettings& settings) {
  while (!reader.atEnd()) {
    const Field field = reader.next();
    if (field.wire != Wire::Varint) continue;
    if (field.number == kTrainerModelType) settings.algorithm = field.integer;
    if (field.number == kTrainerWhitespaceAsSuffix) settings.whitespaceAsSuffix = field.integer != 0;
    if (field.number == kTrainerByteFallback) settings.byteFallback = field.integer != 0;
  }
}

void readNormalizerSpec(FieldReader reader, ModelSettings& settings) {
  while (!reader.atEnd()) {
    const Field field = reader.next();
    if (field.wire == Wire::Bytes) {
      if (field.number == kNormalizerName) settings.normalizer = toValidUtf8(field.bytes.substr(0, 64));
      if (field.number == kNormalizerCharacterMap) settings.characterMap = !field.bytes.empty();
    } else if (field.wire == Wire::Varint) {
      if (field.number == kNormalizerAddDummyPrefix) settings.addDummyPrefix = field.integer != 0;
      if (field.number == kNormalizerRemoveExtraWhitespaces)
        settings.removeExtraWhitespaces = field.integer != 0;
      if (field.number == kNormalizerEscapeWhitespaces) settings.escapeWhitespaces = field.integer != 0;
    }
  }
}

Failure failAtPiece(const std::string& file, std::size_t index, std::string found, std::string expected) {
  return Failure({file, "piece " + std::to_string(index), std::move(found), std::move(expected)});
}

SentencePiece readPiece(FieldReader reader, std::size_t index, const std::string& file) {
  const auto fail = [&](std::string found, std::string expected) -> Failure {
    return failAtPiece(file, index, std::move(found), std::move(expected));
  };
  SentencePiece piece;
  while (!reader.atEnd()) {
    const Field field = reader.next();
    if (field.number == kPieceSpelling && field.wire == Wire::Bytes) {
      if (field.bytes.size() > kMaxPieceBytes) {
        throw fail(std::to_string(field.bytes.size()) + " bytes",
                   "at most " + std::to_string(kMaxPieceBytes) + " bytes");
      }
      piece.spelling = std::string(field.bytes);
    } else if (field.number == kPieceScore && field.wire == Wire::Fixed32) {
      piece.score = std::bit_cast<float>(static_cast<std::uint32_t>(field.integer));
    } else if (field.number == kPieceType && field.wire == Wire::Varint) {
      if (field.integer < 1 || field.integer > 6) {
        throw fail("the type " + std::to_string(field.integer), "a type from 1 to 6");
      }
      piece.type = static_cast<SentencePiece::Type>(field.integer);
    }
  }
  return piece;
}

void checkPiece(const SentencePiece& piece, std::size_t index, const std::string& file) {
  const auto fail = [&](std::string found, std::string expected) -> Failure {
    return failAtPiece(file, index, std::move(found), std::move(expected));
  };
  if (piece.spelling.empty()) throw fail("an empty spelling", "at least one character");
  if (!isValidUtf8(piece.spelling)) throw fail("a spelling that is not UTF-8", "UTF-8");
  if (piece.spelling.find('\0') != std::string::npos)
    throw fail("a spelling with the null character (U+0000)", "a spelling without this character");
  if (!std::isfinite(piece.score)) throw fail("a score that is not finite", "a finite score");
  if (piece.type == SentencePiece::Type::Byte && byteOfPiece(piece.spelling) < 0) {
    throw fail("the byte piece \"" + piece.spelling + "\"", "\"<0x00>\" to \"<0xFF>\"");
  }
}

void checkSettings(const ModelSettings& settings, const std::string& file) {
  if (settings.algorithm != 1 && settings.algorithm != 2) {
    throw Failure({file, "trainer_spec", "the model type " + std::to_string(settings.algorithm),
                   "1 (unigram) or 2 (BPE)"});
  }
  if (settings.whitespaceAsSuffix) {
    throw Failure({file, "trainer_spec", "white space as a suffix", "spaces written before the word"});
  }
  if (settings.characterMap) {
    throw Failure({file, "normalizer_spec", "the character map \"" + settings.normalizer + "\"",
                   "a tokenizer that keeps characters as they are (identity)"});
  }
  if (settings.removeExtraWhitespaces || !settings.escapeWhitespaces) {
    throw Failure({file, "normalizer_spec",
                   settings.escapeWhitespaces ? "removal of white space" : "spaces that are not escaped",
                   "a tokenizer that keeps white space, with U+2581 for a space"});
  }
}

/// Appends fields to a protobuf message.
class FieldWriter {
 public:
  explicit FieldWriter(std::string& message) : m_message(&message) {}

  void integer(std::uint32_t number, std::uint64_t value) {
    tag(number, Wire::Varint);
    varint(value);
  }
  void bytes(std::uint32_t number, std::string_view value) {
    tag(number, Wire::Bytes);
    varint(value.size());
    *m_message += value;
  }
  void real(std::uint32_t number, float value) {
    tag(number, Wire::Fixed32);
    const auto bits = std::bit_cast<std::uint32_t>(value);
    for (unsigned shift = 0; shift < 32; shift += 8) byte(bits >> shift);
  }

 private:
  void tag(std::uint32_t number, Wire wire) { varint((number << 3U) | static_cast<std::uint32_t>(wire)); }
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7U) byte(value | 0x80U);
    byte(value);
  }
  void byte(std::uint64_t value) {
    *m_message += static_cast<char>(static_cast<unsigned char>(value & 0xFFU));
  }

  std::string* m_message;
};

int hexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::string withoutSpaceMarks(std::string_view text) {
  std::string plain;
  while (true) {
    const std::size_t mark = text.find(kSpaceMark);
    plain += text.substr(0, mark);
    if (mark == std::string_view::npos) return plain;
    plain += ' ';
    text.remove_prefix(mark + kSpaceMark.size());
  }
}

std::string serializeSentencePieceModel(const SentencePieceModel& model) {
  std::string proto;
  std::string message;
  const auto finish = [&](std::uint32_t number) {
    FieldWriter(proto).bytes(number, message);
    message.clear();
  };
  FieldWriter fields(message);
  for (const SentencePiece& piece : model.pieces) {
    fields.bytes(kPieceSpelling, piece.spelling);
    fields.real(kPieceScore, piece.score);
    fields.integer(kPieceType, static_cast<std::uint64_t>(piece.type));
    finish(kModelPieces);
  }
  fields.integer(kTrainerModelType, static_cast<std::uint64_t>(model.algorithm));
  fields.integer(kTrainerByteFallback, model.byteFallback ? 1 : 0);
  finish(kModelTrainerSpec);
  fields.bytes(kNormalizerName, "identity");
  fields.integer(kNormalizerAddDummyPrefix, model.addDummyPrefix ? 1 : 0);
  fields.integer(kNormalizerRemoveExtraWhitespaces, 0);
  fields.integer(kNormalizerEscapeWhitespaces, 1);
  finish(kModelNormalizerSpec);
  return proto;
}

int byteOfPiece(std::string_view spelling) {
  if (spelling.size() != 6 || spelling.substr(0, 3) != "<0x" || spelling[5] != '>') return -1;
  const int high = hexDigit(spelling[3]);
  const int low = hexDigit(spelling[4]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

void checkSentencePieceModel(const SentencePieceModel& model, const std::string& file) {
  if (model.pieces.empty()) throw Failure({file, "", "no pieces", "a sentencepiece model with a vocabulary"});
  std::unordered_set<std::string_view> spellings;
  std::size_t unknown = 0;
  std::array<bool, 256> bytes{};
  for (std::size_t i = 0; i < model.pieces.size(); ++i) {
    const SentencePiece& piece = model.pieces[i];
    checkPiece(piece, i, file);
    if (!spellings.insert(piece.spelling).second) {
      throw Failure({file, "piece " + std::to_string(i), "\"" + piece.spelling + "\" for the second time",
                     "every piece once"});
    }
    if (piece.type == SentencePiece::Type::Unknown) ++unknown;
    if (piece.type == SentencePiece::Type::Byte) {
      bytes[static_cast<std::size_t>(byteOfPiece(piece.spelling))] = true;
    }
  }
  if (unknown != 1) {
    throw Failure({file, "", std::to_string(unknown) + " unknown pieces", "exactly one unknown piece"});
  }
  std::size_t byteCount = 0;
  for (const bool present : bytes) byteCount += present ? 1 : 0;
  if (byteCount != (model.byteFallback ? 256U : 0U)) {
    throw Failure({file, "", counted(byteCount, "byte piece"),
                   model.byteFallback ? "256 byte pieces, because the model declares byte fallback"
                                      : "no byte pieces, because the model declares no byte fallback"});
  }
}

SentencePieceModel parseSentencePieceModel(std::string_view bytes, const std::string& file) {
  if (bytes.empty()) throw Failure({file, "", "an empty file", "a sentencepiece model"});
  SentencePieceModel model;
  ModelSettings settings;
  FieldReader reader(bytes, 0, file);
  while (!reader.atEnd()) {
    const Field field = reader.next();
    if (field.wire != Wire::Bytes) continue;
    const FieldReader inner(field.bytes, reader.offsetOf(field), file);
    if (field.number == kModelPieces) {
      if (model.pieces.size() == kMaxPieces) {
        throw Failure({file, "", "more pieces", "at most " + std::to_string(kMaxPieces)});
      }
      model.pieces.push_back(readPiece(inner, model.pieces.size(), file));
    } else if (field.number == kModelTrainerSpec) {
      readTrainerSpec(inner, settings);
    } else if (field.number == kModelNormalizerSpec) {
      readNormalizerSpec(inner, settings);
    }
  }
  model.byteFallback = settings.byteFallback;
  model.addDummyPrefix = settings.addDummyPrefix;
  checkSentencePieceModel(model, file);
  checkSettings(settings, file);
  model.algorithm = static_cast<SentencePieceModel::Algorithm>(settings.algorithm);
  return model;
}

}  // namespace spanscope::text
