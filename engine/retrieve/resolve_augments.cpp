// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/retrieve/resolve_augments.h"

#include "engine/base/counted.h"
#include "engine/query/node_parts.h"
#include "engine/query/shown_text.h"
#include "engine/retrieve/document_text.h"

#include <algorithm>
#include <utility>

namespace spanscope::retrieve {

namespace {

using query::Diagnostic;
using query::Node;

constexpr std::size_t kShownCharacters = 200;
/// Max number of unreadable documents that are named. The same limit applies to documents that are not UTF-8.
constexpr std::size_t kNamedDocuments = 10;
constexpr const char* kLeftOut = /*id:file-left-out*/ "Spanscope leaves out this file";

/// "file: place: found".
std::string foundIn(const Error& error) {
  std::string text;
  for (const std::string& part : {error.file, error.place, error.found}) {
    if (!part.empty()) text += (text.empty() ? "" : ": ") + query::cutText(part, kShownCharacters);
  }
  return text;
}

class Resolver {
 public:
  Resolver(const RetrievalOptions& options, const RetrievalTools& tools)
      : m_options(options), m_tools(tools) {}

  ResolvedAugments result;

  void resolve(Node& query) {
    query::walk(query, {}, [this](Node& node, const NodePath& path) {
      if (result.isStopped || query::documentOf(node) == nullptr) return;
      node.value = retrieve(node, path);
    });
  }

 private:
  void add(Severity severity, const NodePath& path, std::string found, std::string expected,
           std::string hint = {}) {
    Diagnostic diagnostic;
    diagnostic.severity = severity;
    diagnostic.pointer = path;
    diagnostic.found = std::move(found);
    diagnostic.expected = std::move(expected);
    diagnostic.hint = std::move(hint);
    result.diagnostics.push_back(std::move(diagnostic));
  }

  void gatherText(const Node& node, const NodePath& path, std::string& text, bool& isKnown) {
    const query::Gives gives = query::infoOf(node).gives;
    const bool isArranged = query::arityOf(node).most > 1;
    if (gives == query::Gives::Text) {
      if (!text.empty()) text += '\n';
      text += *query::textOf(node);
    } else if (isArranged) {
      query::forEachChild(node, [&](const Node& child, const std::string& step) {
        gatherText(child, path + step, text, isKnown);
      });
    } else if (gives != query::Gives::Nothing) {
      isKnown = false;
      add(Severity::Error, path, std::string("an operator \"") + query::operatorName(node) + "\"",
          "messages: the question of an augment must be known before the query runs");
    }
  }

  query::Join retrieve(const Node& augment, const NodePath& path) {
    const query::SourceDocument& document = *query::documentOf(augment);
    query::Join plus{.kind = query::JoinKind::Plus, .children = {}};
    std::string question;
    bool isKnown = true;
    query::forEachChild(augment, [&](const Node& body, const std::string& step) {
      gatherText(body, path + step, question, isKnown);
    });
    if (!isKnown) return plus;
    auto listed = AugmentDocuments::of(document, m_tools.files);
    if (auto* refused = std::get_if<query::NotGiven>(&listed)) {
      add(Severity::Error, path, std::move(refused->found), std::move(refused->expected),
          std::move(refused->hint));
      return plus;
    }
    std::optional<Retrieved> retrieved;
    SearchRemarks remarks;
    auto& documents = std::get<AugmentDocuments>(listed);
    try {
      const auto choice = m_options.choices.find(path);
      retrieved = searchAugment(*query::embeddingModelOf(augment), question, documents,
                                choice == m_options.choices.end() ? PassageChoice() : choice->second,
                                m_options, m_tools, remarks);
    } catch (const Failure& failure) {
      add(Severity::Error, path, foundIn(failure.error()), failure.error().expected);
      return plus;
    }
    if (!retrieved) {
      result.isStopped = true;
      return plus;
    }
    remark(document, path, documents, remarks);
    retrieved->node = path;
    for (const FoundPassage& found : retrieved->passages) {
      if (!found.isInPrompt) continue;
      plus.children.push_back(
          Node{query::Message{.role = query::Role::User, .text = found.ranked.passage.text}});
    }
    if (plus.children.empty()) {
      add(Severity::Warning, path,
          "nothing in " + query::inQuotes(document.name) +
              (retrieved->ranking == Ranking::Lexical ? " that shares a word with "
                                                      : " that is similar to ") +
              query::inQuotes(question),
          "a passage");
    }
    result.retrieved.push_back(std::move(*retrieved));
    return plus;
  }

