// SPDX-License-Identifier: GPL-3.0-or-later
// Searches the documents of an augment. Open this file to change which documents are read, or which chunks
// are kept.
#pragma once

#include "engine/base/error.h"
#include "engine/base/utf8.h"
#include "engine/query/query.h"
#include "engine/query/surroundings.h"
#include "engine/retrieve/fragment.h"
#include "engine/retrieve/resolve_augments.h"

#include <cstddef>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace spanscope::retrieve {

/// Max number of bytes of all files of one augment together.
inline constexpr std::size_t kMaxAugmentBytes = std::size_t{512} << 20U;

/// The documents that an augment searches. If the augment's own document has text, it is the only one.
/// Otherwise its name is that of a file, a folder, or a pattern of files. Files are read one at a time.
class AugmentDocuments {
 public:
  /// Returns the augment's document or, if it is empty, the files. Without `files`, there are no files.
  /// `document` and `files` must outlive the result.
  static std::variant<AugmentDocuments, query::NotGiven> of(const query::SourceDocument& document,
                                                            query::Surroundings* files);

  std::size_t count() const { return m_held != nullptr ? 1 : m_paths.size(); }
  const std::string& name(std::size_t index) const;
  /// Returns the files that were left out of the list.
  const std::vector<query::NotGiven>& leftOut() const { return m_leftOut; }

  /// Returns the replaced bytes of the documents read so far: bytes that are not UTF-8.
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
  std::vector<std::string> lostPins;  ///< hashes of pinned chunks that are in no document
};

/// Indexes the documents of an augment and searches them. `model` is the model that the augment names.
/// Returns nothing after a stop. Throws Failure, also if no document can be read.
std::optional<Retrieved> searchAugment(const std::string& model, std::string question,
                                       AugmentDocuments& documents, const FragmentChoice& choice,
                                       const RetrievalOptions& options, const RetrievalTools& tools,
                                       SearchRemarks& remarks);

}  // namespace spanscope::retrieve
