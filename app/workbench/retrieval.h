// SPDX-License-Identifier: GPL-3.0-or-later
// Retrieval for the queries of one command: tokenizer and index are opened when the first augment needs them.
#pragma once

#include "engine/query/query.h"
#include "engine/retrieve/lexical_index.h"
#include "engine/retrieve/resolve_augments.h"
#include "engine/text/tokenizer.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

namespace spanscope::workbench {

struct RetrievalSettings : retrieve::RetrievalOptions {
  std::string indexFile;                 ///< empty: an index in memory
  std::filesystem::path modelDirectory;  ///< of the tokenizer that chunks; empty: the bundled model
};

class Retrieval {
 public:
  explicit Retrieval(RetrievalSettings settings);

  /// As retrieve::resolveAugments; a tokenizer or an index that cannot be opened is an error of the query.
  retrieve::ResolvedAugments resolve(const query::Node& query);

 private:
  RetrievalSettings m_settings;
  std::unique_ptr<text::Tokenizer> m_tokenizer;
  std::optional<retrieve::LexicalIndex> m_index;
};

}  // namespace spanscope::workbench
