// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/utf8.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <utility>

namespace spanscope {

namespace {

/// The lead byte determines the length of a character and its valid second bytes. Other second bytes give
/// overlong forms, surrogates or numbers out of range.
struct Lead {
  std::size_t length = 0;
  unsigned secondLow = 0x80;
  unsigned secondHigh = 0xBF;
};

Lead leadOf(unsigned byte) {
  if (byte < 0x80) return {1};
  if (byte < 0xC2) return {0};
  if (byte < 0xE0) return {2};
  if (byte == 0xE0) return {3, 0xA0, 0xBF};
  if (byte == 0xED) return {3, 0x80, 0x9F};
  if (byte < 0xF0) return {3};
  if (byte == 0xF0) return {4, 0x90, 0xBF};
  if (byte < 0xF4) return {4};
  if (byte == 0xF4) return {4, 0x80, 0x8F};
  return {0};
}

}  // namespace

Utf8Step nextUtf8(std::string_view bytes) {
  const Lead lead = leadOf(static_cast<unsigned char>(bytes.front()));
  if (lead.length == 0) return {Utf8Step::Kind::Invalid, 1};
  for (std::size_t i = 1; i < lead.length; ++i) {
    if (i == bytes.size()) return {Utf8Step::Kind::Incomplete, i};
    const unsigned byte = static_cast<unsigned char>(bytes[i]);
    const unsigned low = i == 1 ? lead.secondLow : 0x80U;
    const unsigned high = i == 1 ? lead.secondHigh : 0xBFU;
    if (byte < low || byte > high) return {Utf8Step::Kind::Invalid, i};
  }
  return {Utf8Step::Kind::Character, lead.length};
}

std::size_t findInvalidUtf8(std::string_view bytes) {
  std::size_t i = 0;
  while (i < bytes.size()) {
    // Most text is ASCII, so this loop skips eight ASCII bytes at a time.
    if (bytes.size() - i >= sizeof(std::uint64_t)) {
      std::uint64_t eight = 0;
      std::memcpy(&eight, bytes.data() + i, sizeof eight);
      if ((eight & 0x8080808080808080U) == 0) {
        i += sizeof eight;
        continue;
      }
    }
    const Utf8Step step = nextUtf8(bytes.substr(i));
    if (step.kind != Utf8Step::Kind::Character) return i;
    i += step.length;
  }
  return std::string_view::npos;
}

bool isValidUtf8(std::string_view bytes) {
  return findInvalidUtf8(bytes) == std::string_view::npos;
}

std::string toValidUtf8(std::string_view bytes) {
  std::string valid;
  valid.reserve(bytes.size());
  while (true) {
    const std::size_t invalid = findInvalidUtf8(bytes);
    valid += bytes.substr(0, invalid);
    if (invalid == std::string_view::npos) return valid;
    bytes.remove_prefix(invalid);
    valid += kReplacementCharacter;
    bytes.remove_prefix(nextUtf8(bytes).length);
  }
}

std::size_t settledUtf8Length(std::string_view bytes) {
  // An incomplete character can begin only at a lead byte in the last three bytes.
  const std::size_t from = bytes.size() - std::min<std::size_t>(bytes.size(), 3);
  for (std::size_t i = from; i < bytes.size(); ++i) {
    const Utf8Step step = nextUtf8(bytes.substr(i));
    if (step.kind == Utf8Step::Kind::Incomplete) return i;
  }
  return bytes.size();
}

std::size_t countCharacters(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return !isUtf8Continuation(c); }));
}

std::string_view beginningOf(std::string_view text, std::size_t bytes) {
  if (text.size() <= bytes) return text;
  while (bytes > 0 && isUtf8Continuation(text[bytes])) --bytes;
  return text.substr(0, bytes);
}

std::string_view trimmed(std::string_view text, std::string_view blanks) {
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  return text.substr(0, text.find_last_not_of(blanks) + 1);
}

