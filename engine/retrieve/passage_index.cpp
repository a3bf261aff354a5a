// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/retrieve/passage_index.h"

#include "engine/base/counted.h"
#include "engine/base/hash.h"
#include "engine/base/utf8.h"
#include "engine/retrieve/document_text.h"
#include "engine/retrieve/index_checks.h"
#include "engine/retrieve/ranking.h"
#include "engine/retrieve/sqlite.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstring>
#include <span>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace spanscope::retrieve {
namespace {

/// Max time to collect documents for one transaction. Each transaction waits for the disk.
constexpr std::chrono::milliseconds kTransactionTime{200};
/// The same limit as a multiple of the time that a transaction takes to end. The end of a transaction reads
/// all words.
constexpr int kTransactionTimes = 4;
/// Number of texts in one call of an embedder.
constexpr std::size_t kEmbeddedAtOnce = 32;

static_assert(std::endian::native == std::endian::little, "vectors are kept as the floats in memory");

/// Everything that the passages of a text depend on, except the text.
std::string settingsText(const text::Tokenizer& tokenizer, const IndexOptions& options) {
  std::string vocabulary;
  for (std::int32_t id = 0; id < tokenizer.vocabularySize(); ++id) {
    const std::string bytes = tokenizer.bytes(id);
    vocabulary += std::to_string(bytes.size()) + ":" + bytes;
  }
  std::string text = std::to_string(options.chunk.tokens) + "," + std::to_string(options.chunk.overlap) +
                     "," + hash128(vocabulary).hex();
  if (options.summarizer != nullptr) {
    text += "," + hash128(options.summarizer->fingerprint()).hex() + "," +
            std::to_string(options.summarizer->groupSize());
  }
  return text;
}

DocumentKey keyOf(const SourceDocument& document, const std::string& settings) {
  return hash128(settings + "," + formatName(formatOf(document.name, document.bytes)) + "," +
                 hash128(document.bytes).hex())
      .hex();
}

/// A document as the index keeps it.
struct CutDocument {
  std::vector<Passage> passages;
  std::string unread;  ///< the document's pages without text, e.g. "pages 3, 5–8, damaged: page 9"; empty:
                       ///< none
};

std::variant<CutDocument, Error> cutDocument(const SourceDocument& document, const text::Tokenizer& tokenizer,
                                             const ChunkOptions& options, const std::stop_token& stop) {
  constexpr const char* kSpaces = " \t\r\n\f\v";
  const DocumentFormat format = formatOf(document.name, document.bytes);
  auto read = readUnits(document.name, format, document.bytes, stop);
  if (auto* error = std::get_if<Error>(&read)) return std::move(*error);
  const auto& text = std::get<DocumentText>(read);
  CutDocument cut;
  if (!text.pagesWithoutText.empty()) cut.unread = pagesText(text.pagesWithoutText);
  if (!text.damagedPages.empty()) {
    cut.unread += (cut.unread.empty() ? "damaged: " : ", damaged: ") + pagesText(text.damagedPages);
  }
  for (const DocumentUnit& unit : text.units) {
    for (const Chunk& chunk : chunkUnit(unit.text, tokenizer, options, stop)) {
      const std::string_view own = trimmed(chunk.text, kSpaces);
      if (own.empty()) continue;
      Passage& passage = cut.passages.emplace_back();
      passage.place = unitPlace(format, unit.number);
      passage.text = own;
    }
  }
  return cut;
}

std::size_t countFrom(Database& database, const char* sql) {
  Statement statement(database, sql);
  return statement.step() ? static_cast<std::size_t>(statement.integer(0)) : 0;
}

/// Returns the similarity in double precision. The order of nearly equal passages then depends only on their
/// vectors. 0 if a vector has no direction.
double cosine(const EmbeddingVector& a, const EmbeddingVector& b) {
  double product = 0;
  double sizeA = 0;
  double sizeB = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    product += static_cast<double>(a[i]) * b[i];
    sizeA += static_cast<double>(a[i]) * a[i];
    sizeB += static_cast<double>(b[i]) * b[i];
  }
  const double size = std::sqrt(sizeA) * std::sqrt(sizeB);
  const double value = size > 0 ? product / size : 0;
  return std::isfinite(value) ? value : 0;
}