  void remark(const query::SourceDocument& document, const NodePath& path, const AugmentDocuments& documents,
              const SearchRemarks& remarks) {
    std::size_t named = 0;
    const auto leftOut = [&](std::string found, std::string expected) {
      if (++named <= kNamedDocuments)
        add(Severity::Warning, path, std::move(found), std::move(expected), kLeftOut);
    };
    for (const query::NotGiven& file : documents.leftOut()) leftOut(file.found, file.expected);
    for (const Error& error : remarks.skipped) leftOut(foundIn(error), error.expected);
    if (named > kNamedDocuments) {
      add(Severity::Warning, path,
          counted(named - kNamedDocuments, "further file") + " of " + query::inQuotes(document.name) +
              " that cannot be read",
          "files that can be read", "Spanscope leaves out these files");
    }
    const auto nameFirst = [&](const std::vector<Error>& errors, const char* what, const char* expected) {
      for (std::size_t i = 0; i < std::min(errors.size(), kNamedDocuments); ++i)
        add(Severity::Warning, path, foundIn(errors[i]), errors[i].expected);
      if (errors.size() <= kNamedDocuments) return;
      add(Severity::Warning, path,
          counted(errors.size() - kNamedDocuments, "further file") + " of " + query::inQuotes(document.name) +
              what,
          expected);
    };
    nameFirst(documents.altered(), " with bytes that are not UTF-8 (read as U+FFFD)", "UTF-8");
    nameFirst(remarks.unread, " with pages without text", "pages with text");
    if (!remarks.lostPins.empty()) {
      add(Severity::Warning, path,
          counted(remarks.lostPins.size(), /*id:pinned-passage*/ "pinned passage that is",
                  "pinned passages that are") +
              " not in " + query::inQuotes(document.name) + " any more",
          "passages of the current documents with the current passage size and overlap");
    }
  }