std::vector<std::string_view> splitAt(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

void appendUtf8(std::string& text, char32_t character) {
  const auto add = [&text](char32_t byte) { text += static_cast<char>(static_cast<unsigned char>(byte)); };
  const auto goOn = [&](unsigned bits) { add(0x80U | ((character >> bits) & 0x3FU)); };
  if (character < 0x80) {
    add(character);
  } else if (character < 0x800) {
    add(0xC0U | (character >> 6U));
    goOn(0);
  } else if (character < 0x10000) {
    add(0xE0U | (character >> 12U));
    goOn(6);
    goOn(0);
  } else {
    add(0xF0U | (character >> 18U));
    goOn(12);
    goOn(6);
    goOn(0);
  }
}

namespace {

struct Encoding {
  std::size_t width = 2;  ///< bytes of a unit
  bool isLittle = true;   ///< the lowest byte comes first
};

struct Decoded {
  std::string text;
  std::size_t characters = 0;
  std::size_t ascii = 0;                     ///< number of ASCII characters
  std::optional<std::size_t> firstReplaced;  ///< byte offset of the first replaced part
  bool isSound = true;  ///< well-formed, and without control characters except line ends and tabs
};

char32_t unitAt(std::string_view bytes, std::size_t at, Encoding encoding) {
  char32_t unit = 0;
  for (std::size_t i = 0; i < encoding.width; ++i) {
    const std::size_t place = encoding.isLittle ? encoding.width - 1 - i : i;
    unit = unit << 8U | static_cast<unsigned char>(bytes[at + place]);
  }
  return unit;
}

bool isHighSurrogate(char32_t unit) {
  return unit >= 0xD800 && unit < 0xDC00;
}
bool isLowSurrogate(char32_t unit) {
  return unit >= 0xDC00 && unit < 0xE000;
}
bool isCharacter(char32_t unit) {
  return unit <= 0x10FFFF && !isHighSurrogate(unit) && !isLowSurrogate(unit);
}
/// Whether a text file may contain the character. U+FFFE and U+FFFF are not characters. U+FFFE is a byte
/// order mark with swapped bytes.
bool isOfText(char32_t character) {
  const bool isLine = character == '\t' || character == '\n' || character == '\r' || character == '\f';
  const bool isControl = character < 0x20 || (character >= 0x7F && character < 0xA0);
  return isLine || (!isControl && (character & 0xFFFEU) != 0xFFFEU);
}

Decoded decode(std::string_view bytes, Encoding encoding) {
  Decoded decoded;
  std::size_t at = 0;
  for (; at + encoding.width <= bytes.size(); at += encoding.width) {
    char32_t character = unitAt(bytes, at, encoding);
    const std::size_t next = at + encoding.width;
    if (encoding.width == 2 && isHighSurrogate(character) && next + encoding.width <= bytes.size()) {
      const char32_t low = unitAt(bytes, next, encoding);
      if (isLowSurrogate(low)) {
        character = 0x10000 + ((character - 0xD800) << 10U) + (low - 0xDC00);
        at = next;
      }
    }
    ++decoded.characters;
    if (!isCharacter(character)) {
      decoded.isSound = false;
      if (!decoded.firstReplaced) decoded.firstReplaced = at;
      decoded.text += kReplacementCharacter;
      continue;
    }
    if (character < 0x80) ++decoded.ascii;
    if (!isOfText(character)) decoded.isSound = false;
    appendUtf8(decoded.text, character);
  }
  if (at < bytes.size()) {
    decoded.isSound = false;
    if (!decoded.firstReplaced) decoded.firstReplaced = at;
    decoded.text += kReplacementCharacter;
  }
  return decoded;
}

/// Whether the bytes are UTF-8 text with some zero bytes, and not UTF-16 or UTF-32. In UTF-16 and UTF-32, at
/// least half of the bytes of ASCII letters are zeros. Most other characters contain invalid UTF-8 or control
/// characters.
bool isNarrowWithZeros(std::string_view bytes) {
  constexpr std::size_t kFewZeros = 4;  // at most one byte in four is zero
  const auto zeros = static_cast<std::size_t>(std::ranges::count(bytes, '\0'));
  if (zeros * kFewZeros > bytes.size() || !isValidUtf8(bytes)) return false;
  return std::ranges::all_of(bytes, [](char byte) {
    const auto value = static_cast<unsigned char>(byte);
    return value == 0 || value >= 0x80 || isOfText(value);
  });
}

std::optional<Encoding> markedEncoding(std::string_view bytes) {
  using namespace std::string_view_literals;
  const bool isOfFours = bytes.size() % 4 == 0;
  if (bytes.starts_with("\xFF\xFE\0\0"sv) && isOfFours) return Encoding{.width = 4, .isLittle = true};
  if (bytes.starts_with("\0\0\xFE\xFF"sv) && isOfFours) return Encoding{.width = 4, .isLittle = false};
  if (bytes.starts_with("\xFF\xFE"sv)) return Encoding{.width = 2, .isLittle = true};
  if (bytes.starts_with("\xFE\xFF"sv)) return Encoding{.width = 2, .isLittle = false};
  return std::nullopt;
}

}  // namespace

std::optional<NarrowText> utf8OfWide(std::string_view bytes) {
  /// In languages with spaces between words or with line ends, at least one in this number of characters is
  /// ASCII.
  constexpr std::size_t kCharactersPerAscii = 20;
  constexpr std::size_t kFewest = 4;  // min number of characters to recognize a text without a byte order
                                      // mark
  if (const auto marked = markedEncoding(bytes); marked && bytes.size() > marked->width) {
    Decoded decoded = decode(bytes.substr(marked->width), *marked);
    if (decoded.firstReplaced) *decoded.firstReplaced += marked->width;
    return NarrowText{std::move(decoded.text), decoded.firstReplaced};
  }
  if (bytes.size() % 2 != 0 || bytes.find('\0') == std::string_view::npos) return std::nullopt;
  if (isNarrowWithZeros(bytes)) return std::nullopt;
  std::optional<Decoded> best;
  for (const std::size_t width : {std::size_t{4}, std::size_t{2}}) {
    for (const bool isLittle : {true, false}) {
      Decoded decoded = decode(bytes, {.width = width, .isLittle = isLittle});
      if (!decoded.isSound || decoded.characters < kFewest) continue;
      if (decoded.ascii * kCharactersPerAscii < decoded.characters) continue;
      // In the wrong byte order, ASCII letters become other characters.
      if (!best || decoded.ascii > best->ascii) best = std::move(decoded);
    }
  }
  if (!best) return std::nullopt;
  return NarrowText{std::move(best->text), std::nullopt};
}

std::string inUtf8(std::string bytes) {
  std::optional<NarrowText> narrow = utf8OfWide(bytes);
  return narrow && !narrow->firstReplaced ? std::move(narrow->text) : std::move(bytes);
}

const char* kindOfBytes(std::string_view bytes) {
  if (bytes.starts_with("PK\x03\x04")) return "a ZIP archive (for example a Word, Excel or EPUB file)";
  if (bytes.starts_with("\xD0\xCF\x11\xE0")) return "an old Office file";
  if (bytes.starts_with("\x89PNG") || bytes.starts_with("\xFF\xD8\xFF") || bytes.starts_with("GIF8"))
    return "a picture";
  if (bytes.starts_with("\x1F\x8B")) return "a compressed file (gzip)";
  if (bytes.starts_with("%PDF-")) return "a PDF";
  if (bytes.starts_with("GGUF")) return "a model (GGUF)";
  if (bytes.starts_with("SQLite format 3")) return "a database (SQLite)";
  return nullptr;
}

namespace {

enum class Blanks { Kept, Written };

unsigned byteAt(std::string_view text, std::size_t index) {
  return static_cast<unsigned char>(text[index]);
}

/// Returns the code point of a character of at most three bytes.
unsigned codePoint(std::string_view character) {
  if (character.size() == 1) return byteAt(character, 0);
  if (character.size() == 2) return ((byteAt(character, 0) & 0x1FU) << 6U) | (byteAt(character, 1) & 0x3FU);
  return ((byteAt(character, 0) & 0x0FU) << 12U) | ((byteAt(character, 1) & 0x3FU) << 6U) |
         (byteAt(character, 2) & 0x3FU);
}

void appendControl(std::string& shown, std::string_view character) {
  if (character == "\n" || character == "\t" || character == "\r") {
    shown += character == "\n" ? "\\n" : character == "\t" ? "\\t" : "\\r";
    return;
  }
  shown += "\\u";
  appendHex(shown, codePoint(character), 4);
}

void appendBytes(std::string& shown, std::string_view bytes) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    shown += "\\x";
    appendHex(shown, byteAt(bytes, i), 2);
  }
}