/// Throws Failure if a new vector is not as long as the embedder's vectors in the index.
void checkVectorBytes(std::size_t found, std::size_t kept, const Embedder& embedder) {
  if (found == kept) return;
  throw Failure({embedder.name(), "vectors", counted(found / sizeof(float), "number"),
                 counted(kept / sizeof(float), "number") +
                     " for each vector, as in the index. If the embedder has changed, delete the index"});
}

/// A found passage. The row number of the passage depends on the time of insertion, so no result may depend
/// on it.
struct Found {
  double score = 0;
  std::int64_t place = 0;   ///< of its document among those that are searched
  std::int64_t number = 0;  ///< in its document
  std::int64_t row = 0;

  /// Passages with equal scores are ordered by their documents, then by their texts.
  bool operator<(const Found& other) const {
    return std::tie(other.score, place, number) < std::tie(score, other.place, other.number);
  }
};

Passage passageIn(const Statement& statement) {
  Passage passage;
  passage.document = statement.text(0);
  passage.number = statement.integer(1);
  passage.level = static_cast<std::uint32_t>(statement.integer(2));
  passage.place = statement.text(3);
  passage.hash = statement.text(4);
  passage.text = statement.text(5);
  return passage;
}

/// Discards cached facts after an exception ended a change.
class DoubtOnFailure {
 public:
  explicit DoubtOnFailure(IndexChecks& checks) : m_checks(checks) {}
  ~DoubtOnFailure() {
    if (m_isDone) return;
    m_checks.forget();
  }
  DoubtOnFailure(const DoubtOnFailure&) = delete;
  DoubtOnFailure& operator=(const DoubtOnFailure&) = delete;
  void done() { m_isDone = true; }

 private:
  IndexChecks& m_checks;
  bool m_isDone = false;
};

}  // namespace

struct PassageIndex::Parts final : SummaryStore {
  Parts(const std::string& file, KeepRule keepRule)
      : database(file.empty() ? ":memory:" : file), rule(std::move(keepRule)) {
    prepareTables(database, file);
    addWordFunctions(database, matches);
    database.execute(
        "PRAGMA temp_store = MEMORY;"
        "CREATE TEMP TABLE chosen(document INTEGER PRIMARY KEY, place INTEGER NOT NULL)");
  }

  Statement& prepared(std::optional<Statement>& statement, const std::string& sql) {
    if (!statement) statement.emplace(database, sql);
    return *statement;
  }

  std::optional<std::int64_t> idOf(const DocumentKey& key) {
    Statement& statement = prepared(hasDocument, "SELECT id FROM documents WHERE key = ?1");
    const StatementUse use(statement);
    statement.bind(1, key);
    if (!statement.step()) return std::nullopt;
    return statement.integer(0);
  }

  /// Whether the document is in the index, and its last recorded use is today or later.
  bool isNoted(const DocumentKey& key, Day day) {
    Statement& statement = prepared(isUsed, "SELECT 1 FROM documents WHERE key = ?1 AND used >= ?2");
    const StatementUse use(statement);
    statement.bind(1, key);
    statement.bind(2, day);
    return statement.step();
  }

  void note(const DocumentKey& key, Day day) {
    Statement& statement = prepared(useDocument, "UPDATE documents SET used = ?2 WHERE key = ?1");
    statement.bind(1, key);
    statement.bind(2, day);
    statement.run();
  }

  /// Returns the document's pages without text. The result is empty if all pages have text.
  std::string unreadOf(const DocumentKey& key) {
    Statement& statement = prepared(readUnread, "SELECT unread FROM documents WHERE key = ?1");
    const StatementUse use(statement);
    statement.bind(1, key);
    return statement.step() ? statement.text(0) : std::string();
  }

