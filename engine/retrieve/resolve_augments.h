// SPDX-License-Identifier: GPL-3.0-or-later
// Turns a query with augments into a query with the retrieved passages. Also searches the documents of an
// augment. Open this file to change how augments are resolved, or which documents and passages are used.
#pragma once

#include "engine/base/error.h"
#include "engine/base/ids.h"
#include "engine/base/utf8.h"
#include "engine/query/diagnostic.h"
#include "engine/query/query.h"
#include "engine/query/surroundings.h"
#include "engine/retrieve/chunker.h"
#include "engine/retrieve/passage.h"
#include "engine/retrieve/passage_index.h"
#include "engine/retrieve/ranking.h"
#include "engine/text/tokenizer.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

namespace spanscope::retrieve {

/// Number of further passages that are listed for an augment, beyond those in the prompt. The user can choose
/// from these passages.
inline constexpr std::size_t kRunnersUp = 10;

/// The user's decisions about the passages of one augment, by the hashes of their texts.
struct PassageChoice {
  std::vector<std::string> pinned;  ///< always in the prompt, first and in this order
  std::set<std::string> dropped;    ///< never in the prompt, unless pinned
  bool operator==(const PassageChoice&) const = default;
};

struct RetrievalOptions {
  std::int32_t passages = 5;  ///< max passages of an augment, without pinned ones: 1 … kMaxPassages
  ChunkOptions chunk;
  std::optional<Ranking> ranking;  ///< nothing: dense if an augment names the embedder's model, else lexical
  bool summaries = false;          ///< also search summaries of the documents
  std::map<NodePath, PassageChoice> choices;  ///< by augment
};

/// The tools for retrieval. All of them must outlive the call.
struct RetrievalTools {
  const text::Tokenizer* tokenizer = nullptr;  ///< splits documents into passages
  PassageIndex* index = nullptr;
  query::Surroundings* files = nullptr;  ///< reads files; null: augments have no files
  /// Whether a name ("spnl/spanlet") means the embedder's model. Empty: there is no embedder.
  std::function<bool(const std::string&)> isEmbedder;
  /// The makers are called at their first use. The makers may throw Failure.
  std::function<Embedder&()> embedder;
  std::function<Summarizer&()> summarizer;
  Watch watch;
};

/// One passage that an augment found.
struct FoundPassage {
  RankedPassage ranked;
  std::string source;    ///< name of its document
  std::size_t rank = 0;  ///< rank, from 1; 0: the passage is here only because it is pinned
  bool isPinned = false;
  bool isDropped = false;
  bool isInPrompt = false;
};

/// The result of one augment: first the passages in the prompt, in prompt order, then the other passages by
/// rank.
struct Retrieved {
  NodePath node;  ///< of the augment, and of the plus that replaces it
  std::string question;
  Ranking ranking = Ranking::Lexical;
  std::size_t documents = 0;  ///< number of searched documents
  std::vector<FoundPassage> passages;
};

struct ResolvedAugments {
  std::optional<query::Node> query;            ///< nothing after an error or a stop
  std::vector<query::Diagnostic> diagnostics;  ///< with the path of the node, without a position
  std::vector<Retrieved> retrieved;
  bool isStopped = false;
};

bool hasAugment(const query::Node& node);

/// Replaces each augment of the query by a plus of user messages. The pinned passages of the augment's
/// documents come first. Then come the passages that match the augment's body, best match first. The question
/// is the text of the messages in the body. Documents, their vectors and summaries are added to the index. An
/// augment without passages becomes an empty plus, with a warning. If an augment has many files, unreadable
/// files are left out with a warning. Every problem of every augment is listed. These are errors:
/// - a node of the body without text before the run, such as a generate, a map or another augment;
/// - an ask or file of the body that is not resolved;
/// - a document that cannot be read, or options out of range;
/// - an index or a model that cannot be used.
ResolvedAugments resolveAugments(const query::Node& node, const RetrievalOptions& options,
                                 const RetrievalTools& tools);

/// Max number of bytes of all files of one augment together.
inline constexpr std::size_t kMaxAugmentBytes = std::size_t{512} << 20U;

/// The documents that an augment searches. If the augment's own document has text, only this document is
/// searched. Otherwise the name of this document names a file, a folder, or a pattern of files. Files are
/// read one at a time.
class AugmentDocuments {
 public:
  /// Returns the augment's document. If this document is empty, returns the files. Without `files`, there are
  /// no files. `document` and `files` must outlive the result.
  static std::variant<AugmentDocuments, query::NotGiven> of(const query::SourceDocument& document,
                                                            query::Surroundings* files);

  std::size_t count() const { return m_held != nullptr ? 1 : m_paths.size(); }
  const std::string& name(std::size_t index) const;
  /// Returns the files that were left out of the list.
  const std::vector<query::NotGiven>& leftOut() const { return m_leftOut; }

  /// Returns the documents with replaced bytes among those read so far. Bytes that are not UTF-8 are
  /// replaced.
  const std::vector<Error>& altered() const { return m_altered; }

  /// Reads one document. A file that is neither text nor PDF, or exceeds kMaxAugmentBytes, is an error too.
  std::variant<SourceDocument, Error> read(std::size_t index);

 private:
  AugmentDocuments() = default;
  void noteAltered(const SourceDocument& document);
  void noteHalf(const std::string& name, const NarrowText& text);

  const query::SourceDocument* m_held = nullptr;
  query::Surroundings* m_files = nullptr;
  std::vector<std::string> m_paths;
  std::vector<query::NotGiven> m_leftOut;
  std::vector<Error> m_altered;
  std::size_t m_bytes = 0;  ///< bytes of the files read so far
};

/// Problems that did not end a search.
struct SearchRemarks {
  std::vector<Error> skipped;         ///< documents that could not be read
  std::vector<Error> unread;          ///< pages without text
  std::vector<std::string> lostPins;  ///< hashes of pinned passages that are in no document
};

/// Indexes the documents of an augment and searches them. `model` is the model that the augment names.
/// Returns nothing after a stop. Throws Failure, also if no document can be read.
std::optional<Retrieved> searchAugment(const std::string& model, std::string question,
                                       AugmentDocuments& documents, const PassageChoice& choice,
                                       const RetrievalOptions& options, const RetrievalTools& tools,
                                       SearchRemarks& remarks);

}  // namespace spanscope::retrieve
