// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/retrieve/csv_records.h"

#include <optional>
#include <utility>

namespace spanscope::retrieve {
namespace {

class CsvReader {
 public:
  CsvReader(std::string_view text, std::size_t maxRecords) : m_text(text), m_maxRecords(maxRecords) {}

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
      if (auto error = isQuoted ? readQuoted(field) : readPlain(field)) return error;
      record.push_back(std::move(field));
      if (m_at == m_text.size() || skipLineEnd()) break;
      if (m_text[m_at] != ',') return problem("text after a quoted field", "a comma or the end of the line");
      ++m_at;
    }
    m_records.push_back(std::move(record));
    return std::nullopt;
  }

  std::optional<Error> readPlain(std::string& field) {
    const std::size_t begin = m_at;
    while (m_at < m_text.size() && m_text[m_at] != ',' && lineEndLength() == 0) {
      if (m_text[m_at] == '"') return problem("a quote within a field", "quotes around the whole field");
      ++m_at;
    }
    field = m_text.substr(begin, m_at - begin);
    return std::nullopt;
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
  std::size_t m_at = 0;
  std::size_t m_line = 1;
  std::vector<CsvRecord> m_records;
};

}  // namespace

std::variant<std::vector<CsvRecord>, Error> readCsv(std::string_view text, std::size_t maxRecords) {
  return CsvReader(text, maxRecords).read();
}

}  // namespace spanscope::retrieve