  void add(const DocumentKey& key, const CutDocument& cut, Day day) {
    const std::vector<Passage>& passages = cut.passages;
    Statement& document = prepared(addDocument,
                                   "INSERT INTO documents(key, used, size, fragments, words, unread, "
                                   "checksum) VALUES(?1, ?2, ?3, ?4, 0, ?5, '')");
    Statement& passage = prepared(addPassage,
                                  "INSERT INTO fragments(document, number, level, place, hash, text) "
                                  "VALUES(?1, ?2, ?3, ?4, ?5, ?6)");
    Statement& words = prepared(addWords, "INSERT INTO words(rowid, text) VALUES(?1, ?2)");
    std::int64_t size = 0;
    for (const Passage& entry : passages) size += static_cast<std::int64_t>(entry.text.size());
    document.bind(1, key);
    document.bind(2, day);
    document.bind(3, size);
    document.bind(4, static_cast<std::int64_t>(passages.size()));
    document.bind(5, cut.unread);
    document.run();
    const std::int64_t id = database.lastRow();
    DocumentChecksum checksum(key);
    std::vector<std::int64_t> rows;
    for (std::size_t i = 0; i < passages.size(); ++i) {
      const std::string hash = hash128(passages[i].text).hex();
      passage.bind(1, id);
      passage.bind(2, static_cast<std::int64_t>(i));
      passage.bind(3, static_cast<std::int64_t>(passages[i].level));
      passage.bind(4, passages[i].place);
      passage.bind(5, hash);
      passage.bind(6, passages[i].text);
      passage.run();
      rows.push_back(database.lastRow());
      checksum.add(rows.back(), static_cast<std::int64_t>(i), static_cast<std::int64_t>(passages[i].level),
                   passages[i].place, hash);
    }
    // The number is known if the table has a row.
    const std::int64_t wordsBefore = allWords();
    for (std::size_t i = 0; i < passages.size(); ++i) {
      words.bind(1, rows[i]);
      words.bind(2, passages[i].text);
      words.run();
    }
    const std::int64_t wordCount = allWords() - wordsBefore;
    const std::string sum = checksum.value(static_cast<std::int64_t>(passages.size()), wordCount, cut.unread);
    Statement& count = prepared(countWords, "UPDATE documents SET words = ?2, checksum = ?3 WHERE id = ?1");
    count.bind(1, id);
    count.bind(2, wordCount);
    count.bind(3, sum);
    count.run();
  }

  /// Removes a damaged document. The words of the document are unknown, so all words are rebuilt.
  void takeOut(std::int64_t id) {
    for (const char* sql :
         {"DELETE FROM fragments WHERE document = ?1", "DELETE FROM documents WHERE id = ?1"}) {
      Statement remove(database, sql);
      remove.bind(1, id);
      remove.run();
    }
    checks.dropWords();
  }

  /// Words of all passages.
  std::int64_t allWords() {
    Statement& statement = prepared(findAllWords, "SELECT all_words(words) FROM words LIMIT 1");
    const StatementUse use(statement);
    return statement.step() ? statement.integer(0) : 0;
  }

  /// Fills the table of chosen documents, each with its place, unless the table already has these documents.
  /// Returns the size of their contents.
  const CollectionSize& choose(const DocumentChoice& documents) {
    checks.refresh();
    // Other programs may have removed or added documents since.
    const std::int64_t version = numberOf("PRAGMA data_version");
    if (lastChoice && lastChoice->documents == documents && lastChoice->version == version)
      return lastChoice->size;
    lastChoice.reset();
    Transaction transaction(database, Transaction::Kind::Deferred);
    database.execute("DELETE FROM temp.chosen");
    if (documents) {
      Statement& statement = prepared(addChosen,
                                      "INSERT OR IGNORE INTO temp.chosen SELECT id, ?2 FROM documents "
                                      "WHERE key = ?1");
      for (std::size_t i = 0; i < documents->size(); ++i) {
        statement.bind(1, (*documents)[i]);
        statement.bind(2, static_cast<std::int64_t>(i));
        statement.run();
      }
    } else {
      database.execute("INSERT INTO temp.chosen SELECT id, row_number() OVER (ORDER BY key) FROM documents");
    }
    Choice choice{.documents = documents, .version = version, .size = {}};
    {
      Statement statement(database,
                          "SELECT sum(fragments), sum(words) FROM temp.chosen CROSS JOIN documents ON "
                          "documents.id = chosen.document");
      if (statement.step()) choice.size = {statement.integer(0), statement.integer(1)};
    }
    {
      Statement statement(database,
                          "SELECT chosen.document, documents.key FROM temp.chosen CROSS JOIN documents ON "
                          "documents.id = chosen.document");
      while (statement.step()) {
        const DocumentKey key = statement.text(1);
        if (!checks.isWhole(statement.integer(0), key)) checks.refuse(key);
      }
    }
    transaction.commit();
    return lastChoice.emplace(std::move(choice)).size;
  }

