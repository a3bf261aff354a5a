// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/visible_text.h"

#include "engine/base/utf8.h"

#include <cstddef>
#include <utility>

namespace spanscope {

namespace {

enum class Blanks { Kept, Written };

void appendHex(std::string& shown, unsigned value, unsigned digits) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  for (unsigned digit = digits; digit-- > 0;) shown += kDigits[(value >> (4 * digit)) & 0xFU];
}

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

/// Appends the settled beginning of the text and returns its length. An incomplete character at the end is
/// left out.
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