  const RetrievalOptions& m_options;
  const RetrievalTools& m_tools;
};

}  // namespace

bool hasAugment(const Node& node) {
  return query::anyNode(node, [](const Node& part) { return query::documentOf(part) != nullptr; });
}

ResolvedAugments resolveAugments(const Node& node, const RetrievalOptions& options,
                                 const RetrievalTools& tools) {
  Resolver resolver(options, tools);
  std::optional<Error> problem = checkChunkOptions(options.chunk);
  if (!problem && (options.passages < 1 || options.passages > kMaxPassages)) {
    problem = Error{{}, "passages", std::to_string(options.passages), "1 to " + std::to_string(kMaxPassages)};
  }
  if (problem) {
    Diagnostic diagnostic;
    diagnostic.found = problem->place + ": " + problem->found;
    diagnostic.expected = problem->expected;
    resolver.result.diagnostics.push_back(std::move(diagnostic));
    return std::move(resolver.result);
  }
  Node resolved = node;
  resolver.resolve(resolved);
  if (!resolver.result.isStopped && !query::hasErrors(resolver.result.diagnostics))
    resolver.result.query = std::move(resolved);
  return std::move(resolver.result);
}

namespace {

Ranking rankingFor(const std::string& model, const RetrievalOptions& options, const RetrievalTools& tools) {
  if (options.ranking) return *options.ranking;
  const bool isNamed = tools.isEmbedder && tools.isEmbedder(model);
  return isNamed ? Ranking::Embedding : Ranking::Lexical;
}

/// The documents that could be read, and their names for the user. Equal documents have the name of the first
/// of these documents.
struct Indexed {
  std::vector<DocumentKey> keys;
  std::map<DocumentKey, std::string> names;
};

/// Nothing after a stop.
std::optional<Indexed> indexDocuments(AugmentDocuments& documents, const RetrievalOptions& options,
                                      const RetrievalTools& tools, SearchRemarks& remarks) {
  IndexOptions indexOptions{.chunk = options.chunk, .summarizer = nullptr};
  if (options.summaries && tools.summarizer) indexOptions.summarizer = &tools.summarizer();
  IndexedDocuments added = tools.index->add(
      documents.count(), [&](std::size_t i) { return documents.read(i); }, *tools.tokenizer, indexOptions,
      tools.watch);
  if (added.keys.size() < documents.count()) return std::nullopt;
  Indexed indexed;
  for (std::size_t i = 0; i < added.keys.size(); ++i) {
    if (added.keys[i].empty()) continue;
    indexed.names.emplace(added.keys[i], documents.name(i));
    indexed.keys.push_back(std::move(added.keys[i]));
  }
  if (indexed.keys.empty() && !added.skipped.empty()) throw Failure(std::move(added.skipped.front()));
  remarks.skipped = std::move(added.skipped);
  remarks.unread = std::move(added.unread);
  return indexed;
}

/// Pinned passages come first, in the order of the pins. Then the best passages that were not dropped follow,
/// up to the requested number. Then the other passages follow, by rank.
std::vector<FoundPassage> choose(std::vector<RankedPassage> ranked, const PassageChoice& choice,
                                 std::size_t wanted, const PassageIndex& index, const Indexed& indexed,
                                 SearchRemarks& remarks) {
  std::vector<FoundPassage> found;
  std::vector<FoundPassage> others;
  for (std::size_t i = 0; i < ranked.size(); ++i) {
    FoundPassage entry;
    entry.ranked = std::move(ranked[i]);
    entry.rank = i + 1;
    entry.isDropped = choice.dropped.contains(entry.ranked.passage.hash);
    others.push_back(std::move(entry));
  }
  for (const std::string& hash : choice.pinned) {
    const bool isThere = std::ranges::any_of(
        found, [&](const FoundPassage& entry) { return entry.ranked.passage.hash == hash; });
    if (isThere) continue;
    const auto at = std::ranges::find_if(
        others, [&](const FoundPassage& entry) { return entry.ranked.passage.hash == hash; });
    FoundPassage entry;
    if (at != others.end()) {
      entry = std::move(*at);
      others.erase(at);
    } else if (auto passage = index.withHash(hash, indexed.keys)) {
      entry.ranked.passage = std::move(*passage);
    } else {
      remarks.lostPins.push_back(hash);
      continue;
    }
    entry.isPinned = true;
    entry.isDropped = false;
    entry.isInPrompt = true;
    found.push_back(std::move(entry));
  }
  const auto take = [&](bool inPrompt) {
    for (FoundPassage& entry : others) {
      const bool isWanted = !entry.isDropped && found.size() < wanted;
      if (entry.rank == 0 || isWanted != inPrompt) continue;
      entry.isInPrompt = inPrompt;
      found.push_back(std::exchange(entry, {}));
    }
  };
  take(true);
  take(false);
  return found;
}

}  // namespace

std::optional<Retrieved> searchAugment(const std::string& model, std::string question,
                                       AugmentDocuments& documents, const PassageChoice& choice,
                                       const RetrievalOptions& options, const RetrievalTools& tools,
                                       SearchRemarks& remarks) {
  Retrieved result;
  result.question = std::move(question);
  result.ranking = rankingFor(model, options, tools);
  const std::optional<Indexed> indexed = indexDocuments(documents, options, tools, remarks);
  if (!indexed) return std::nullopt;
  result.documents = indexed->keys.size();
  Embedder* embedder = nullptr;
  if (result.ranking != Ranking::Lexical) {
    if (!tools.embedder) {
      throw Failure({{},
                     "ranking",
                     std::string("\"") + rankingName(result.ranking) +
                         /*id:without-model-embeds*/ "\" without an embedding model",
                     "\"lexical\""});
    }
    embedder = &tools.embedder();
    if (!tools.index->embed(indexed->keys, *embedder, tools.watch)) return std::nullopt;
  }
  const auto wanted = static_cast<std::size_t>(options.passages);
  // Each ranking is only as long as the number of requested passages. Longer rankings would favour passages
  // that are mediocre in both.
  const std::size_t depth =
      wanted + choice.dropped.size() + (result.ranking == Ranking::Hybrid ? 0 : kRunnersUp);
  std::vector<RankedPassage> ranked = rankPassages(*tools.index, result.question, depth, result.ranking,
                                                   indexed->keys, embedder, tools.watch.stop);
  if (tools.watch.stop.stop_requested()) return std::nullopt;
  result.passages = choose(std::move(ranked), choice, wanted, *tools.index, *indexed, remarks);
  for (FoundPassage& entry : result.passages) {
    const auto name = indexed->names.find(entry.ranked.passage.document);
    if (name != indexed->names.end()) entry.source = name->second;
  }
  return result;
}

namespace {

bool isEmptyText(const query::SourceDocument& document) {
  const auto* text = std::get_if<std::string>(&document.content);
  return text != nullptr && text->empty();
}

std::string bytesOf(const query::SourceDocument& document) {
  if (const auto* text = std::get_if<std::string>(&document.content)) return *text;
  const auto& bytes = std::get<std::vector<std::uint8_t>>(document.content);
  return {bytes.begin(), bytes.end()};
}

}  // namespace

std::variant<AugmentDocuments, query::NotGiven> AugmentDocuments::of(const query::SourceDocument& document,
                                                                     query::Surroundings* files) {
  AugmentDocuments documents;
  if (!isEmptyText(document) || document.name.empty() || files == nullptr) {
    documents.m_held = &document;
    return documents;
  }
  auto listed = files->listFiles(document.name);
  if (auto* refused = std::get_if<query::NotGiven>(&listed)) return std::move(*refused);
  auto& list = std::get<query::FileList>(listed);
  documents.m_files = files;
  documents.m_paths = std::move(list.paths);
  documents.m_leftOut = std::move(list.leftOut);
  return documents;
}

const std::string& AugmentDocuments::name(std::size_t index) const {
  return m_held != nullptr ? m_held->name : m_paths[index];
}

std::variant<SourceDocument, Error> AugmentDocuments::read(std::size_t index) {
  if (m_held != nullptr) {
    SourceDocument held{.name = m_held->name, .bytes = bytesOf(*m_held)};
    noteAltered(held);
    return held;
  }
  const std::string& path = m_paths[index];
  auto given = m_files->readFile(path);
  if (auto* refused = std::get_if<query::NotGiven>(&given))
    return Error{{}, {}, std::move(refused->found), std::move(refused->expected)};
  auto& bytes = std::get<std::string>(given);
  m_bytes += bytes.size();
  if (m_bytes > kMaxAugmentBytes) {
    return Error{path,
                 {},
                 "a file beyond the first " + std::to_string(kMaxAugmentBytes) + " bytes of an augment",
                 "fewer or smaller files"};
  }
  if (formatOf(path, bytes) != DocumentFormat::Pdf) {
    if (auto narrow = utf8OfWide(bytes)) {
      noteHalf(path, *narrow);
      bytes = std::move(narrow->text);
    }
    const std::size_t zero = bytes.find('\0');
    if (zero != std::string::npos) {
      const char* const kind = kindOfBytes(bytes);
      return Error{path, kind == nullptr ? "byte " + std::to_string(zero) : std::string(),
                   kind == nullptr ? "a zero byte, which no text has" : kind,
                   /*id:text-markdown-json*/ "text, Markdown, JSON lines, CSV or PDF"};
    }
  }
  SourceDocument document{.name = path, .bytes = std::move(bytes)};
  noteAltered(document);
  return document;
}

void AugmentDocuments::noteHalf(const std::string& name, const NarrowText& text) {
  if (!text.firstReplaced) return;
  m_altered.push_back({name, "byte " + std::to_string(*text.firstReplaced),
                       "half of a UTF-16 character (read as U+FFFD)", "whole characters"});
}

void AugmentDocuments::noteAltered(const SourceDocument& document) {
  if (formatOf(document.name, document.bytes) == DocumentFormat::Pdf) return;
  if (const auto narrow = utf8OfWide(document.bytes)) {
    noteHalf(document.name, *narrow);
    return;
  }
  const std::size_t at = findInvalidUtf8(document.bytes);
  if (at == std::string::npos) return;
  m_altered.push_back(
      {document.name, "byte " + std::to_string(at), "bytes that are not UTF-8 (read as U+FFFD)", "UTF-8"});
}

}  // namespace spanscope::retrieve