  /// Returns the best `count` passages, the best first.
  std::vector<Passage> bestOf(std::vector<Found> found, std::size_t count) {
    const std::size_t kept = std::min(count, found.size());
    std::partial_sort(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(kept), found.end());
    Statement& statement = prepared(readPassage,
                                    "SELECT documents.key, fragments.number, fragments.level, "
                                    "fragments.place, fragments.hash, fragments.text FROM fragments "
                                    "JOIN documents ON documents.id = fragments.document "
                                    "WHERE fragments.id = ?1");
    std::vector<Passage> passages;
    for (const Found& one : std::span(found).first(kept)) {
      const StatementUse use(statement);
      statement.bind(1, one.row);
      if (!statement.step()) continue;
      passages.push_back(passageIn(statement));
      passages.back().score = one.score;
    }
    return passages;
  }

  std::optional<std::string> find(const std::string& key) override {
    const Day day = rule.today();
    std::string text;
    bool isNotedToday = false;
    {
      Statement& statement =
          prepared(findSummary, "SELECT text, used, hash, checksum FROM summaries WHERE key = ?1");
      const StatementUse use(statement);
      statement.bind(1, key);
      if (!statement.step()) return std::nullopt;
      text = statement.text(0);
      isNotedToday = statement.integer(1) >= day;
      // A damaged summary is written again.
      if (summaryChecksum(key, text, statement.text(2)) != statement.integer(3)) return std::nullopt;
    }
    if (!isNotedToday) {
      Statement use(database, "UPDATE summaries SET used = ?2 WHERE key = ?1");
      use.bind(1, key);
      use.bind(2, day);
      use.run();
    }
    return text;
  }

  void keep(const std::vector<std::pair<std::string, std::string>>& summaries) override {
    Transaction transaction(database);
    Statement& statement = prepared(addSummary,
                                    "INSERT OR REPLACE INTO summaries(key, text, hash, used, checksum) "
                                    "VALUES(?1, ?2, ?3, ?4, ?5)");
    for (const auto& [key, text] : summaries) {
      const std::string hash = hash128(text).hex();
      statement.bind(1, key);
      statement.bind(2, text);
      statement.bind(3, hash);
      statement.bind(4, rule.today());
      statement.bind(5, summaryChecksum(key, text, hash));
      statement.run();
    }
    transaction.commit();
  }

  std::optional<std::int64_t> embedderId(const std::string& fingerprint) {
    Statement statement(database, "SELECT id FROM embedders WHERE fingerprint = ?1");
    statement.bind(1, fingerprint);
    if (!statement.step()) return std::nullopt;
    return statement.integer(0);
  }

  /// Throws the Failure for an index in which a search does not find written vectors.
  [[noreturn]] void refuseVectors() const {
    throw Failure({database.file(), "vectors", "fewer vectors than were written",
                   "a complete index. Delete the file: the next search creates a new index"});
  }

  std::int64_t makeEmbedderId(const std::string& fingerprint) {
    Statement statement(database,
                        "INSERT INTO embedders(fingerprint, used) VALUES(?1, ?2) "
                        "ON CONFLICT DO UPDATE SET used = excluded.used WHERE used < excluded.used");
    statement.bind(1, fingerprint);
    statement.bind(2, rule.today());
    statement.run();
    const std::optional<std::int64_t> id = embedderId(fingerprint);
    if (!id) refuseVectors();
    return *id;
  }

