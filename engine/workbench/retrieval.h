// SPDX-License-Identifier: GPL-3.0-or-later
// Retrieval for the queries of one command or window: tokenizer, index and model are opened when the first
// augment needs them.
#pragma once

#include "engine/query/query.h"
#include "engine/query/surroundings.h"
#include "engine/remote/embeddings_client.h"
#include "engine/retrieve/embedder.h"
#include "engine/retrieve/fragment_index.h"
#include "engine/retrieve/resolve_augments.h"
#include "engine/retrieve/summarizer.h"
#include "engine/text/tokenizer.h"
#include "engine/workbench/model_bundle.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

namespace spanscope::workbench {

struct RetrievalSettings {
  std::string indexFile;                 ///< empty: an index in memory
  std::filesystem::path modelDirectory;  ///< of the model that chunks, embeds and summarises; empty: the
                                         ///< bundled one
  ModelOptions model;
  std::optional<remote::EmbeddingsServer> embeddings;  ///< embeds instead of the model
};

class Retrieval {
 public:
  /// `backends`: what the model is loaded on, where one is needed.
  Retrieval(RetrievalSettings settings, compute::Backends backends);

  /// As retrieve::resolveAugments; a tokenizer, a model or an index that cannot be opened is an error of the
  /// query. `files` may be null.
  retrieve::ResolvedAugments resolve(const query::Node& query, const retrieve::RetrievalOptions& options,
                                     query::Surroundings* files, const retrieve::Watch& watch);

  /// Embeds and summarises with a model that is loaded already, instead of loading it when it is needed. The
  /// index stays.
  void useModel(std::shared_ptr<ModelBundle> model);
  /// Embeds with a server or, where there is none, with the model, from the next query on.
  void useEmbeddings(const std::optional<remote::EmbeddingsServer>& server);
  /// The model, if it was needed or given.
  const std::shared_ptr<ModelBundle>& model() const { return m_model; }

 private:
  ModelBundle& neededModel();

  RetrievalSettings m_settings;
  compute::Backends m_backends;
  std::shared_ptr<ModelBundle> m_model;
  std::unique_ptr<text::Tokenizer> m_tokenizer;  ///< where no model was needed yet
  std::unique_ptr<retrieve::Embedder> m_embedder;
  std::unique_ptr<retrieve::Summarizer> m_summarizer;
  std::optional<retrieve::FragmentIndex> m_index;
};

}  // namespace spanscope::workbench
