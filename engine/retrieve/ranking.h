// SPDX-License-Identifier: GPL-3.0-or-later
// Ranks passages by how well they match a question, and keeps the reasons. Also computes BM25 scores from the
// counts of SQLite's FTS5. Open this file to change hybrid or lexical ranking.
#pragma once

#include "engine/retrieve/passage.h"
#include "engine/retrieve/passage_index.h"
#include "engine/retrieve/sqlite.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::retrieve {

enum class Ranking {
  Lexical,    ///< by words: BM25
  Embedding,  ///< by the cosine of vectors
  Hybrid      ///< by both, fused
};
/// Returns "lexical", "embedding" or "hybrid".
const char* rankingName(Ranking ranking);
std::optional<Ranking> parseRanking(std::string_view name);

/// The place that one ranker gives a passage.
struct Placing {
  std::size_t rank = 0;  ///< from 1
  double score = 0;
  bool operator==(const Placing&) const = default;
};

struct RankedPassage {
  Passage passage;  ///< `score` is the score of the whole ranking
  std::optional<Placing> lexical;
  std::optional<Placing> embedding;
};

/// Fuses two lists by reciprocal rank fusion (Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion
/// outperforms Condorcet …", SIGIR 2009). Each list adds 1 / (60 + rank) to the score of each of its
/// passages. The best passage comes first. Passages with equal scores keep the order of the lexical list,
/// then the order of the other list. Passages with the same document and number are the same.
std::vector<RankedPassage> fuseRanks(const std::vector<Passage>& lexical,
                                     const std::vector<Passage>& embedding);

/// Returns the best passages of the chosen documents, the best first. A single ranker gives `depth` passages.
/// Hybrid fuses the `depth` best of each ranker, and gives at most twice as many. The best lexical passage is
/// always among the first `depth`, because only passages in both lists can come before it. Rankings other
/// than Lexical need `embedder`, and the vectors of the documents in the index. Throws Failure. After a stop,
/// the result is empty.
std::vector<RankedPassage> rankPassages(const PassageIndex& index, std::string_view question,
                                        std::size_t depth, Ranking ranking, const DocumentChoice& documents,
                                        Embedder* embedder, std::stop_token stop = {});

// Counts from SQLite's FTS5, for each row: the number of all words, and the counts of a question's words.

/// The number of times that a row contains a word of the question. A word is a phrase if FTS5 splits it.
struct WordCount {
  std::int32_t word = 0;  ///< number of the word in the question's expression, from 0
  std::int32_t count = 0;
};

/// The rows that match a question, in the order of the search.
class WordMatches {
 public:
  std::size_t size() const { return m_rows.size(); }
  /// Returns the number of all words in a row.
  std::int32_t words(std::size_t row) const { return m_rows[row].words; }
  /// Returns the counts of the question's words in the row, by number.
  std::span<const WordCount> counts(std::size_t row) const {
    const std::size_t begin = row == 0 ? 0 : m_rows[row - 1].end;
    return std::span(m_counts).subspan(begin, m_rows[row].end - begin);
  }

  /// Adds a count to the next row.
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

/// Adds two SQL functions for FTS5 tables to the connection. Throws Failure. The function word_match(TABLE)
/// adds the matching row to `matches` and returns the row's index there. `matches` must outlive the
/// connection. The function all_words(TABLE) returns the number of words in all rows, for any current row.
void addWordFunctions(Database& database, WordMatches& matches);

/// The size of all searched passages, with or without a word of the question.
struct CollectionSize {
  std::int64_t passages = 0;
  std::int64_t words = 0;  ///< of all passages
};

/// Returns the BM25 score of each match in a collection (Robertson and Zaragoza, "The Probabilistic Relevance
/// Framework: BM25 and Beyond", 2009). A higher score is better. The constants are the constants of FTS5: k1
/// = 1.2, b = 0.75. A word's weight is at least 1e-6. The scores are bit-equal to the scores of FTS5 if the
/// table of FTS5 contains only this collection. `matches` are all passages of the collection that contain a
/// word of the question. A score that is not a number becomes 0.
std::vector<double> bm25Scores(const WordMatches& matches, const CollectionSize& collection);

/// Returns an FTS5 expression that matches any row with a word of the text. The expression contains the first
/// `count` different words. The expression is empty if there is no word. Every word is a quoted string, so no
/// word can be an operator.
std::string matchAnyWord(std::string_view text, std::size_t count);

}  // namespace spanscope::retrieve