  std::int64_t numberOf(const char* sql) {
    Statement statement(database, sql);
    return statement.step() ? statement.integer(0) : 0;
  }

  /// Bytes of an embedder's vectors in the index; nothing: it has none.
  std::optional<std::size_t> vectorBytes(std::int64_t embedder, const std::string& fingerprint) {
    Statement statement(database, "SELECT hash, vector, checksum FROM vectors WHERE embedder = ?1");
    statement.bind(1, embedder);
    while (statement.step()) {
      if (vectorChecksum(fingerprint, statement.text(0), statement.bytes(1)) == statement.integer(2))
        return statement.bytes(1).size();
    }
    return std::nullopt;
  }

  /// Returns the first passage of each text of the chosen documents without a vector, in their order. A
  /// damaged vector counts as missing.
  std::vector<std::int64_t> withoutVector(std::int64_t embedder, const std::string& fingerprint) {
    Statement list(
        database, R"(SELECT fragments.id, fragments.hash, vectors.vector, vectors.checksum FROM temp.chosen )"
                  R"(CROSS JOIN fragments ON fragments.document = chosen.document )"
                  R"(LEFT JOIN vectors ON vectors.embedder = ?1 AND vectors.hash = fragments.hash)");
    list.bind(1, embedder);
    std::unordered_map<std::string, std::int64_t> firsts;
    while (list.step()) {
      const std::string hash = list.text(1);
      if (!list.isNull(2) && vectorChecksum(fingerprint, hash, list.bytes(2)) == list.integer(3)) continue;
      const auto [first, isNew] = firsts.try_emplace(hash, list.integer(0));
      first->second = std::min(first->second, list.integer(0));
    }
    std::vector<std::int64_t> missing;
    missing.reserve(firsts.size());
    for (const auto& [hash, passage] : firsts) missing.push_back(passage);
    std::ranges::sort(missing);
    return missing;
  }

  /// Adds the vectors of the texts of passages. `passages`: the rows of these passages.
  void addVectors(std::int64_t embedder, const std::string& fingerprint,
                  std::span<const std::int64_t> passages, std::span<const std::string> hashes,
                  std::span<const EmbeddingVector> vectors) {
    Transaction transaction(database);
    // Another program may have removed the texts of these passages meanwhile.
    Statement statement(database, R"(INSERT OR REPLACE INTO vectors(embedder, hash, vector, checksum) )"
                                  R"(SELECT ?1, ?2, ?3, ?4 )"
                                  R"(WHERE EXISTS (SELECT 1 FROM fragments WHERE id = ?5 AND hash = ?2))");
    for (std::size_t i = 0; i < hashes.size(); ++i) {
      const std::span<const std::byte> bytes = std::as_bytes(std::span(vectors[i]));
      statement.bind(1, embedder);
      statement.bind(2, hashes[i]);
      statement.bindBytes(3, bytes);
      statement.bind(4, vectorChecksum(fingerprint, hashes[i], bytes));
      statement.bind(5, passages[i]);
      statement.run();
    }
    transaction.commit();
  }

  WordMatches matches;  ///< of the last question; outlives the database
  Database database;
  IndexChecks checks{database};
  KeepRule rule;
  /// The documents in temp.chosen.
  struct Choice {
    DocumentChoice documents;
    std::int64_t version = 0;  ///< the version of the file at that time
    CollectionSize size;
  };
  std::optional<Choice> lastChoice;
  std::optional<Statement> hasDocument, isUsed, useDocument, addDocument, addPassage, addWords, findAllWords,
      countWords, addChosen, findSummary, addSummary, findWords, readPassage, readUnread;
};

PassageIndex::PassageIndex(const std::string& file, KeepRule rule)
    : m_parts(std::make_unique<Parts>(file, std::move(rule))) {}
