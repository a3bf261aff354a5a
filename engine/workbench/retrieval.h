// SPDX-License-Identifier: GPL-3.0-or-later
// Retrieves for the queries of one command or window. A Retrieval opens tokenizer, index and model at the
// first augment that needs these resources. Open this file to change the resources of retrieval.
#pragma once

#include "engine/query/diagnostic.h"
#include "engine/query/query.h"
#include "engine/query/surroundings.h"
#include "engine/remote/embeddings_client.h"
#include "engine/retrieve/chunker.h"
#include "engine/retrieve/passage.h"
#include "engine/retrieve/passage_index.h"
#include "engine/retrieve/resolve_augments.h"
#include "engine/run/run_options.h"
#include "engine/text/tokenizer.h"
#include "engine/workbench/model_bundle.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace spanscope::workbench {

struct RetrievalSettings {
  std::string indexFile;                 ///< empty: an index in memory
  std::filesystem::path modelDirectory;  ///< of the model that splits, embeds and summarizes; empty: the
                                         ///< bundled model
  ModelOptions model;
  std::optional<remote::EmbeddingsServer> embeddings;  ///< if set, this server embeds in place of the model
};

class Retrieval {
 public:
  /// `backends` are for loading the model, if a query needs the model.
  Retrieval(RetrievalSettings settings, compute::Backends backends);

  /// Works like retrieve::resolveAugments. A tokenizer, model or index that cannot be opened is an error of
  /// the query. `files` may be null.
  retrieve::ResolvedAugments resolve(const query::Node& query, const retrieve::RetrievalOptions& options,
                                     query::Surroundings* files, const retrieve::Watch& watch);

  /// Embeds and summarizes with a loaded model. No other model is then loaded. The index stays.
  void useModel(std::shared_ptr<ModelBundle> model);
  /// From the next query on, embeds with this server or, without one, with the model.
  void useEmbeddings(const std::optional<remote::EmbeddingsServer>& server);
  /// Returns the model, if the model was needed or given.
  const std::shared_ptr<ModelBundle>& model() const { return m_model; }

 private:
  ModelBundle& neededModel();

  RetrievalSettings m_settings;
  compute::Backends m_backends;
  std::shared_ptr<ModelBundle> m_model;
  std::unique_ptr<text::Tokenizer> m_tokenizer;  ///< used until a model is needed
  std::unique_ptr<retrieve::Embedder> m_embedder;
  std::unique_ptr<retrieve::Summarizer> m_summarizer;
  std::optional<retrieve::PassageIndex> m_index;
};

/// Returns the results of augments and the remarks about them, in the form of the trace.
std::vector<run::RetrievalReport> retrievalReports(const std::vector<retrieve::Retrieved>& retrieved,
                                                   const std::vector<query::Diagnostic>& diagnostics);

}  // namespace spanscope::workbench
