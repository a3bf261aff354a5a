// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/retrieve/index_pruning.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace spanscope::retrieve {
namespace {

constexpr std::chrono::milliseconds kTransactionTime{100};

class Pruner {
 public:
  Pruner(Database& database, IndexChecks& checks, const KeepRule& rule, std::stop_token stop)
      : m_database(database),
        m_checks(checks),
        m_stop(std::move(stop)),
        m_today(rule.today()),
        m_rule(rule) {}

  bool prune() {
    if (isDone()) return false;
    for (const std::int64_t document : documentsToGo()) {
      if (m_stop.stop_requested()) return true;
      makeRoomInTime();
      removeDocument(document);
    }
    commit();
    if (m_stop.stop_requested()) return true;
    removeRest();
    m_database.execute("PRAGMA incremental_vacuum");
    return true;
  }

 private:
  Day oldest() const { return m_today - std::max<Day>(m_rule.unusedDays, 1); }

  bool isDone() {
    Statement day(m_database, "SELECT day FROM pruned");
    return day.step() && day.integer(0) == m_today;
  }

  /// What was unused too long, and then, the longest unused first, what is too much.
  std::vector<std::int64_t> documentsToGo() {
    std::int64_t bytes = 0;
    {
      Statement sum(m_database, "SELECT total(size) FROM documents");
      if (sum.step()) bytes = sum.integer(0);
    }
    std::vector<std::int64_t> documents;
    Statement list(m_database, "SELECT id, used, size FROM documents WHERE used < ?1 ORDER BY used, id");
    // Another program may be at work since yesterday.
    list.bind(1, m_today - 1);
    while (list.step()) {
      if (list.integer(1) >= oldest() && bytes <= m_rule.mostBytes) break;
      documents.push_back(list.integer(0));
      bytes -= list.integer(2);
    }
    return documents;
  }

  void removeDocument(std::int64_t document) {
    // It may have been used since it was listed.
    m_isStale.bind(1, document);
    m_isStale.bind(2, m_today - 1);
    const bool goes = m_isStale.step();
    const DocumentKey key = goes ? m_isStale.text(0) : DocumentKey();
    m_isStale.reset();
    if (!goes) return;
    const bool isWhole = m_checks.isWhole(document, key);
    if (!isWhole) m_checks.dropWords();
    std::vector<std::string> hashes;
    m_fragments.bind(1, document);
    while (m_fragments.step()) {
      const std::string text = m_fragments.text(2);
      // Words are found by the text that they were made of.
      if (isWhole) {
        m_words.bind(1, m_fragments.integer(0));
        m_words.bind(2, text);
        m_words.run();
      }
      hashes.push_back(m_fragments.text(1));
    }
    m_fragments.reset();
    for (Statement* remove : {&m_removeFragments, &m_removeDocument}) {
      remove->bind(1, document);
      remove->run();
    }
    for (const std::string& hash : hashes) {
      m_vectors.bind(1, hash);
      m_vectors.run();
    }
  }

  /// Embedders and summaries that are not used, and that this is done.
  void removeRest() {
    Transaction transaction(m_database);
    for (const char* sql :
         {"DELETE FROM vectors WHERE embedder IN (SELECT id FROM embedders WHERE used < ?1)",
          "DELETE FROM embedders WHERE used < ?1",
          "DELETE FROM summaries WHERE used < ?1 AND "
          "NOT EXISTS (SELECT 1 FROM fragments WHERE fragments.hash = summaries.hash)"}) {
      Statement remove(m_database, sql);
      remove.bind(1, oldest());
      remove.run();
    }
    Statement done(m_database, "UPDATE pruned SET day = ?1");
    done.bind(1, m_today);
    done.run();
    transaction.commit();
  }

  void makeRoomInTime() {
    const auto now = std::chrono::steady_clock::now();
    if (m_transaction && now - m_opened > kTransactionTime) commit();
    if (m_transaction) return;
    m_transaction.emplace(m_database);
    m_checks.refresh();
    m_checks.requireWordsHere();
    m_opened = now;
  }

  void commit() {
    if (!m_transaction) return;
    m_checks.noteWords();
    m_transaction->commit();
    m_transaction.reset();
    m_checks.forgetDocuments();
  }

  Database& m_database;
  IndexChecks& m_checks;
  std::stop_token m_stop;
  Day m_today;
  const KeepRule& m_rule;
  Statement m_isStale{m_database, "SELECT key FROM documents WHERE id = ?1 AND used < ?2"};
  Statement m_fragments{m_database, "SELECT id, hash, text FROM fragments WHERE document = ?1"};
  Statement m_words{m_database, "INSERT INTO words(words, rowid, text) VALUES('delete', ?1, ?2)"};
  Statement m_removeFragments{m_database, "DELETE FROM fragments WHERE document = ?1"};
  Statement m_removeDocument{m_database, "DELETE FROM documents WHERE id = ?1"};
  Statement m_vectors{m_database,
                      "DELETE FROM vectors WHERE embedder IN (SELECT id FROM embedders) AND hash = ?1 AND "
                      "NOT EXISTS (SELECT 1 FROM fragments WHERE hash = ?1)"};
  std::optional<Transaction> m_transaction;  ///< after the statements: rolled back before they are gone
  std::chrono::steady_clock::time_point m_opened;
};

}  // namespace

Day today() {
  return std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now()).time_since_epoch().count();
}

bool pruneIndex(Database& database, IndexChecks& checks, const KeepRule& rule, std::stop_token stop) {
  return Pruner(database, checks, rule, std::move(stop)).prune();
}

}  // namespace spanscope::retrieve