PassageIndex::~PassageIndex() = default;
PassageIndex::PassageIndex(PassageIndex&&) noexcept = default;
PassageIndex& PassageIndex::operator=(PassageIndex&&) noexcept = default;

IndexedDocuments PassageIndex::add(std::size_t count, const DocumentReader& read,
                                   const text::Tokenizer& tokenizer, const IndexOptions& options,
                                   const Watch& watch) {
  if (auto error = checkChunkOptions(options.chunk)) throw Failure(std::move(*error));
  const std::string settings = settingsText(tokenizer, options);
  const Day day = m_parts->rule.today();
  IndexChecks& checks = m_parts->checks;
  checks.refresh();
  DoubtOnFailure doubt(checks);
  IndexedDocuments result;
  std::unordered_set<DocumentKey> damaged;
  std::optional<Transaction> transaction;
  bool isChanged = false;
  std::chrono::steady_clock::time_point opened;
  std::chrono::steady_clock::duration noting{};
  const auto commit = [&] {
    if (!transaction) return;
    if (isChanged) {
      const auto ended = std::chrono::steady_clock::now();
      checks.noteWords();
      noting = std::chrono::steady_clock::now() - ended;
    }
    transaction->commit();
    transaction.reset();
    if (std::exchange(isChanged, false)) checks.forgetDocuments();
  };
  const auto begin = [&] {
    if (transaction) return;
    transaction.emplace(m_parts->database);
    opened = std::chrono::steady_clock::now();
    checks.refresh();
  };
  const auto change = [&] {
    if (!std::exchange(isChanged, true)) checks.requireWordsHere();
  };
  /// Whether the document is in the index, complete and noted as used today. A damaged document is removed.
  const auto isThere = [&](const DocumentKey& key) {
    std::optional<std::int64_t> id = m_parts->idOf(key);
    if (!id) return false;
    if (!checks.isWhole(*id, key)) {
      // Another program may be changing the document now. A transaction prevents such changes.
      begin();
      id = m_parts->idOf(key);
      if (!id) return false;
      if (!checks.isWhole(*id, key)) {
        if (!damaged.insert(key).second) checks.refuse(key);
        change();
        m_parts->takeOut(*id);
        return false;
      }
    }
    if (m_parts->isNoted(key, day)) return true;
    begin();
    m_parts->note(key, day);
    return m_parts->idOf(key).has_value();
  };
  /// Nothing when stopped.
  const auto cutUp = [&](const SourceDocument& document) -> std::optional<std::variant<CutDocument, Error>> {
    try {
      auto cut = cutDocument(document, tokenizer, options.chunk, watch.stop);
      if (std::holds_alternative<Error>(cut) && watch.stop.stop_requested()) return std::nullopt;
      return cut;
    } catch (const Failure&) {
      if (watch.stop.stop_requested()) return std::nullopt;
      throw;
    }
  };
  /// The key of a document that is now in the index, an error, or nothing after a stop.
  const auto addOne = [&](const SourceDocument& document) -> std::variant<DocumentKey, Error> {
    DocumentKey key = keyOf(document, settings);
    if (isThere(key)) return key;
    // Other programs do not have to wait while a PDF is read, which may take minutes.
    if (formatOf(document.name, document.bytes) == DocumentFormat::Pdf) commit();
    auto whole = cutUp(document);
    if (!whole) return DocumentKey();
    if (auto* error = std::get_if<Error>(&*whole)) return std::move(*error);
    auto& cut = std::get<CutDocument>(*whole);
    if (options.summarizer != nullptr) {
      // Other programs do not have to wait while texts are written. The written texts are kept.
      commit();
      if (!addSummaries(cut.passages, *options.summarizer, *m_parts, watch)) return DocumentKey();
    }
    begin();
    // Another program may have added the document before the transaction began.
    if (isThere(key)) return key;
    change();
    m_parts->add(key, cut, day);
    m_parts->lastChoice.reset();
    ++result.added;
    // Damaged data may lie between the rows of other documents.
    if (damaged.contains(key) && !isThere(key)) checks.refuse(key);
    return key;
  };
  for (std::size_t i = 0; i < count && !watch.stop.stop_requested(); ++i) {
    auto document = read(i);
    if (auto* error = std::get_if<Error>(&document)) {
      result.skipped.push_back(std::move(*error));
      result.keys.emplace_back();
    } else {
      auto outcome = addOne(std::get<SourceDocument>(document));
      if (auto* problem = std::get_if<Error>(&outcome)) {
        result.skipped.push_back(std::move(*problem));
        result.keys.emplace_back();
      } else {
        auto& key = std::get<DocumentKey>(outcome);
        if (key.empty()) break;
        if (std::string unread = m_parts->unreadOf(key); !unread.empty()) {
          result.unread.push_back({std::get<SourceDocument>(document).name, std::move(unread),
                                   "no text (scanned pages are pictures)",
                                   "text: run text recognition (OCR) first"});
        }
        result.keys.push_back(std::move(key));
      }
    }
    const auto most =
        std::max<std::chrono::steady_clock::duration>(kTransactionTime, kTransactionTimes * noting);
    if (transaction && std::chrono::steady_clock::now() - opened > most) commit();
    watch.report({.phase = IndexPhase::Documents, .done = i + 1, .total = count, .added = result.added});
  }
  commit();
  if (pruneIndex(m_parts->database, checks, m_parts->rule, watch.stop)) {
    m_parts->lastChoice.reset();
    checks.forget();
  }
  doubt.done();
  return result;
}

