// SPDX-License-Identifier: GPL-3.0-or-later
// Counts from SQLite's FTS5: the words of its rows, and the words that they share with a question.
#pragma once

#include "engine/retrieve/sqlite.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace spanscope::retrieve {

/// How often a row contains a word of the question (or a phrase, if FTS5 splits the word).
struct WordCount {
  std::int32_t word = 0;  ///< number of the word in the question's expression, from 0
  std::int32_t count = 0;
};

/// The rows that match a question, in the order in which they were found.
class WordMatches {
 public:
  std::size_t size() const { return m_rows.size(); }
  /// Number of all words in a row.
  std::int32_t words(std::size_t row) const { return m_rows[row].words; }
  /// Counts of the question's words that the row contains, by number.
  std::span<const WordCount> counts(std::size_t row) const {
    const std::size_t begin = row == 0 ? 0 : m_rows[row - 1].end;
    return std::span(m_counts).subspan(begin, m_rows[row].end - begin);
  }

  /// Adds a count to the row that is added next.
  void addCount(const WordCount& count) { m_counts.push_back(count); }
  void addRow(std::int32_t words) { m_rows.push_back({.words = words, .end = m_counts.size()}); }
  void clear() {
    m_rows.clear();
    m_counts.clear();
  }

 private:
  struct Row {
    std::int32_t words = 0;
    std::size_t end = 0;  ///< one past its last count
  };
  std::vector<Row> m_rows;
  std::vector<WordCount> m_counts;  ///< of all rows
};

/// Adds two SQL functions for FTS5 tables to the connection. word_match(TABLE) adds the matching row to
/// `matches`, which must outlive the connection, and returns the row's index there. all_words(TABLE) returns
/// the number of words in all rows, whatever the current row is. Throws Failure.
void addWordFunctions(Database& database, WordMatches& matches);

}  // namespace spanscope::retrieve
