// SPDX-License-Identifier: GPL-3.0-or-later
// Retrieves documents for the jobs of a service, on the thread of the service. Open this file to change how
// runs retrieve.
#pragma once

#include "engine/compute/backends.h"
#include "engine/plan/planner.h"
#include "engine/query/query.h"
#include "engine/query/surroundings.h"
#include "engine/remote/embeddings_client.h"
#include "engine/retrieve/resolve_augments.h"
#include "engine/workbench/pipeline.h"
#include "engine/workbench/retrieval.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace spanscope::workbench {

/// A query with augment nodes. Before planning, passages replace each augment node.
struct RetrievalRequest {
  query::Node query;  ///< parameters, questions and files are already resolved
  retrieve::RetrievalOptions options;
  std::shared_ptr<query::Surroundings> files;  ///< only used on the service's thread; may be null
  plan::PlanOptions planOptions;
  /// If given, this server embeds texts instead of the checkpoint.
  std::optional<remote::EmbeddingsServer> embeddings;
};

/// Keeps the index that all jobs share. The index is kept until its file changes.
class RequestRetrieval {
 public:
  explicit RequestRetrieval(compute::Backends backends) : m_backends(std::move(backends)) {}

  /// Sets the index file for later requests; empty: the index is kept in memory.
  void setIndexFile(std::string path) { m_wantedFile = std::move(path); }
  /// Returns the pipeline input that resolves the request's augment nodes with this model. The query is moved
  /// out of the request. The pointers in the result are valid until the next call, and as long as `asked`
  /// lives.
  PipelineInput input(RetrievalRequest& asked, const std::shared_ptr<ModelBundle>& model,
                      retrieve::Watch watch);

 private:
  compute::Backends m_backends;
  std::optional<Retrieval> m_retrieval;
  std::string m_file;  ///< file of the index in m_retrieval
  std::string m_wantedFile;
};

}  // namespace spanscope::workbench
