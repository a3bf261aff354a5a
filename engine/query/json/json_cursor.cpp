// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/query/json/json_cursor.h"

#include "engine/base/ascii.h"
#include "engine/base/utf8.h"
#include "engine/query/number_text.h"
#include "engine/query/shown_text.h"

#include <algorithm>
#include <utility>

namespace spanscope::query {
namespace {

constexpr std::size_t kShownCharacters = 40;

/// Returns the characters at the front of `text` that look like one word, or the beginning of a long word.
std::string_view wordAt(std::string_view text) {
  constexpr std::string_view kBreaks = " \t\r\n,:{}[]\"";
  text = text.substr(0, 8 * kShownCharacters);
  return text.substr(0, std::max<std::size_t>(1, std::min(text.find_first_of(kBreaks), text.size())));
}

std::string hexOf(unsigned code) {
  std::string hex;
  appendHex(hex, code, 4);
  return hex;
}

/// Returns a hint about a notation that people write but JSON lacks.
std::string hintForValue(std::string_view rest) {
  if (rest.starts_with('\'')) return /*id:text-in-double-quotes*/ "Write text in double quotes";
  if (rest.starts_with('/') || rest.starts_with('#')) return /*id:json-no-comments*/ "JSON has no comments";
  if (rest.starts_with('+')) return /*id:number-no-plus*/ "A number does not begin with a plus sign";
  if (rest.starts_with('.')) return "a number begins with a digit, such as 0.5";
  const std::string_view word = wordAt(rest);
  if (word == "NaN" || word == "Infinity" || word == "-Infinity" || word == "nan" || word == "inf") {
    return /*id:json-numbers-no*/ "JSON has no infinity and no NaN";
  }
  if (word == "True" || word == "False" || word == "None")
    return /*id:json-writes-true*/ "JSON writes true, false and null";
  return {};
}

}  // namespace

JsonCursor::JsonCursor(std::string_view text, std::size_t maxDepth, Listener& listener)
    : m_text(text),
      m_maxDepth(maxDepth),
      m_listener(listener),
      m_offset(text.size() - withoutByteOrderMark(text).size()) {}

JsonKind JsonCursor::peek() {
  if (m_stopped) return JsonKind::Invalid;
  skipSpace();
  if (atEnd()) return JsonKind::End;
  const std::string_view rest = m_text.substr(m_offset);
  switch (rest.front()) {
    case '{':
      return JsonKind::Object;
    case '[':
      return JsonKind::Array;
    case '"':
      return JsonKind::String;
    default:
      break;
  }
  if (rest.front() == '-' || (rest.front() >= '0' && rest.front() <= '9')) return JsonKind::Number;
  const std::string_view word = wordAt(rest);
  if (word == "null") return JsonKind::Null;
  if (word == "true") return JsonKind::True;
  if (word == "false") return JsonKind::False;
  return JsonKind::Invalid;
}

std::string JsonCursor::readString() {
  std::string value;
  if (peek() != JsonKind::String) {
    fail("text in double quotes");
    return value;
  }
  const std::size_t begin = m_offset++;
  while (!m_stopped) {
    const std::size_t run = m_offset;
    while (!atEnd() && m_text[m_offset] != '"' && m_text[m_offset] != '\\' &&
           static_cast<unsigned char>(m_text[m_offset]) >= 0x20) {
      ++m_offset;
    }
    value += m_text.substr(run, m_offset - run);
    if (atEnd()) {
      failWith({begin,
                /*id:text-not-closed*/ "a text without an end",
                /*id:closing-double-quote*/ "a closing double quote",
                {}});
      break;
    }
    const char c = m_text[m_offset];
    if (c == '"') {
      ++m_offset;
      break;
    }
    if (c == '\\') {
      readEscape(value);
    } else if (c == '\n' || c == '\r') {
      // Probably the closing quote is missing. The reader would then misread the rest of the document.
      fail(/*id:closing-double-quote-same*/ "a closing double quote on the same line",
           /*id:line-break-within*/ "Write a line break within text as \\n");
    } else {
      const std::string escape = c == '\t' ? "\\t" : "\\u" + hexOf(static_cast<unsigned char>(c));
      m_listener.jsonIssue({m_offset, /*id:control-character-within*/ "a control character within text",
                            "an escape", "write " + escape});
      ++m_offset;
    }
  }
  return value;
}

void JsonCursor::readEscape(std::string& value) {
  constexpr std::string_view kNames = "\"\\/bfnrt";
  constexpr std::string_view kValues = "\"\\/\b\f\n\r\t";
  const std::size_t begin = m_offset++;
  if (atEnd()) return;
  const char name = m_text[m_offset];
  if (name == 'u') {
    m_offset = begin;
    readUnicodeEscape(value);
    return;
  }
  const std::size_t known = kNames.find(name);
  if (known != std::string_view::npos) {
    value += kValues[known];
    ++m_offset;
    return;
  }
  m_listener.jsonIssue({begin, /*id:backslash-begins-no*/ "a backslash that begins no escape",
                        "one of \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX",
                        /*id:backslash-itself-written*/ "To write a backslash, double it: \\\\"});
}

void JsonCursor::readUnicodeEscape(std::string& value) {
  const std::size_t begin = m_offset;
  const auto isSurrogate = [](unsigned code, unsigned first) {
    return code >= first && code < first + 0x400;
  };
  constexpr unsigned kHigh = 0xD800;
  constexpr unsigned kLow = 0xDC00;
  m_offset += 2;
  unsigned code = 0;
  if (!readHexDigits(code)) {
    m_listener.jsonIssue({begin,
                          "an incomplete \\u escape",
                          /*id:four-hexadecimal-digits*/ "four hexadecimal digits after \\u",
                          {}});
    return;
  }
  if (isSurrogate(code, kHigh) && m_text.substr(m_offset).starts_with("\\u")) {
    const std::size_t second = m_offset;
    m_offset += 2;
    unsigned low = 0;
    if (readHexDigits(low) && isSurrogate(low, kLow)) {
      appendUtf8(value, 0x10000 + ((code - kHigh) << 10U) + (low - kLow));
      return;
    }
    m_offset = second;
  }
  if (isSurrogate(code, kHigh) || isSurrogate(code, kLow)) {
    m_listener.jsonIssue(
        {begin, /*id:half-surrogate-pair*/ "half of a surrogate pair, \\u" + hexOf(code), "a whole character",
         /*id:write-character-itself*/ "Write the character itself, or both halves, such as \\ud83d\\ude00"});
    return;
  }
  appendUtf8(value, code);
}

bool JsonCursor::readHexDigits(unsigned& value) {
  value = 0;
  for (int i = 0; i < 4; ++i, ++m_offset) {
    const int digit = atEnd() ? -1 : hexDigit(m_text[m_offset]);
    if (digit < 0) return false;
    value = value << 4U | static_cast<unsigned>(digit);
  }
  return true;
}

std::string_view JsonCursor::readNumber() {
  if (peek() != JsonKind::Number) {
    fail("a number");
    return "0";
  }
  const std::string_view rest = m_text.substr(m_offset);
  const std::string_view number =
      rest.substr(0, std::min(rest.find_first_not_of("+-.0123456789eE"), rest.size()));
  if (!isJsonNumber(number)) {
    const std::string_view digits = number.substr(number.starts_with('-') ? 1 : 0);
    const bool hasLeadingZero = digits.size() > 1 && digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9';
    failWith(
        {m_offset, inQuotes(wordAt(rest)), /*id:number-such-e*/ "a number such as 12, -3, 0.5 or 1e-3",
         hasLeadingZero ? /*id:number-not-begin*/ "Remove the zeros at the beginning of the number" : ""});
    return "0";
  }
  if (!isInDoubleRange(number)) {
    m_listener.jsonIssue({m_offset, "the number " + cutText(number, kShownCharacters),
                          /*id:number-bit-float*/ "a number that a 64-bit float can hold",
                          /*id:largest-about-e*/ "The largest possible number is about 1.8e308"});
  }
  m_offset += number.size();
  return number;
}

void JsonCursor::readLiteral() {
  const JsonKind kind = peek();
  if (kind == JsonKind::Null || kind == JsonKind::True) {
    m_offset += 4;
  } else if (kind == JsonKind::False) {
    m_offset += 5;
  } else {
    fail("true, false or null");
  }
}

void JsonCursor::enterArray() {
  enter('[');
}

void JsonCursor::enterObject() {
  enter('{');
}

void JsonCursor::enter(char bracket) {
  if (peek() != (bracket == '[' ? JsonKind::Array : JsonKind::Object)) {
    fail(bracket == '[' ? "a list" : "an object");
    return;
  }
  if (m_depth >= m_maxDepth) {
    failWith({m_offset,
              "one more container inside " + std::to_string(m_depth) + " others",
              "at most " + std::to_string(m_maxDepth) +
                  /*id:containers-within-each*/ " nested containers",
              {}});
    return;
  }
  ++m_depth;
  ++m_offset;
}

bool JsonCursor::nextElement(Container& array) {
  return nextInContainer(array, ']', "a value or ]");
}

bool JsonCursor::nextMember(Container& object, std::string& key) {
  if (!nextInContainer(object, '}', "a key in double quotes or }")) return false;
  object.keyOffset = m_offset;
  return readKey(key);
}

bool JsonCursor::nextInContainer(Container& container, char close, const char* expectedFirst) {
  if (m_stopped) return false;
  skipSpace();
  const auto isNext = [this](char c) { return !atEnd() && m_text[m_offset] == c; };
  if (isNext(close)) {
    ++m_offset;
    --m_depth;
    return false;
  }
  if (container.isFirst) {
    container.isFirst = false;
    if (atEnd()) fail(expectedFirst);
    return !m_stopped;
  }
  const std::string closing(1, close);
  if (!isNext(',')) {
    fail("a comma or " + closing);
    return false;
  }
  const std::size_t comma = m_offset++;
  skipSpace();
  if (isNext(close)) {
    failWith({comma, "a comma before " + closing, closing, "remove the comma"});
  }
  return !m_stopped;
}

bool JsonCursor::readKey(std::string& key) {
  if (peek() != JsonKind::String) {
    const bool isWord =
        !atEnd() && m_text[m_offset] != '{' && m_text[m_offset] != '[' && m_text[m_offset] != ',';
    fail(/*id:key-double-quotes*/ "a key in double quotes",
         isWord ? /*id:keys-stand-double*/ "Write keys in double quotes" : "");
    return false;
  }
  key = readString();
  if (m_stopped) return false;
  skipSpace();
  if (atEnd() || m_text[m_offset] != ':') {
    fail(/*id:colon-after-key*/ "a colon after the key " + inQuotes(key));
    return false;
  }
  ++m_offset;
  return true;
}

void JsonCursor::skipValue() {
  switch (peek()) {
    case JsonKind::Null:
    case JsonKind::False:
    case JsonKind::True:
      readLiteral();
      break;
    case JsonKind::Number:
      readNumber();
      break;
    case JsonKind::String:
      readString();
      break;
    case JsonKind::Array: {
      enterArray();
      for (Container array; nextElement(array);) skipValue();
      break;
    }
    case JsonKind::Object: {
      std::string key;
      enterObject();
      for (Container object; nextMember(object, key);) skipValue();
      break;
    }
    case JsonKind::End:
    case JsonKind::Invalid:
      fail("a value", atEnd() ? std::string() : hintForValue(m_text.substr(m_offset)));
      break;
  }
}

void JsonCursor::expectEnd() {
  if (m_stopped || peek() == JsonKind::End) return;
  fail(/*id:nothing-after-query*/ "the end of the text after the query",
       m_text[m_offset] == '{' ? /*id:document-holds-query*/ "A text contains one query" : "");
}

void JsonCursor::goTo(Mark mark) {
  m_offset = mark.place;
  m_depth = mark.depth;
}

void JsonCursor::skipSpace() {
  m_offset = std::min(m_text.find_first_not_of(" \t\r\n", m_offset), m_text.size());
}

std::string JsonCursor::describeHere() const {
  if (atEnd()) return /*id:end-document*/ "the end of the text";
  const std::string_view rest = m_text.substr(m_offset);
  if (rest.starts_with(kByteOrderMark)) return /*id:byte-order-mark*/ "a byte order mark";
  if (rest.starts_with('\n') || rest.starts_with('\r')) return /*id:end-line*/ "the end of the line";
  if (static_cast<unsigned char>(rest.front()) < 0x20) {
    return "the control character U+" + hexOf(static_cast<unsigned char>(rest.front()));
  }
  if (rest.starts_with('"')) return "a double quote";
  return inQuotes(wordAt(rest));
}

std::string JsonCursor::describeNext(JsonKind kind) const {
  const std::string_view rest = m_text.substr(m_offset);
  if (kind == JsonKind::Number)
    return "the number " +
           cutText(rest.substr(0, rest.find_first_not_of("+-.0123456789eE")), kShownCharacters);
  if (kind == JsonKind::String)
    return "the text " + inQuotes(rest.substr(1, rest.substr(1).find_first_of("\"\r\n")));
  return kindText(kind);
}

void JsonCursor::fail(std::string expected, std::string hint) {
  if (m_stopped) return;
  if (hint.empty() && m_text.substr(m_offset).starts_with(kByteOrderMark)) {
    hint = /*id:save-file-utf*/ "Save the file as UTF-8 without a byte order mark";
  }
  failWith({m_offset, describeHere(), std::move(expected), std::move(hint)});
}

void JsonCursor::failWith(JsonIssue issue) {
  if (m_stopped) return;
  m_stopped = true;
  m_listener.jsonIssue(std::move(issue));
}

}  // namespace spanscope::query
