// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/error.h"
#include "engine/query/query.h"
#include "engine/query/surroundings.h"
#include "engine/retrieve/fragment.h"

#include <cstddef>
#include <string>
#include <variant>
#include <vector>

namespace spanscope::retrieve {

/// Most bytes of all the files of one augment.
inline constexpr std::size_t kMaxAugmentBytes = std::size_t{512} << 20U;

/// What an augment searches: the document that it holds or, if that is a text of no length, the files that
/// the document's name means: a file, a folder, or a pattern. Files are read one at a time.
class AugmentDocuments {
 public:
  /// The document, and where there is none the files; without `files` there are none. Both outlive it.
  static std::variant<AugmentDocuments, query::NotGiven> of(const query::SourceDocument& document,
                                                            query::Surroundings* files);

  std::size_t count() const { return m_held != nullptr ? 1 : m_paths.size(); }
  const std::string& name(std::size_t index) const;
  /// What was left out when files were listed.
  const std::vector<query::NotGiven>& leftOut() const { return m_leftOut; }

  /// What of the documents that were read so far is read otherwise than it stands: bytes that are no UTF-8.
  const std::vector<Error>& altered() const { return m_altered; }

  /// Of a file the error is also that it is no text (nor PDF), or beyond kMaxAugmentBytes.
  std::variant<SourceDocument, Error> read(std::size_t index);

 private:
  AugmentDocuments() = default;
  void noteAltered(const SourceDocument& document);

  const query::SourceDocument* m_held = nullptr;
  query::Surroundings* m_files = nullptr;
  std::vector<std::string> m_paths;
  std::vector<query::NotGiven> m_leftOut;
  std::vector<Error> m_altered;
  std::size_t m_bytes = 0;  ///< that were read
};

}  // namespace spanscope::retrieve
