// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/retrieve/csv_records.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace spanscope::retrieve {
namespace {

/// Returns the min number of separators outside of quotes in the first records. A character of the texts then
/// does not count.
std::size_t leastSeparators(std::string_view text, char separator) {
  constexpr int kLookedAt = 5;
  std::optional<std::size_t> least;
  std::size_t inRecord = 0;
  bool isQuoted = false;  // the current letter
  bool isBlankSoFar = true;
  int records = 0;
  const auto end = [&] {
    if (!isBlankSoFar) {
      least = std::min(least.value_or(inRecord), inRecord);
      ++records;
    }
    inRecord = 0;
    isBlankSoFar = true;
  };
  bool isFieldBegin = true;
  bool hasQuotes = false;  // around the field
  for (const char letter : text) {
    if (std::exchange(isFieldBegin, false)) hasQuotes = letter == '"';
    if (letter == '"' && hasQuotes) isQuoted = !isQuoted;
    if (isQuoted) {
      isBlankSoFar = false;
    } else if (letter == '\n') {
      end();
      if (records == kLookedAt) break;
      isFieldBegin = true;
    } else if (letter == separator) {
      ++inRecord;
      isFieldBegin = true;
      isBlankSoFar = false;
    } else if (letter != '\r') {
      isBlankSoFar = false;
    }
  }
  if (records < kLookedAt) end();
  return least.value_or(0);
}

char separatorOf(std::string_view text) {
  char best = ',';
  std::size_t most = 0;
  for (const char separator : {',', ';', '\t'}) {
    const std::size_t count = leastSeparators(text, separator);
    if (count <= most) continue;
    best = separator;
    most = count;
  }
  return best;
}

class CsvReader {
 public:
  CsvReader(std::string_view text, std::size_t maxRecords)
      : m_text(text), m_maxRecords(maxRecords), m_separator(separatorOf(text)) {}

  std::variant<std::vector<CsvRecord>, Error> read() {
    while (m_at < m_text.size()) {
      if (skipLineEnd()) continue;
      if (m_records.size() == m_maxRecords) {
        return problem("a further record", "at most " + std::to_string(m_maxRecords));
      }
      if (auto error = readRecord()) return std::move(*error);
    }
    return std::move(m_records);
  }

 private:
  Error problem(std::string found, std::string expected) const {
    return {{}, "line " + std::to_string(m_line), std::move(found), std::move(expected)};
  }

  std::size_t lineEndLength() const {
    if (m_text[m_at] == '\n') return 1;
    return m_text.substr(m_at, 2) == "\r\n" ? 2 : 0;
  }

  bool skipLineEnd() {
    const std::size_t length = lineEndLength();
    m_at += length;
    if (length > 0) ++m_line;
    return length > 0;
  }

  std::optional<Error> readRecord() {
    CsvRecord record;
    for (;;) {
      std::string field;
      const bool isQuoted = m_at < m_text.size() && m_text[m_at] == '"';
      if (!isQuoted) {
        readPlain(field);
      } else if (auto error = readQuoted(field)) {
        return error;
      }
      record.push_back(std::move(field));
      if (m_at == m_text.size() || skipLineEnd()) break;
      if (m_text[m_at] != m_separator) {
        return problem("text after a quoted field", std::string(m_separator == ','   ? "a comma"
                                                                : m_separator == ';' ? "a semicolon"
                                                                                     : "a tab") +
                                                        " or the end of the line");
      }
      ++m_at;
    }
    m_records.push_back(std::move(record));
    return std::nullopt;
  }

  void readPlain(std::string& field) {
    const std::size_t begin = m_at;
    while (m_at < m_text.size() && m_text[m_at] != m_separator && lineEndLength() == 0) ++m_at;
    field = m_text.substr(begin, m_at - begin);
  }

  std::optional<Error> readQuoted(std::string& field) {
    const Error unended = problem("a quoted field without an end", "a closing quote");
    for (++m_at; m_at < m_text.size(); ++m_at) {
      if (m_text[m_at] == '"') {
        ++m_at;
        if (m_at == m_text.size() || m_text[m_at] != '"') return std::nullopt;
      }
      if (m_text[m_at] == '\n') ++m_line;
      field += m_text[m_at];
    }
    return unended;
  }

  std::string_view m_text;
  std::size_t m_maxRecords;
  char m_separator;
  std::size_t m_at = 0;
  std::size_t m_line = 1;
  std::vector<CsvRecord> m_records;
};

}  // namespace

std::variant<std::vector<CsvRecord>, Error> readCsv(std::string_view text, std::size_t maxRecords) {
  return CsvReader(text, maxRecords).read();
}

}  // namespace spanscope::retrieve
