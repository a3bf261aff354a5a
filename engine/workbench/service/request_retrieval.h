// SPDX-License-Identifier: GPL-3.0-or-later
// What is retrieved for works of a service, on its thread.
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

/// A query with augment nodes. Before planning, each augment node is replaced by what it finds.
struct RetrievalRequest {
  query::Node query;  ///< parameters, questions and files are already resolved
  retrieve::RetrievalOptions options;
  std::shared_ptr<query::Surroundings> files;  ///< used on the service's thread alone; may be null
  plan::PlanOptions planOptions;
  /// If given, this server embeds texts instead of the checkpoint.
  std::optional<remote::EmbeddingsServer> embeddings;
};

/// The index that all works share. It stays as long as its file is the same one.
class RequestRetrieval {
 public:
  explicit RequestRetrieval(compute::Backends backends) : m_backends(std::move(backends)) {}

  /// The file of the index from the next request on; empty: in memory.
  void setIndexFile(std::string path) { m_wantedFile = std::move(path); }
  /// For runPipeline(): it resolves the request's augments with that model. The query is taken out of the
  /// request. What the input points to is valid until the next call.
  PipelineInput input(RetrievalRequest& asked, const std::shared_ptr<ModelBundle>& model,
                      retrieve::Watch watch);

 private:
  compute::Backends m_backends;
  std::optional<Retrieval> m_retrieval;
  std::string m_file;  ///< of the index that m_retrieval uses
  std::string m_wantedFile;
};

}  // namespace spanscope::workbench