/// Appends the text in visible form and returns the number of used bytes. An incomplete character at the end
/// is not used.
std::size_t appendVisible(std::string& shown, std::string_view text, Blanks blanks) {
  std::size_t at = 0;
  while (at < text.size()) {
    const Utf8Step step = nextUtf8(text.substr(at));
    if (step.kind == Utf8Step::Kind::Incomplete) break;
    const std::string_view part = text.substr(at, step.length);
    const bool isKept = blanks == Blanks::Kept && (part == "\n" || part == "\t");
    if (step.kind == Utf8Step::Kind::Invalid) {
      appendBytes(shown, part);
    } else if (isControl(part) && !isKept) {
      appendControl(shown, part);
    } else {
      shown += part;
    }
    at += step.length;
  }
  return at;
}

}  // namespace

bool isControl(std::string_view character) {
  if (character.empty() || character.size() > 3) return false;
  const unsigned number = codePoint(character);
  return number < 0x20 || (number >= 0x7F && number < 0xA0) || (number >= 0x2028 && number <= 0x202E) ||
         (number >= 0x2066 && number <= 0x2069);
}

void VisibleText::append(std::string& shown, std::string_view piece) {
  std::string joined;
  if (!m_begun.empty()) {
    joined = std::move(m_begun);
    joined += piece;
    piece = joined;
  }
  const std::size_t settled = appendVisible(shown, piece, Blanks::Kept);
  m_begun = piece.substr(settled);
}

