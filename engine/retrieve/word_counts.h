// SPDX-License-Identifier: GPL-3.0-or-later
// What SQLite's FTS5 counts: the words of its rows, and how often they are those of a question.
#pragma once

#include "engine/retrieve/sqlite.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace spanscope::retrieve {

/// A word of the question (or a phrase, where FTS5 takes it apart) in one row.
struct WordCount {
  std::int32_t word = 0;  ///< its number in the question's expression, from 0
  std::int32_t count = 0;
};

/// The rows that a question matches, in the order in which they were found.
class WordMatches {
 public:
  std::size_t size() const { return m_rows.size(); }
  /// Words of a row, all of them.
  std::int32_t words(std::size_t row) const { return m_rows[row].words; }
  /// Words of the question that a row has, by number.
  std::span<const WordCount> counts(std::size_t row) const {
    const std::size_t begin = row == 0 ? 0 : m_rows[row - 1].end;
    return std::span(m_counts).subspan(begin, m_rows[row].end - begin);
  }

  /// One more word of the row that is added next.
  void addCount(const WordCount& count) { m_counts.push_back(count); }
  void addRow(std::int32_t words) { m_rows.push_back({.words = words, .end = m_counts.size()}); }
  void clear() {
    m_rows.clear();
    m_counts.clear();
  }

 private:
  struct Row {
    std::int32_t words = 0;
    std::size_t end = 0;  ///< of its counts
  };
  std::vector<Row> m_rows;
  std::vector<WordCount> m_counts;  ///< of all rows
};

/// Gives the connection two SQL functions of an FTS5 table: word_match(TABLE) adds the row that is matched to
/// `matches`, which outlives the connection, and gives its number there; all_words(TABLE) says for any row
/// how many words all rows have. Throws Failure.
void addWordFunctions(Database& database, WordMatches& matches);

}  // namespace spanscope::retrieve
