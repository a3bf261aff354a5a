// SPDX-License-Identifier: GPL-3.0-or-later
// What is retrieved for requests of the window, on the engine's thread.
#pragma once

#include "engine/compute/backends.h"
#include "engine/plan/planner.h"
#include "engine/query/query.h"
#include "engine/query/surroundings.h"
#include "engine/remote/embeddings_client.h"
#include "engine/retrieve/resolve_augments.h"
#include "engine/workbench/pipeline.h"
#include "engine/workbench/retrieval.h"

#include <QString>

#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace spanscope::ui {

/// A query whose augments are to be replaced by what they find before it is planned.
struct RetrievalRequest {
  query::Node query;  ///< parameters, questions and files are resolved
  retrieve::RetrievalOptions options;
  std::shared_ptr<query::Surroundings> files;  ///< used on the engine's thread alone; may be null
  plan::PlanOptions planOptions;
  std::optional<remote::EmbeddingsServer> embeddings;  ///< embeds instead of the checkpoint
};

/// The index that requests share: it stays while its file is the same one.
class RequestRetrieval {
 public:
  explicit RequestRetrieval(compute::Backends backends) : m_backends(std::move(backends)) {}

  /// Of the requests from now on; empty: in memory.
  void setIndexFile(std::string path) { m_wantedFile = std::move(path); }
  /// What has the request's augments resolved with that model. The query is taken out of the request; what is
  /// pointed to is valid until the next call.
  workbench::PipelineInput input(RetrievalRequest& asked,
                                 const std::shared_ptr<workbench::ModelBundle>& model, retrieve::Watch watch);

 private:
  compute::Backends m_backends;
  std::optional<workbench::Retrieval> m_retrieval;
  std::string m_file;  ///< of the index that it uses
  std::string m_wantedFile;
};

/// "Indexing: 20 of 1000 documents, 3 new".
QString progressText(const retrieve::IndexProgress& now);

}  // namespace spanscope::ui