IndexedDocuments PassageIndex::add(const std::vector<SourceDocument>& documents,
                                   const text::Tokenizer& tokenizer, const IndexOptions& options,
                                   const Watch& watch) {
  return add(
      documents.size(), [&](std::size_t i) { return documents[i]; }, tokenizer, options, watch);
}

bool PassageIndex::embed(const DocumentChoice& documents, Embedder& embedder, const Watch& watch) {
  m_parts->choose(documents);
  const std::string fingerprint = embedder.fingerprint();
  const std::int64_t id = m_parts->makeEmbedderId(fingerprint);
  // Lists only the remaining work. Usually the documents have not changed since the last run.
  const std::vector<std::int64_t> missing = m_parts->withoutVector(id, fingerprint);
  Statement read(m_parts->database, "SELECT hash, text FROM fragments WHERE id = ?1");
  std::optional<std::size_t> bytes;
  if (!missing.empty()) bytes = m_parts->vectorBytes(id, fingerprint);
  IndexProgress progress{.phase = IndexPhase::Vectors, .total = missing.size()};
  for (std::size_t at = 0; at < missing.size(); at += kEmbeddedAtOnce) {
    const auto batch = std::span(missing).subspan(at, std::min(kEmbeddedAtOnce, missing.size() - at));
    std::vector<std::int64_t> passages;
    std::vector<std::string> hashes;
    std::vector<std::string> texts;
    for (const std::int64_t passage : batch) {
      read.bind(1, passage);
      if (read.step()) {
        passages.push_back(passage);
        hashes.push_back(read.text(0));
        texts.push_back(read.text(1));
      }
      read.reset();
    }
    const std::vector<EmbeddingVector> vectors = embedder.embed(texts, watch.stop);
    if (vectors.size() != texts.size()) return false;
    for (const EmbeddingVector& vector : vectors) {
      if (!bytes) bytes = vector.size() * sizeof(float);
      checkVectorBytes(vector.size() * sizeof(float), *bytes, embedder);
    }
    m_parts->addVectors(id, fingerprint, passages, hashes, vectors);
    progress.done += batch.size();
    progress.added = progress.done;
    watch.report(progress);
    if (watch.stop.stop_requested() && progress.done < progress.total) return false;
  }
  if (!missing.empty() && !m_parts->withoutVector(id, fingerprint).empty()) m_parts->refuseVectors();
  return true;
}