void VisibleText::finish(std::string& shown) {
  appendBytes(shown, m_begun);
  m_begun.clear();
}

std::string onOneLine(std::string_view text) {
  std::string shown;
  const std::size_t settled = appendVisible(shown, text, Blanks::Written);
  appendBytes(shown, text.substr(settled));
  return shown;
}

std::string escapedMarkup(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

void appendHex(std::string& text, std::uint64_t value, unsigned digits) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  for (unsigned digit = digits; digit-- > 0;) text += kDigits[(value >> (4 * digit)) & 0xFU];
}

std::string hexOf(std::span<const std::uint8_t> bytes) {
  std::string text;
  for (const std::uint8_t byte : bytes) appendHex(text, byte, 2);
  return text;
}

std::optional<char32_t> escapedUnit(std::string_view text) {
  constexpr std::size_t kLength = 6;
  if (text.size() < kLength || !text.starts_with("\\u")) return std::nullopt;
  std::uint32_t unit = 0;
  const char* const end = text.data() + kLength;
  const auto read = std::from_chars(text.data() + 2, end, unit, 16);
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return static_cast<char32_t>(unit);
}

std::string pointerStep(std::string_view name) {
  std::string step = "/";
  for (const char c : name) {
    if (c == '~') {
      step += "~0";
    } else if (c == '/') {
      step += "~1";
    } else {
      step += c;
    }
  }
  return step;
}

}  // namespace spanscope