std::vector<Passage> PassageIndex::find(std::string_view question, std::size_t count,
                                        const DocumentChoice& documents) const {
  const std::string expression = matchAnyWord(question, kMaxQuestionWords);
  if (expression.empty()) return {};
  const CollectionSize size = m_parts->choose(documents);
  m_parts->checks.requireWords();
  // FTS5 finds and counts. The bm25 function of FTS5 would also count passages that are not searched. Only
  // this order of the join is fast, because any other order would query FTS5 for each passage. Texts are
  // fetched only for the best passages, since a common word is in every passage.
  Statement& statement = m_parts->prepared(
      m_parts->findWords,
      R"(SELECT fragments.id, chosen.place, fragments.number, word_match(words) FROM words )"
      R"(CROSS JOIN fragments ON fragments.id = words.rowid )"
      R"(CROSS JOIN temp.chosen ON chosen.document = fragments.document WHERE words MATCH ?1)");
  const StatementUse use(statement);
  statement.bind(1, expression);
  std::vector<Found> found;
  m_parts->matches.clear();
  while (statement.step()) {
    found.push_back({.score = 0,
                     .place = statement.integer(1),
                     .number = statement.integer(2),
                     .row = statement.integer(0)});
  }
  const std::vector<double> scores = bm25Scores(m_parts->matches, size);
  for (std::size_t i = 0; i < found.size(); ++i) found[i].score = scores[i];
  return m_parts->bestOf(std::move(found), count);
}

std::vector<Passage> PassageIndex::nearest(const EmbeddingVector& question, std::size_t count,
                                           const Embedder& embedder, const DocumentChoice& documents) const {
  const std::string fingerprint = embedder.fingerprint();
  const std::optional<std::int64_t> id = m_parts->embedderId(fingerprint);
  if (!id || count == 0) return {};
  m_parts->choose(documents);
  Statement list(m_parts->database,
                 R"(SELECT fragments.id, chosen.place, fragments.number, vectors.vector, vectors.hash, )"
                 R"(vectors.checksum FROM temp.chosen )"
                 R"(CROSS JOIN fragments ON fragments.document = chosen.document )"
                 R"(CROSS JOIN vectors ON vectors.hash = fragments.hash AND vectors.embedder = ?1)");
  list.bind(1, *id);
  std::vector<Found> found;
  EmbeddingVector vector(question.size());
  while (list.step()) {
    const std::span<const std::byte> bytes = list.bytes(3);
    if (vectorChecksum(fingerprint, list.text(4), bytes) != list.integer(5)) {
      throw Failure({m_parts->database.file(), "vectors",
                     /*id:another-written*/ "another vector than was written",
                     "the written vector. The next indexing of the document makes the vector again"});
    }
    checkVectorBytes(question.size() * sizeof(float), bytes.size(), embedder);
    std::memcpy(vector.data(), bytes.data(), bytes.size());
    found.push_back({.score = cosine(question, vector),
                     .place = list.integer(1),
                     .number = list.integer(2),
                     .row = list.integer(0)});
  }
  return m_parts->bestOf(std::move(found), count);
}

std::optional<Passage> PassageIndex::withHash(std::string_view hash, const DocumentChoice& documents) const {
  m_parts->choose(documents);
  Statement statement(m_parts->database,
                      "SELECT fragments.id, chosen.place, fragments.number FROM fragments "
                      "JOIN temp.chosen ON chosen.document = fragments.document WHERE +fragments.hash = ?1");
  statement.bind(1, hash);
  std::vector<Found> found;
  while (statement.step()) {
    found.push_back({.score = 0,
                     .place = statement.integer(1),
                     .number = statement.integer(2),
                     .row = statement.integer(0)});
  }
  std::vector<Passage> passages = m_parts->bestOf(std::move(found), 1);
  if (passages.empty()) return std::nullopt;
  return std::move(passages.front());
}

std::size_t PassageIndex::documentCount() const {
  return countFrom(m_parts->database, "SELECT count(*) FROM documents");
}

std::size_t PassageIndex::vectorCount() const {
  return countFrom(m_parts->database, "SELECT count(*) FROM vectors");
}

}  // namespace spanscope::retrieve
